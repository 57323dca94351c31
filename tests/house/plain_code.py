"""How dense the code is, by room: figures that packing cannot please.

`python tests/house/plain_code.py` prints them; `--store` writes those of today to
`plain_code.toml`, beside this file. A test lets none of the stored figures get worse, so `--store`
follows a change that made a room plainer.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

PACKAGE = Path(__file__).parents[2] / "workbench"
STORED = Path(__file__).with_name("plain_code.toml")
FLOORS_OF_ONE_ROOM = ("base", "live", "cli")
TOP = "top level"
"""The files that lie in no room."""
GOALS = {"tokens_a_line": 8.0, "vague_names": 2.0, "comprehensions": 30.0, "conditionals": 20.0}
"""Where each figure is to come to."""
_VAGUE_WORDS = """
one found own known given done said wanted asked left most least told shown made kept taken seen held there here at why
how whole ready written worked really behind beside rest now was before after other others every meant chosen counted
heard spoken foreseen answered drawn put gone stood last first even beyond like unlike
"""
VAGUE = frozenset(_VAGUE_WORDS.split())
"""Pronouns, participles and adverbs, which name nothing."""
LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class CodeCounts:
    """What is counted in files.

    Attributes:
        lines: with code on them; those of docstrings, comments and blank ones do not count.
        tokens: on these lines.
        names: that are bound, those of parameters included.
        vague_names: by name, those that name nothing.
    """

    lines: int = 0
    tokens: int = 0
    names: int = 0
    comprehensions: int = 0
    conditionals: int = 0
    vague_names: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, source: str) -> Self:
        """The counts of one file's text."""
        counts = cls()
        prose_lines: set[int] = set()
        for node in ast.walk(ast.parse(source)):
            prose_lines |= _docstring_lines(node)
            name = _bound_name(node)
            if name:
                counts.names += 1
                if name in VAGUE:
                    counts.vague_names[name] += 1
            counts.comprehensions += isinstance(node, COMPREHENSIONS)
            counts.conditionals += isinstance(node, ast.IfExp)
        code_lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type not in LAYOUT and token.start[0] not in prose_lines:
                counts.tokens += 1
                code_lines.update(range(token.start[0], token.end[0] + 1))
        counts.lines = len(code_lines - prose_lines)
        return counts

    def add(self, counts: CodeCounts) -> None:
        """Add the counts of another file."""
        self.lines += counts.lines
        self.tokens += counts.tokens
        self.names += counts.names
        self.comprehensions += counts.comprehensions
        self.conditionals += counts.conditionals
        self.vague_names += counts.vague_names

    @property
    def figures(self) -> dict[str, float]:
        """Tokens a line, vague names in 100 names, and the other two in 1,000 lines."""
        lines = max(self.lines, 1)
        return {
            "tokens_a_line": self.tokens / lines,
            "vague_names": 100 * self.vague_names.total() / max(self.names, 1),
            "comprehensions": 1000 * self.comprehensions / lines,
            "conditionals": 1000 * self.conditionals / lines,
        }


def _docstring_lines(node: ast.AST) -> set[int]:
    """The lines of a text that stands as a statement of its own."""
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return set()


def _bound_name(node: ast.AST) -> str:
    """The name that a node binds; empty for none, and for the first argument of a method."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
        return node.arg
    return ""


def rooms(package: Path = PACKAGE) -> dict[str, CodeCounts]:
    """The counts of each room of the package: of its folders, and of the files beside them."""
    counts: dict[str, CodeCounts] = {}
    for path in sorted(package.rglob("*.py")):
        room = _room_of(path.relative_to(package))
        counts.setdefault(room, CodeCounts()).add(CodeCounts.of(path.read_text("utf-8")))
    return counts


def _room_of(file: Path) -> str:
    """The room that a file lies in, as `engine/models`; some floors are one room."""
    folders = file.parts[:-1]
    if folders and folders[0] in FLOORS_OF_ONE_ROOM:
        return folders[0]
    return "/".join(folders[:2]) if len(folders) > 1 else TOP


def stored_text(counts: Mapping[str, CodeCounts]) -> str:
    """The figures as the text of `plain_code.toml`, rounded up to hundredths."""
    lines = [
        "# Figures of each room that may not get worse: `python tests/house/plain_code.py --store`"
        " writes them.\n"
    ]
    for room, room_counts in counts.items():
        lines.append(f'\n["{room}"]\n')
        for name, value in room_counts.figures.items():
            lines.append(f"{name} = {_up(value):.2f}\n")
    return "".join(lines)


def _up(value: float) -> float:
    return -(-value * 100 // 1) / 100


def _printed(counts: Mapping[str, CodeCounts]) -> Iterator[str]:
    yield f"{'room':<22} {'lines':>7}" + "".join(f" {name:>15}" for name in GOALS)
    code_counts = CodeCounts()
    for room_counts in counts.values():
        code_counts.add(room_counts)
    for room, room_counts in [*counts.items(), ("all", code_counts)]:
        cells = "".join(f" {value:>15.2f}" for value in room_counts.figures.values())
        yield f"{room:<22} {room_counts.lines:>7,}{cells}"
    yield f"{'goals':<22} {'':>7}" + "".join(f" {goal:>15.2f}" for goal in GOALS.values())


if __name__ == "__main__":
    measured = rooms()
    if "--store" in sys.argv[1:]:
        STORED.write_text(stored_text(measured), "utf-8")
    sys.stdout.write("\n".join(_printed(measured)) + "\n")
