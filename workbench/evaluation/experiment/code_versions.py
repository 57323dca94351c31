"""Versions of the package's code by meaning: one changes only where the code that a piece of work
can reach does.

A piece of work names the modules that it begins in. From there all imports are followed, those
inside functions too, but none that are for type checkers alone. A module counts by its syntax tree:
comments, docstrings, places in the file, and annotations that nothing reads at run time do not. A
data file counts where a module that is reached names it.
"""

import ast
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import TypeGuard

from workbench.base.package import PACKAGE
from workbench.engine.models.weights import cache_folder
from workbench.evaluation.experiment.atomic import write_atomically

DATA_ENDINGS = frozenset({".md", ".toml", ".tsv", ".txt", ".json", ".csv"})
"""Endings of the files that modules read."""
FILE = "code.json"
"""In a run's folder: what was found out about each module, so that later processes need not read
them all again.
"""
LAYOUT = 1
"""Version of that file and of the digests in it."""
WORD = re.compile(r"[\w.-]{1,80}")
"""A text that may name a data file."""
WITHOUT_MEANING = frozenset({"ctx", "kind", "returns", "type_comment", "type_ignores"})
"""Fields of a syntax tree that change nothing at run time; in all the package no decorator reads
what is returned.
"""


@dataclass(frozen=True, slots=True)
class ModuleCode:
    """What a module does and what it may use.

    Attributes:
        stamp: of its file: the time of the last change in nanoseconds, and the size.
        digest: equal for equal meaning.
        imports: modules of the package that it imports, with the packages that these are in.
        words: texts in it that may name a data file.
    """

    stamp: str
    digest: str
    imports: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class PackageCode:
    """The code of the package in a folder. A process reads each file once, when it is first
    needed.

    Attributes:
        modules: what this process has looked at.
        stored: what earlier processes found out, and `by_file` the same by the file that has it.
    """

    root: Path = PACKAGE
    modules: dict[str, ModuleCode] = field(default_factory=dict)
    stored: dict[str, ModuleCode] = field(default_factory=dict)
    by_file: dict[Path, dict[str, ModuleCode]] = field(default_factory=dict)

    @cached_property
    def data(self) -> Mapping[str, tuple[Path, ...]]:
        """The files that modules read, by their name, and by their name without its ending."""
        files = defaultdict(list)
        for folder in sorted(self.root.iterdir()):
            if not (folder / "__init__.py").is_file():
                continue  # recordings and tasks, which are in keys by their content
            for file in sorted(folder.rglob("*")):
                if file.suffix in DATA_ENDINGS:
                    files[file.name].append(file)
                    files[file.stem].append(file)
        return {word: tuple(named) for word, named in files.items()}

    def version(
        self, begins: Iterable[str], without: Iterable[str] = (), words: Iterable[str] = ()
    ) -> str:
        """A name for the meaning of all that can be reached.

        Args:
            begins: the modules that the work begins in.
            without: modules and packages that are not followed, since their outcome is in the key
                of the work.
            words: that may name further data files, such as the names of prompts in settings.
        """
        reached = self.reached(begins, without)
        named = set(words)
        digest = hashlib.sha256()
        for module in reached:
            code = self.module(module)
            named.update(code.words)
            digest.update(f"{module} {code.digest}\n".encode())
        for file in self._data_files(named, reached):
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(self.root).as_posix()} {content}\n".encode())
        return digest.hexdigest()[:16]

    def reached(self, begins: Iterable[str], without: Iterable[str] = ()) -> list[str]:
        """The modules that can be reached, sorted."""
        closed = tuple(without)
        waiting: list[str] = []
        for begin in begins:
            waiting += _with_packages(begin)
        reached: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in reached and not _is_within(name, closed):
                reached.add(name)
                waiting.extend(self.module(name).imports)
        return sorted(reached)

    def every_module(self) -> list[str]:
        """All modules of the package."""
        names = []
        for file in sorted(self.root.rglob("*.py")):
            if (file.parent / "__init__.py").is_file():
                place = file.relative_to(self.root.parent).with_suffix("")
                names.append(".".join(place.parts).removesuffix(".__init__"))
        return names

    def module(self, name: str) -> ModuleCode:
        """What a module does."""
        if name not in self.modules:
            file = self._file(name)
            if file is None:
                raise ModuleNotFoundError(f"there is no module {name} in {self.root}", name=name)
            status = file.stat()
            stamp = f"{status.st_mtime_ns} {status.st_size}"
            code = self.stored.get(name)
            if code is None or code.stamp != stamp:
                code = self._read(name, file, stamp)
            self.modules[name] = code
        return self.modules[name]

    def load(self, file: Path) -> None:
        """Take what an earlier process found out; a damaged file, or one of another layout,
        counts as none.
        """
        try:
            document = json.loads(file.read_text("utf-8"))
            if document["layout"] != LAYOUT:
                return
            modules = self.by_file.setdefault(file, {})
            for name, parts in document["modules"].items():
                lists = {"imports": tuple(parts["imports"]), "words": tuple(parts["words"])}
                modules[name] = ModuleCode(parts["stamp"], parts["digest"], **lists)
            self.stored.update(modules)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return

    def save(self, file: Path) -> None:
        """Keep it for later processes, unless they have it already."""
        if file.is_file() and self.modules.items() <= self.by_file.get(file, {}).items():
            return
        self.stored = {**self.stored, **self.modules}
        self.by_file[file] = self.stored
        modules = {name: asdict(module) for name, module in sorted(self.stored.items())}
        write_atomically(
            file, json.dumps({"layout": LAYOUT, "modules": modules}, separators=(",", ":"))
        )

    def _file(self, name: str) -> Path | None:
        """The file of a module of the package; None where there is none."""
        top, *inside = name.split(".")
        if top != self.root.name:
            return None
        place = self.root.joinpath(*inside)
        if (place / "__init__.py").is_file():
            return place / "__init__.py"
        file = place.with_suffix(".py")
        return file if file.is_file() else None

    def _read(self, name: str, file: Path, stamp: str) -> ModuleCode:
        meaning = _Meaning()
        meaning.read(ast.parse(file.read_bytes()))
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        imports: set[str] = set()
        for imported in meaning.imports:
            for target in imported.targets(package):
                if self._file(target) is not None:
                    imports.update(_with_packages(target))
        words = {file.stem, *meaning.constants}
        names = words.intersection(self.data)
        digest = hashlib.sha256("".join(meaning.words).encode("utf-8", "surrogatepass")).hexdigest()
        return ModuleCode(stamp, digest, tuple(sorted(imports)), tuple(sorted(names)))

    def _data_files(self, words: Iterable[str], reached: Iterable[str]) -> list[Path]:
        """The files that these words name, in packages that are reached."""
        packages = {self.root.joinpath(*name.split(".")[1:]) for name in reached}
        files: set[Path] = set()
        for word in words:
            for file in self.data.get(word, ()):
                if self._package_of(file) in packages:
                    files.add(file)
        return sorted(files)

    def _package_of(self, file: Path) -> Path:
        """The innermost package that a data file lies in."""
        return next(folder for folder in file.parents if (folder / "__init__.py").is_file())


@dataclass(frozen=True, slots=True)
class ImportedNames:
    """An import statement: `from ...module import names`, with its number of dots."""

    module: str
    names: tuple[str, ...] = ()
    dots: int = 0

    def targets(self, package: str) -> list[str]:
        """The modules that it may mean, seen from a module in this package."""
        module = self.module
        if self.dots:
            parents = package.split(".")
            inside = parents[: len(parents) - self.dots + 1]
            module = ".".join([*inside, module] if module else inside)
        return [module, *(f"{module}.{name}" for name in self.names)]


class _Meaning:
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

    def read(self, node: object, *, in_class: bool = False) -> None:
        """Write down a node, a list of nodes or a plain value; annotations count in the body of
        a class only.
        """
        if isinstance(node, list):
            for part in node:
                self.read(part, in_class=in_class)
            self.words.append(";")
        elif isinstance(node, ast.AST):
            if not _says_nothing(node, in_class=in_class):
                self._read_node(node, in_class=in_class)
        else:
            self.words.append(repr(node))

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
        self.words.append(f"({type(node).__name__}")
        for name, value in ast.iter_fields(node):
            is_silent = name in WITHOUT_MEANING or (name == "annotation" and not is_annotated)
            if value is not None and value != [] and not is_silent:
                self.words.append(f" {name}=")
                self.read(value, in_class=in_class)
        self.words.append(")")

    def _note(self, node: ast.AST) -> None:
        """Keep an import, or a text that may name a file."""
        if isinstance(node, ast.Import):
            self.imports.extend(ImportedNames(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            self.imports.append(ImportedNames(node.module or "", names, node.level))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and WORD.fullmatch(node.value)
        ):
            self.constants.add(node.value)


def _says_nothing(node: ast.AST, *, in_class: bool) -> bool:
    """Whether a statement changes nothing: a docstring, `pass`, or the annotation of a name
    outside a class.
    """
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.AnnAssign):
        return node.value is None and not in_class
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.ImportFrom) and node.module == "__future__"
    )


