"""What a module means: its syntax tree, without what changes nothing at run time."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from typing import TypeGuard

WORD = re.compile(r"[\w.-]{1,80}")
"""A text that may name a data file."""
WITHOUT_MEANING = frozenset({"ctx", "kind", "returns", "type_comment", "type_ignores"})
"""Fields of a syntax tree that change nothing at run time; in all the package no decorator reads
what is returned.
"""


@dataclass(frozen=True, slots=True)
class ImportedNames:
    """An import statement: `from ...module import names`, with its number of dots."""

    module: str
    names: tuple[str, ...] = ()
    dots: int = 0

    def targets(self, package: str) -> list[str]:
        """The modules that it may mean, seen from a module in this package."""
        module = self._absolute_module(package)
        targets = [module]
        for name in self.names:
            targets.append(f"{module}.{name}")
        return targets

    def _absolute_module(self, package: str) -> str:
        """The module that is named, with the package that the dots stand for."""
        if not self.dots:
            return self.module
        parents = package.split(".")
        depth = len(parents) - self.dots + 1
        parts = parents[:depth]
        if self.module:
            parts.append(self.module)
        return ".".join(parts)


class ModuleMeaning:
    """Writes down what a syntax tree means at run time.

    Attributes:
        words: the tree, without what changes nothing.
        imports: its import statements.
        constants: texts in it that may name a file.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.imports: list[ImportedNames] = []
        self.constants: set[str] = set()

    @property
    def digest(self) -> str:
        """Equal for equal meaning."""
        text = "".join(self.words)
        encoded = text.encode("utf-8", "surrogatepass")
        return hashlib.sha256(encoded).hexdigest()

    def read(self, node: object, *, in_class: bool = False) -> None:
        """Write down a node, a list of nodes or a plain value; annotations count in the body of
        a class only.
        """
        if isinstance(node, list):
            for part in node:
                self.read(part, in_class=in_class)
            self.words.append(";")
        elif not isinstance(node, ast.AST):
            self.words.append(repr(node))
        elif not _says_nothing(node, in_class=in_class):
            self._read_node(node, in_class=in_class)

    def _read_node(self, node: ast.AST, *, in_class: bool) -> None:
        if _is_for_type_checkers(node):
            for statement in node.orelse:
                self.read(statement, in_class=in_class)
            return
        self._note(node)
        is_annotated = in_class and isinstance(node, ast.AnnAssign)
        if isinstance(node, ast.ClassDef):
            in_class = True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            in_class = False
        kind = type(node).__name__
        self.words.append(f"({kind}")
        for name, value in ast.iter_fields(node):
            if value is None or value == []:
                continue
            if name in WITHOUT_MEANING:
                continue
            if name == "annotation" and not is_annotated:
                continue
            self.words.append(f" {name}=")
            self.read(value, in_class=in_class)
        self.words.append(")")

    def _note(self, node: ast.AST) -> None:
        """Keep an import, or a text that may name a file."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.imports.append(ImportedNames(alias.name))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = tuple(alias.name for alias in node.names)
            self.imports.append(ImportedNames(module, names, node.level))
        elif isinstance(node, ast.Constant):
            self._note_constant(node.value)

    def _note_constant(self, value: object) -> None:
        if isinstance(value, str) and WORD.fullmatch(value):
            self.constants.add(value)


def _says_nothing(node: ast.AST, *, in_class: bool) -> bool:
    """Whether a statement changes nothing: a docstring, `pass`, or the annotation of a name
    outside a class.
    """
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.AnnAssign):
        return node.value is None and not in_class
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return False


def _is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a statement is `if TYPE_CHECKING:`."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )
