"""When two ways of writing a path name the same file."""

import re
from collections.abc import Collection, Iterable, Iterator

_PLACE = re.compile(r"(?::\d+(?:[:,-]\d+)*|#L\d+(?:-L?\d+)?)$")
_UNTIDY = re.compile(r"//|(?:^|/)\.\.?(?:/|$)|/$")
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")


def normal_path(text: str, cwd: str = "") -> str:
    """A path in its one spelling: no `./`, no working directory, no line, no diff's `a/`.

    The working directory itself becomes empty: it is known anyway.
    """
    path = text.replace("\\", "/")
    if ":" in path or "#" in path:
        path = _DRIVE.sub("", _PLACE.sub("", path))
    home = _DRIVE.sub("", cwd.replace("\\", "/")).rstrip("/")
    if home and (path + "/").startswith(home + "/"):
        path = path[len(home) + 1 :]
    if not _UNTIDY.search(path) and path[1:2] != "/":
        return path
    is_rooted = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    if not is_rooted and len(parts) > 1 and parts[0] in ("a", "b"):
        del parts[0]
    relative_path = "/".join(parts)
    return f"/{relative_path}" if is_rooted else relative_path


def endings(path: str) -> Iterator[str]:
    """The path without its root, then without its first part, and so on; longest first."""
    ending = path.lstrip("/")
    while ending:
        yield ending
        ending = ending.partition("/")[2]


class SameFile:
    """Which of the paths of one session name one file, judged by their last parts.

    A path is the same file as a longer one that ends with it, if all longer ones that do so are one
    file: `a.py` next to `src/a.py` and `test/a.py` is a third file. Files of the working directory
    go first: `a.py` next to `src/a.py` and `/other/a.py` is the former.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._known = set(paths)
        self._roots: dict[str, str] = {}
        for path in sorted(self._known):
            self._roots[path.lstrip("/")] = path
        self._owner: dict[str, str | None] = {}
        longest = set(self._roots)
        for rootless in self._roots:
            for ending in endings(rootless):
                if ending != rootless:
                    longest.discard(ending)
        outside: list[str] = []
        inside: list[str] = []
        for rootless in sorted(longest):
            if self._roots[rootless].startswith(("/", "~")):
                outside.append(rootless)
            else:
                inside.append(rootless)
        self._claim(inside)
        self._claim(outside, claimed=set(self._owner))

    def folders(self) -> set[str]:
        """The folders of all known paths, as they are written there."""
        folder_paths: set[str] = set()
        for path in self._known:
            folder = path.rpartition("/")[0]
            while folder and folder not in folder_paths:
                folder_paths.add(folder)
                folder = folder.rpartition("/")[0]
        return folder_paths

    def of(self, path: str) -> str | None:
        """The known path of this file; None for a file that was never named.

        An unknown path that ends with a known one counts as that one: it says more than was known.
        """
        rootless = path.lstrip("/")
        for ending in endings(path):
            if ending != rootless and ending not in self._roots:
                continue
            owner = self._owner.get(ending) or ending
            if owner in self._roots:
                return self._roots[owner]
            if ending in self._owner:
                return None
        return None

    def _claim(self, paths: Iterable[str], claimed: Collection[str] = ()) -> None:
        """Give each ending to the one path that has it, but for those that are claimed."""
        for path in paths:
            for ending in endings(path):
                if ending in claimed:
                    continue
                owner = self._owner.get(ending, path)
                self._owner[ending] = path if owner == path else None

    def short(self, path: str, parts: int = 1) -> str:
        """The shortest ending, of so many parts at least, that no other path has."""
        rootless = path.lstrip("/")
        shortest = path
        for ending in endings(path):
            if self._owner.get(ending) != rootless or ending.count("/") + 1 < parts:
                break
            shortest = ending
        return shortest

    def is_ending(self, path: str) -> bool:
        """Whether a known path ends with this one."""
        return path.lstrip("/") in self._owner
