"""The code of the package, module by module: what each means, and what it may use."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from workbench.base.package import PACKAGE
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.module_meaning import ModuleMeaning

DATA_ENDINGS = frozenset({".md", ".toml", ".tsv", ".txt", ".json", ".csv"})
"""Endings of the files that modules read."""
LAYOUT = 1
"""Version of the file with what was found out, and of the digests in it."""
INIT = "__init__.py"


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
        files: defaultdict[str, list[Path]] = defaultdict(list)
        for folder in sorted(self.root.iterdir()):
            if not _is_package(folder):
                continue  # recordings and tasks, which are in keys by their content
            for file in sorted(folder.rglob("*")):
                if file.suffix not in DATA_ENDINGS:
                    continue
                files[file.name].append(file)
                files[file.stem].append(file)
        files_by_word: dict[str, tuple[Path, ...]] = {}
        for word, named_files in files.items():
            files_by_word[word] = tuple(named_files)
        return files_by_word

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
        all_words = set(words)
        digest = hashlib.sha256()
        for name in reached:
            module = self.module(name)
            all_words.update(module.words)
            row = f"{name} {module.digest}\n"
            digest.update(row.encode())
        for file in self._data_files(all_words, reached):
            row = content_row(file, self.root)
            digest.update(row.encode())
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
            if name in reached or is_within(name, closed):
                continue
            reached.add(name)
            module = self.module(name)
            waiting.extend(module.imports)
        return sorted(reached)

    def every_module(self) -> list[str]:
        """All modules of the package."""
        names: list[str] = []
        for file in sorted(self.root.rglob("*.py")):
            if not _is_package(file.parent):
                continue
            place = file.relative_to(self.root.parent)
            parts = place.with_suffix("").parts
            name = ".".join(parts)
            names.append(name.removesuffix(".__init__"))
        return names

    def module(self, name: str) -> ModuleCode:
        """What a module does."""
        if name in self.modules:
            return self.modules[name]
        file = self._file(name)
        if file is None:
            raise ModuleNotFoundError(f"there is no module {name} in {self.root}", name=name)
        status = file.stat()
        stamp = f"{status.st_mtime_ns} {status.st_size}"
        code = self.stored.get(name)
        if code is None or code.stamp != stamp:
            code = self._read(name, file, stamp)
        self.modules[name] = code
        return code

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
                modules[name] = ModuleCode(
                    stamp=parts["stamp"],
                    digest=parts["digest"],
                    imports=tuple(parts["imports"]),
                    words=tuple(parts["words"]),
                )
            self.stored.update(modules)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return

    def save(self, file: Path) -> None:
        """Keep it for later processes, unless they have it already."""
        modules_of_file = self.by_file.get(file, {})
        is_in_file = self.modules.items() <= modules_of_file.items()
        if is_in_file and file.is_file():
            return
        self.stored = {**self.stored, **self.modules}
        self.by_file[file] = self.stored
        modules: dict[str, object] = {}
        for name, module in sorted(self.stored.items()):
            modules[name] = asdict(module)
        document = {"layout": LAYOUT, "modules": modules}
        text = json.dumps(document, separators=(",", ":"))
        write_atomically(file, text)

    def _file(self, name: str) -> Path | None:
        """The file of a module of the package; None where there is none."""
        top, *inside = name.split(".")
        if top != self.root.name:
            return None
        place = self.root.joinpath(*inside)
        if _is_package(place):
            return place / INIT
        file = place.with_suffix(".py")
        if not file.is_file():
            return None
        return file

    def _read(self, name: str, file: Path, stamp: str) -> ModuleCode:
        tree = ast.parse(file.read_bytes())
        meaning = ModuleMeaning()
        meaning.read(tree)
        package = name
        if file.name != INIT:
            package, _, _ = name.rpartition(".")
        imports: set[str] = set()
        for imported in meaning.imports:
            for target in imported.targets(package):
                if self._file(target) is not None:
                    imports.update(_with_packages(target))
        words = {file.stem, *meaning.constants}
        words_with_files = words.intersection(self.data)
        return ModuleCode(
            stamp=stamp,
            digest=meaning.digest,
            imports=tuple(sorted(imports)),
            words=tuple(sorted(words_with_files)),
        )

    def _data_files(self, words: Iterable[str], reached: Iterable[str]) -> list[Path]:
        """The files that these words name, in packages that are reached."""
        packages: set[Path] = set()
        for name in reached:
            _, *inside = name.split(".")
            packages.add(self.root.joinpath(*inside))
        files: set[Path] = set()
        for word in words:
            for file in self.data.get(word, ()):
                if self._package_of(file) in packages:
                    files.add(file)
        return sorted(files)

    def _package_of(self, file: Path) -> Path:
        """The innermost package that a data file lies in."""
        return next(folder for folder in file.parents if _is_package(folder))


def _is_package(folder: Path) -> bool:
    init = folder / INIT
    return init.is_file()


def content_row(file: Path, root: Path) -> str:
    """A line with a file's place below a folder and a digest of its content."""
    content = hashlib.sha256(file.read_bytes())
    place = file.relative_to(root)
    return f"{place.as_posix()} {content.hexdigest()}\n"


def _with_packages(name: str) -> list[str]:
    """A module and the packages that it is in: `a`, `a.b`, `a.b.c`."""
    package = ""
    names: list[str] = []
    for part in name.split("."):
        package = f"{package}.{part}" if package else part
        names.append(package)
    return names


def is_within(name: str, packages: Iterable[str]) -> bool:
    """Whether a module is one of these packages or modules, or in one of them."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)
