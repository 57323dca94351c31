"""The recorded sessions that ship with the package: their files, what their cards say, and the sessions themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.importers.records import read_toml
from workbench.importers.importer import load
from workbench.transcript.session import Session

PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known about a bundled session.

    Attributes:
        made: how it came about.
        sha256: of the packed file.
        messages: on all branches; `requests` and `calls` likewise.
        branches: how many leaves the log has.
        tokens: of all messages' text with tool arguments and results, in `encoding`.
        window: the context window, in tokens, at which it is shown unless another is asked for.
        python: with which Python it was recorded; `pytest` likewise.
    """

    name: str
    title: str
    project: str
    made: str
    licence: str
    sha256: str
    messages: int
    requests: int
    calls: int
    branches: int
    tokens: int
    encoding: str
    window: int
    python: str
    pytest: str


def folder() -> Path:
    """Where the bundled sessions lie: in the package once it is installed, beside it in a checkout."""
    packed = PACKAGE / "_datasets"
    return packed if packed.is_dir() else PACKAGE.parent / "datasets" / "recorded"


def bundled_files() -> tuple[Path, ...]:
    """The bundled session files, by name."""
    return tuple(sorted(folder().glob("*/session.jsonl.gz")))


def bundled() -> list[Session]:
    """The bundled recorded sessions, smallest file first.

    Raises:
        SettingError: none were installed.
    """
    return [session for path in sorted(bundled_files(), key=lambda p: p.stat().st_size) for session in load(path)]


def card(session: Path) -> Card:
    """The card that lies beside a bundled session.

    Raises:
        FormatError: there is none, or it lacks a field, or has one too many.
    """
    return read_toml(Card, session.parent / "card.toml", "card")