def _is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a statement is `if TYPE_CHECKING:`."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _with_packages(name: str) -> list[str]:
    """A module and the packages that it is in: `a`, `a.b`, `a.b.c`."""
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _is_within(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@dataclass
class PartsUsed:
    """The modules of the package in which the parts of a preset are written, and the words in
    its settings.
    """

    modules: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def add(self, part: object) -> None:
        """Add a part: a dataclass with all in its fields, a collection, a function, or a text."""
        if isinstance(part, str):
            if WORD.fullmatch(part):
                self.words.add(part)
        elif isinstance(part, Mapping):
            self.add([*part.keys(), *part.values()])
        elif isinstance(part, tuple | list | frozenset | set):
            for item in part:
                self.add(item)
        elif isinstance(part, partial):
            self.add([part.func, part.args, part.keywords])
        elif isinstance(part, MethodType):
            self.add([part.__func__, part.__self__])
        elif isinstance(part, type | FunctionType):
            self._add_module(part.__module__)
        else:
            self._add_module(type(part).__module__)
            if is_dataclass(part):
                self.add([getattr(part, field.name) for field in fields(part)])

    def _add_module(self, module: str) -> None:
        if _is_within(module, (PACKAGE.name,)):
            self.modules.add(module)


@cache
def source_digest() -> str:
    """A name for the package's files, byte for byte: whether two machines have the same."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        if file.suffix == ".py" or file.suffix in DATA_ENDINGS:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(PACKAGE).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:16]


@cache
def installed_code() -> PackageCode:
    """The code of this package, as this process began to use it."""
    return PackageCode()


def package_version(folder: Path | None = None) -> str:
    """The version of all of the package's code; what is found out about modules is kept in a
    folder of runs.
    """
    return code_versions(installed_code().every_module(), {"": ()}, folder=folder)[""]


def code_versions(
    begins: Iterable[str],
    parts: Mapping[str, object],
    without: Iterable[str] = (),
    folder: Path | None = None,
) -> dict[str, str]:
    """The version of the code behind each piece of work.

    Args:
        begins: the modules that all work begins in.
        parts: by the name of a piece of work, what it is done with: its preset, for example.
        without: modules and packages that are not followed, since their outcome is in the key of
            the work.
        folder: of a run; what is found out about modules is kept there.
    """
    code = installed_code()
    if folder is not None:
        code.load(known_file(code.root))
        code.load(folder / FILE)
    versions = {}
    for name, part in parts.items():
        used = PartsUsed()
        used.add(part)
        versions[name] = code.version([*begins, *sorted(used.modules)], without, used.words)
    if folder is not None and folder.is_dir():
        code.save(folder / FILE)
        with suppress(OSError):  # a home that nobody may write to costs a second, no more
            code.save(known_file(code.root))
    return versions


def known_file(root: Path) -> Path:
    """Where this user keeps what was found out about the package in a folder."""
    place = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()
    return cache_folder() / f"code-{place[:12]}.json"
