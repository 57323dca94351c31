"""Names that a recording's own lines show to be a library's: they are imported from a module, or
are members of one, that no file of the project defines.
"""

import re
from collections.abc import Iterable, Iterator

from workbench.evaluation.metrics.defined_names import DEFINITION

_IMPORTS = (
    re.compile(r"\bfrom\s+(?P<module>[\w.]+)\s+import\s+(?P<names>[\w\s,*()]+)"),
    re.compile(r"\bimport\s+(?P<names>[^;'\"]+?)\s+from\s+['\"](?P<module>[^'\"]+)['\"]"),
    re.compile(
        r"\bconst\s+(?P<names>[^;=]+?)\s*=\s*require\(['\"](?P<module>[^'\"]+)['\"]\)(?!\.\w+\()"
    ),
)
_WHOLE_MODULE = re.compile(
    r"^[\W\d]*import\s+(?P<module>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#|$)"
)
_BOUND = re.compile(r"(?:type\s+(?!as\b))?(?:(?:\w+|\*)\s*(?:\bas\b|:)\s*)?(\w+)")
_OWN_MODULE = (".", "@/", "~", "#", "$", "src/")
_OF_OTHERS = frozenset({"node_modules", "site-packages"})
"""Folders of a project that hold libraries."""


class LibraryNames:
    """Tells the names that libraries give, as far as the lines of a session show.

    Args:
        lines: every line of the session.
        paths: every path that it names.

    Attributes:
        of_project: names that a line defines, or imports from a module of the project.
    """

    def __init__(self, lines: Iterable[str], paths: Iterable[str]) -> None:
        self._project_parts = set(_parts(paths))
        imported: set[str] = set()
        of_project: set[str] = set()
        for line in lines:
            definitions = set(DEFINITION.findall(line))
            if "import" in line or "require(" in line:
                for module, name in _imports(line):
                    if self._is_own(module):
                        of_project.add(name)
                    else:
                        imported.add(name)
                        # `const name = require("library")` defines nothing of the project's
                        definitions.discard(name)
            of_project |= definitions
        self.of_project = frozenset(of_project)
        self._names = imported - of_project

    def gives(self, name: str, line: str) -> bool:
        """Whether a library gives a name, or a line has it only as a member of one."""
        if name in self._names:
            return True
        escaped = re.escape(name)
        with_owner = rf"(?<!\w)(?:(\w+)(?:\.\w+)*\.)?{escaped}(?!\w)"
        owners = re.findall(with_owner, line)
        return bool(owners) and self._names.issuperset(owners)

    def _is_own(self, module: str) -> bool:
        """Whether a file or folder of the project has the name of a module."""
        if module.startswith(_OWN_MODULE):
            return True
        parts = module.lower().split("/")
        if not module.startswith("@"):
            parts = parts[0].split(".")[:1]
        return not self._project_parts.isdisjoint(parts)


def _imports(line: str) -> Iterator[tuple[str, str]]:
    """The modules that a line imports from, each with a name that it binds."""
    whole_module = _WHOLE_MODULE.match(line)
    if whole_module:
        module = whole_module["module"]
        yield module, whole_module["alias"] or module.partition(".")[0]
    for form in _IMPORTS:
        for statement in form.finditer(line):
            for name in _BOUND.findall(statement["names"]):
                yield statement["module"], name


def _parts(paths: Iterable[str]) -> Iterator[str]:
    """The folders of a project, and its files without their endings."""
    for path in paths:
        parts = path.lower().replace("\\", "/").split("/")
        if path.startswith("@") or not _OF_OTHERS.isdisjoint(parts):
            continue
        yield from parts[:-1]
        yield parts[-1].partition(".")[0]
