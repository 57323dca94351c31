"""The workbench's own sessions."""

from collections.abc import Iterator

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.native import MARK, sessions
from workbench.recordings.importers.source import SourceFile


def knows_native(head: Head) -> bool:
    """Whether it begins with the header of a session of ours."""
    return head.first_record.get(MARK) == "session"


def _no_values(source: SourceFile) -> Iterator[Json]:
    """Our own format: nothing of a file is left unread."""
    yield from ()


NATIVE = Format(
    name="native",
    description="the workbench's own sessions (JSON lines), read and written without loss",
    carries=(
        "tree",
        "calls",
        "thinking",
        "images",
        "usage",
        "times",
        "model",
        "compactions",
        "system",
    ),
    knows=knows_native,
    sessions=sessions,
    values=_no_values,
)
