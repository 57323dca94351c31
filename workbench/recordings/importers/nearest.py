"""The format that a refused file looks most like, and what it lacks to be one of these."""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats import FORMATS
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.sqlite import MAGIC

OWN_FORMAT = "docs/own-format.md says how to read a format of your own"
SHOWN = 6
"""Fields or tables of the file that are named."""
DISPLAY = (
    ", which is what Cline, Roo Code or Kilo Code show of a task; "
    "`api_conversation_history.json` beside it is what the model was sent"
)
_TABLE = re.compile(r"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?[\"'`\[]?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NearestFormat:
    """A format, and the fields of it that a file has and lacks."""

    name: str
    is_general: bool
    present: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """How much of the format is there."""
        present_count = len(self.present)
        return present_count / (present_count + len(self.missing))


def nearest_format(head: Head) -> NearestFormat | None:
    """The format most of whose fields the start of a file has; None where it has no field of
    any.
    """
    names = set(head.keys)
    names.update(*head.records)
    candidates: list[NearestFormat] = []
    for format in FORMATS:
        if format.fields:
            candidates.append(_compared(format, names))
    nearest = max(candidates, key=_likeness)
    if not nearest.present:
        return None
    return nearest


def _likeness(candidate: NearestFormat) -> tuple[float, int, bool]:
    """The share of a format's fields that are there, then their number; a general format is
    likelier than a special one.
    """
    return candidate.share, len(candidate.present), candidate.is_general


def _compared(format: Format, names: Set[str]) -> NearestFormat:
    present: list[str] = []
    missing: list[str] = []
    for field in format.fields:
        if field in names:
            present.append(field)
        else:
            missing.append(field)
    return NearestFormat(format.name, format.is_general, tuple(present), tuple(missing))


def refusal(head: Head) -> str:
    """Why no format was recognised: what the file looks like, what it lacks, and where to read
    on.
    """
    cause = _likely_cause(head)
    return f"no importer recognises this content{cause}; {OWN_FORMAT}"


def _likely_cause(head: Head) -> str:
    if head.text.startswith(MAGIC):
        tables = _TABLE.findall(head.text)[:SHOWN]
        return f", an SQLite database with {_named_tables(tables)}"
    if _is_display(head):
        return DISPLAY
    nearest = nearest_format(head)
    if nearest is None:
        return _named_fields(head)
    if nearest.missing:
        missing = _quoted(nearest.missing)
        return f"; nearest is {nearest.name}, but it lacks {missing}"
    return (
        f"; nearest is {nearest.name}, whose fields it has, but not where {nearest.name} has them"
    )


def _named_fields(head: Head) -> str:
    """What fields a file has that looks like no format."""
    is_json = head.keys or head.records or head.is_list
    if not is_json:
        return ", which is no JSON"
    names = sorted(head.keys)
    shown_names = _quoted(names[:SHOWN])
    return f"; its fields are {shown_names or 'none'}"


def _named_tables(tables: list[str]) -> str:
    if not tables:
        return "no table"
    return f"the tables {_quoted(tables)}"


def _is_display(head: Head) -> bool:
    """Whether it is what Cline and its descendants show of a task."""
    return {"ts", "type"} <= head.keys and bool({"say", "ask"} & head.keys)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
