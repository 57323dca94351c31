"""The names of insides that tests import, counted.

    python tests/house/inside_names.py      each name, with the files that import it

A name is a pair of module and name, as in `from workbench.engine.models.billing import bill`; it
counts once, however many files import it. Public, and so not counted, are

- what `workbench` itself gives, and `workbench.testing`;
- `main` of `workbench.cli`, which is the command;
- `workbench.live.events`, which is `wb.events`;
- each module that README, a page of `docs` or a notebook names, for a user to import from. Pages of
  studies and of decisions do not count.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
PUBLIC_NAMES = {("workbench.cli", "main"), ("workbench.live", "events")}
PUBLIC_MODULES = {"workbench", "workbench.testing", "workbench.live.events"}
MENTION = re.compile(r"\bworkbench(?:\.[a-z_]+)+")


@dataclass(frozen=True, order=True, slots=True)
class ImportedName:
    """A name, and the module that it is imported from."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module} {self.name}"


def inside_names(tests: Path = TESTS) -> Mapping[ImportedName, list[Path]]:
    """Each name of an inside that tests import, with the files that do."""
    public_modules = PUBLIC_MODULES | documented_modules()
    files: defaultdict[ImportedName, list[Path]] = defaultdict(list)
    for path in sorted(tests.rglob("*.py")):
        for imported in set(imported_names(path.read_text("utf-8"))):
            is_public_name = (imported.module, imported.name) in PUBLIC_NAMES
            if not is_public_name and imported.module not in public_modules:
                files[imported].append(path)
    return files


def imported_names(source: str) -> Iterator[ImportedName]:
    """The names of the package that a file imports, also inside its functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and is_of_package(node.module or ""):
            for alias in node.names:
                yield ImportedName(node.module or "", alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if is_of_package(alias.name):
                    yield ImportedName(alias.name, "")


def is_of_package(module: str) -> bool:
    return module.split(".")[0] == "workbench"


def documented_modules() -> set[str]:
    """The modules that pages for users name, also by a name in them."""
    modules = set()
    for page in pages():
        for mention in MENTION.findall(page.read_text("utf-8")):
            module = module_of(mention)
            if module.count(".") >= 2:
                modules.add(module)
    return modules


def pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield from (ROOT / "docs").glob("*.md")
    yield from (ROOT / "docs" / "reference").glob("*.md")
    yield from (ROOT / "notebooks").glob("*.ipynb")


def module_of(mention: str) -> str:
    """The longest beginning of a dotted name that is a module or a package."""
    parts = mention.split(".")
    while parts:
        path = ROOT.joinpath(*parts)
        if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
            break
        parts.pop()
    return ".".join(parts)


def main() -> None:
    names = inside_names()
    for name, paths in sorted(names.items()):
        files = " ".join(str(path.relative_to(TESTS)) for path in paths)
        print(f"{name}: {files}")
    print(len(names), "names")


if __name__ == "__main__":
    main()
