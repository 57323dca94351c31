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
    is_check = "--check" in words
    name, *paths = [word for word in words if word != "--check"]
    part = parts[name]
    folder = rows_beside(page)
    if is_check and paths:
        return int(differences(name, part.measure(paths, False), folder) > 0)
    frames = _frames(name, part, paths, folder)
    if not frames:
        sys.stdout.write(f"{name}: no rows in {folder}; name the recordings, and they are made\n")
        return 1
    in_order = [frames[key] for key in sorted(frames)]
    differs = between_marks(page, name, part.tell(*in_order), check=is_check)
    if part.facts:
        differs |= _facts(name, part.facts(*in_order), check=is_check)
    return int(differs)


def _frames(name: str, part: Part, paths: Sequence[str], folder: Path) -> Frames:
    """The rows of a part: measured and kept where paths are given, else those that are there."""
    if not part.kept:
        measured = part.measure(paths, True)
        return {key: _again(rows) for key, rows in measured.items()}
    if paths:
        return stored(name, part.measure(paths, True), folder)
    return {key: read(name, key, folder=folder) for key in names_of(name, folder)}


def rows_beside(page: Path) -> Path:
    """The folder with the rows of a page."""
    return page.parent / "rows"


def between_marks(page: Path, name: str, lines: Iterable[str], *, check: bool) -> bool:
    """Write the lines between the marks of that name, or say how they differ; whether a check
    finds that.
    """
    start_mark = f"<!-- {name} -->\n"
    end_mark = f"<!-- end of {name} -->\n"
    head, _, rest = page.read_text(encoding="utf-8").partition(start_mark)
    old_text, _, tail = rest.partition(end_mark)
    new_text = "\n".join(lines) + "\n"
    if not check:
        page.write_text(head + start_mark + new_text + end_mark + tail, encoding="utf-8")
        return False
    old_lines = old_text.splitlines()
    new_lines = new_text.splitlines()
    for page_line, code_line in zip_longest(old_lines, new_lines, fillvalue="nothing"):
        if page_line != code_line:
            sys.stdout.write(f"{page.name} says: {page_line}\nthe code says:    {code_line}\n")
    return old_text != new_text


def _facts(name: str, facts: Mapping[str, object], *, check: bool) -> bool:
    """Write what reports show of a part, or say how it differs; whether a check finds that."""
    all_facts = json.loads(FACTS.read_text(encoding="utf-8"))
    if not check:
        new_facts = json.dumps(all_facts | {name: facts}, indent=1, sort_keys=True)
        FACTS.write_text(new_facts + "\n", encoding="utf-8")
        return False
    old_facts = all_facts.get(name)
    if old_facts == json.loads(json.dumps(facts)):
        return False
    sys.stdout.write(f"facts.json says of {name}: {old_facts}\nthe code says:    {facts}\n")
    return True


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
    count = 0
    for name, rows in frames.items():
        title = f"{part} {name}".strip()
        kept_rows = read(part, name, folder=folder)
        count += _differs(title, _again(rows), kept_rows)
    return count


def _differs(title: str, new_rows: pd.DataFrame, kept_rows: pd.DataFrame) -> bool:
    if "session" in kept_rows:
        new_rows, kept_rows = _of_both(new_rows, kept_rows)
        sys.stdout.write(
            f"{title}: {len(new_rows)} rows of {new_rows['session'].nunique()} sessions beside the"
            " kept rows\n"
        )
        if new_rows.empty:
            return False
    try:
        pd.testing.assert_frame_equal(
            new_rows.reset_index(drop=True),
            kept_rows.reset_index(drop=True),
            check_dtype=False,
            rtol=0,
            atol=2 * 10**-DIGITS,
        )
    except AssertionError as problem:
        sys.stdout.write(f"{title}: the kept rows and the recordings differ. {problem}\n")
        return True
    return False


def _of_both(new_rows: pd.DataFrame, kept_rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of sessions and contexts that both have, in one order."""
    keys = [name for name in ("session", "context") if name in kept_rows]
    kept_keys = pd.MultiIndex.from_frame(kept_rows[keys])
    is_kept = pd.MultiIndex.from_frame(new_rows[keys]).isin(kept_keys)
    new_rows = new_rows[is_kept]
    kept_rows = kept_rows[kept_rows["session"].isin(new_rows["session"])]
    return (
        new_rows.sort_values(keys, kind="stable"),
        kept_rows.sort_values(keys, kind="stable"),
    )


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
