"""The rows behind printed tables: measured once from recordings, kept beside the pages, printed and
checked in seconds.

The rows of a page lie in the folder `rows` beside it: figures by session and no text. A session is
named by a hash of its id.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

import pandas as pd

FACTS = Path(__file__).parent.parent / "workbench" / "lab" / "validation" / "facts.json"
"""What every report shows of some parts."""
DIGITS = 6
Frames: TypeAlias = Mapping[str, pd.DataFrame]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a page between two marks.

    Attributes:
        measure: its rows, of paths; with False only those of sessions in these paths, without the
            bundled ones.
        tell: the lines of the page, of the rows that were kept (of those measured, where none are).
        facts: what reports show of it, of the same rows.
        kept: whether the rows are kept beside the page, so that they can be told without the
            recordings.
    """

    measure: Callable[[Sequence[str], bool], Frames]
    tell: Callable[..., Iterator[str]]
    facts: Callable[..., Mapping[str, object]] | None = None
    kept: bool = True


def run(parts: Mapping[str, Part], page: Path, words: Sequence[str]) -> int:
    """Write or check a part of a page, as the words after a command say; 1 where a check finds a
    difference.
    """
    name, *paths = [word for word in words if word != "--check"]
    part, check, folder = parts[name], "--check" in words, rows_beside(page)
    if check and paths:
        return int(differences(name, part.measure(paths, False), folder) > 0)
    if not part.kept:
        frames: Frames = {key: _again(rows) for key, rows in part.measure(paths, True).items()}
    elif paths:
        frames = stored(name, part.measure(paths, True), folder)
    elif not (frames := {key: read(name, key, folder=folder) for key in names_of(name, folder)}):
        sys.stdout.write(f"{name}: no rows in {folder}; name the recordings, and they are made\n")
        return 1
    told = [frames[key] for key in sorted(frames)]
    wrong = between_marks(page, name, part.tell(*told), check=check)
    if part.facts:
        wrong |= _facts(name, part.facts(*told), check=check)
    return int(wrong)


def rows_beside(page: Path) -> Path:
    """The folder with the rows of a page."""
    return page.parent / "rows"


def between_marks(page: Path, name: str, made: Iterable[str], *, check: bool) -> bool:
    """Write the lines between the marks of that name, or say how they differ; whether a check
    finds that.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    old, _, after = rest.partition(end)
    new = "\n".join(made) + "\n"
    if not check:
        page.write_text(before + start + new + end + after, encoding="utf-8")
        return False
    for mine, theirs in zip_longest(old.splitlines(), new.splitlines(), fillvalue="nothing"):
        if mine != theirs:
            sys.stdout.write(f"{page.name} says: {mine}\nthe code says:    {theirs}\n")
    return old != new


def _facts(name: str, found: Mapping[str, object], *, check: bool) -> bool:
    known = json.loads(FACTS.read_text(encoding="utf-8"))
    same = bool(known.get(name) == json.loads(json.dumps(found)))
    if not check:
        FACTS.write_text(
            json.dumps(known | {name: found}, indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )
    elif not same:
        sys.stdout.write(
            f"facts.json says of {name}: {known.get(name)}\nthe code says:    {found}\n"
        )
    return check and not same


def stored(part: str, frames: Frames, folder: Path) -> Frames:
    """The rows as they are read again; they are written."""
    folder.mkdir(exist_ok=True)
    for name, rows in frames.items():
        _file(part, name, folder).write_text(_plain(rows), encoding="utf-8")
    return {name: read(part, name, folder=folder) for name in frames}


def names_of(part: str, folder: Path) -> list[str]:
    """The names of the kept frames of a part."""
    paths = (*folder.glob(f"{part}.csv"), *folder.glob(f"{part}-*.csv"))
    return sorted(path.stem.partition("-")[2] for path in paths)


def read(part: str, name: str = "", *, folder: Path) -> pd.DataFrame:
    """The kept rows of one name."""
    return _read(_file(part, name, folder))


def differences(part: str, frames: Frames, folder: Path) -> int:
    """How many frames differ from the kept rows of the same sessions and contexts; each is told."""
    return sum(
        _differs(f"{part} {name}".strip(), _again(rows), read(part, name, folder=folder))
        for name, rows in frames.items()
    )


def _differs(title: str, fresh: pd.DataFrame, old: pd.DataFrame) -> bool:
    if "session" in old:
        same = [name for name in ("session", "context") if name in old]
        known = pd.MultiIndex.from_frame(old[same])
        fresh = fresh[pd.MultiIndex.from_frame(fresh[same]).isin(known)]
        old = old[old["session"].isin(fresh["session"])]
        # in whatever order they came
        fresh, old = (rows.sort_values(same, kind="stable") for rows in (fresh, old))
        sys.stdout.write(
            f"{title}: {len(fresh)} rows of {fresh['session'].nunique()} sessions beside the kept"
            " rows\n"
        )
        if fresh.empty:
            return False
    try:
        pd.testing.assert_frame_equal(
            fresh.reset_index(drop=True),
            old.reset_index(drop=True),
            check_dtype=False,
            rtol=0,
            atol=2 * 10**-DIGITS,
        )
    except AssertionError as problem:
        sys.stdout.write(f"{title}: the kept rows and the recordings differ. {problem}\n")
        return True
    return False


def _again(rows: pd.DataFrame) -> pd.DataFrame:
    return _read(StringIO(_plain(rows)))


def _read(source: Path | StringIO) -> pd.DataFrame:
    return pd.read_csv(source, keep_default_na=False, na_values=[""])  # `null` is a strategy


def named(session: object) -> str:
    """A session's name in the rows."""
    return sha256(str(session).encode()).hexdigest()[:10]


def _plain(rows: pd.DataFrame) -> str:
    if "session" in rows:
        rows = rows.assign(session=rows["session"].map(named))
    return str(rows.round(DIGITS).to_csv(index=False, lineterminator="\n"))


def _file(part: str, name: str, folder: Path) -> Path:
    return folder / (f"{part}-{name}.csv" if name else f"{part}.csv")
