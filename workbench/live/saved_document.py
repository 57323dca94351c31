"""The parts of a saved compactor: one JSON document, with messages once and references to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.engine.models.refused_request import Defect
from workbench.engine.transcript.log import Entry
from workbench.engine.transcript.message import Json, Message, Summary
from workbench.live.calibration import NEUTRAL, Calibration
from workbench.live.events import RunEnds
from workbench.live.formats.table import MessageFormat
from workbench.live.sent_request import SentRequest
from workbench.live.stated_limits import StatedLimit

VERSION = 1


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """One of the host's messages; its own messages, of the last `span` entries, are numbered
    from `number` on.
    """

    record: Mapping[str, Json]
    number: int = 0
    span: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLogEntry:
    """An entry of the log whose message is one of the host's in `entries`."""

    id: str
    parent: str | None
    type: Literal["host_message"] = "host_message"


@dataclass(frozen=True, slots=True)
class SavedSlot:
    """One message of a list that the host may hold: its own, by its place, or one that was
    written for it.
    """

    at: int | None = None
    record: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class SavedContext:
    """Messages by their id, or as `@n` the n-th of those that stages wrote."""

    messages: tuple[str, ...]
    sizes: tuple[int, ...]
    overhead: int = 0
    archived: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A compaction in force; `sent` is None where it is the same as `kept`."""

    kept: SavedContext
    heard: int
    sent: SavedContext | None = None
    covers: int = 0
    entry: str = ""
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCompactor:
    """The whole document."""

    workbench: Literal["compactor"]
    version: int
    preset: str
    window: int | None
    format: MessageFormat | None = None
    likely: MessageFormat = "openai"
    entries: tuple[SavedEntry, ...] = ()
    log: tuple[Entry | SavedLogEntry, ...] = ()
    log_leaf: str | None = None
    leaf: str | None = None
    history: int = 0
    number: int = 0
    names: Mapping[str, Json] | None = None
    archive: Mapping[str, Json] | None = None
    written: tuple[Summary, ...] = ()
    made: tuple[Message, ...] = ()
    checkpoints: tuple[SavedCheckpoint, ...] = ()
    given: tuple[SavedSlot, ...] = ()
    returned: tuple[SavedSlot, ...] = ()
    additions: tuple[str, ...] = ()
    added: int = 0
    model: str = ""
    request: SentRequest | None = None
    reported: SentRequest | None = None
    limits: tuple[StatedLimit, ...] = ()
    fallbacks: tuple[StatedLimit, ...] = ()
    quotas: tuple[StatedLimit, ...] = ()
    declared: int = 0
    least: int | None = None
    lightest: int = 0
    accepted: int = 0
    calibration: Calibration = NEUTRAL
    compactions: int = 0
    patience: int = 0
    vain: int = 0
    usd: float | None = None
    ending: RunEnds | None = None
    misses: int = 0
    paused: bool = False
    pause_tokens: float | None = None
    pause_seconds: float | None = None
    mends: tuple[Defect, ...] = ()
    doubted: tuple[int, int] = (0, 0)
    extra_fields: tuple[tuple[str, ...], ...] = ()
    unreadable: tuple[str, ...] = ()
    mended: int = 0
    mended_kinds: tuple[str, ...] = ()
    resent: int = 0
    overflowed: bool = False
    requested: str | None = None
