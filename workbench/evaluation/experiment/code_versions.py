"""Versions of the package's code by meaning: one changes only where the code that a piece of work
can reach does.

A piece of work names the modules that it begins in. From there all imports are followed, those
inside functions too, but none that are for type checkers alone. A module counts by its syntax tree:
comments, docstrings, places in the file, and annotations that nothing reads at run time do not. A
data file counts where a module that is reached names it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType, MethodType

from workbench.base.package import PACKAGE
from workbench.engine.models.weights import cache_folder
from workbench.evaluation.experiment.module_meaning import WORD
from workbench.evaluation.experiment.package_code import (
    DATA_ENDINGS,
    PackageCode,
    content_row,
    is_within,
)

FILE = "code.json"
"""In a run's folder: what was found out about each module, so that later processes need not read
them all again.
"""


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
        elif isinstance(part, type | FunctionType):
            self._add_module(part.__module__)
        else:
            for inner_part in self._parts_in(part):
                self.add(inner_part)

    def _parts_in(self, part: object) -> Iterable[object]:
        """What a part is made of; of an object that is no collection its type is added too."""
        if isinstance(part, Mapping):
            return [*part.keys(), *part.values()]
        if isinstance(part, tuple | list | frozenset | set):
            return part
        if isinstance(part, partial):
            return [part.func, part.args, part.keywords]
        if isinstance(part, MethodType):
            return [part.__func__, part.__self__]
        self._add_module(type(part).__module__)
        values: list[object] = []
        if is_dataclass(part):
            for part_field in fields(part):
                values.append(getattr(part, part_field.name))
        return values

    def _add_module(self, module: str) -> None:
        if is_within(module, (PACKAGE.name,)):
            self.modules.add(module)


@cache
def source_digest() -> str:
    """A name for the package's files, byte for byte: whether two machines have the same."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        if file.suffix == ".py" or file.suffix in DATA_ENDINGS:
            row = content_row(file, PACKAGE)
            digest.update(row.encode())
    return digest.hexdigest()[:16]


@cache
def installed_code() -> PackageCode:
    """The code of this package, as this process began to use it."""
    return PackageCode()


def package_version(folder: Path | None = None) -> str:
    """The version of all of the package's code; what is found out about modules is kept in a
    folder of runs.
    """
    modules = installed_code().every_module()
    versions = code_versions(modules, {"": ()}, folder=folder)
    return versions[""]


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
    versions: dict[str, str] = {}
    for name, part in parts.items():
        used = PartsUsed()
        used.add(part)
        all_begins = [*begins, *sorted(used.modules)]
        versions[name] = code.version(all_begins, without, used.words)
    if folder is not None and folder.is_dir():
        code.save(folder / FILE)
        with suppress(OSError):  # a home that nobody may write to costs a second, no more
            code.save(known_file(code.root))
    return versions


def known_file(root: Path) -> Path:
    """Where this user keeps what was found out about the package in a folder."""
    place = str(root).encode("utf-8", "surrogateescape")
    digest = hashlib.sha256(place).hexdigest()
    return cache_folder() / f"code-{digest[:12]}.json"
