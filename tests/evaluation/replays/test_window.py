"""The window of a replay: as asked for, else as the recording is evidence of, else its model's."""

from dataclasses import replace

import pytest

from builders import remembering
from workbench.engine.transcript.log import CompactionEntry, Log, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Message, Usage
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.sizing import DEFAULT_WINDOW, window_of

MODEL = "claude-sonnet-4-5"


def recorded(*compactions: CompactionEntry, largest: int | None = None, window: int | None = None) -> Session:
    """A session of a known model, with these compactions in its middle and a largest reported prompt."""
    messages: list[Message] = list(remembering(20))
    if largest is not None:
        place = next(i for i, message in enumerate(messages) if isinstance(message, AssistantMessage))
        messages[place] = replace(messages[place], usage=Usage(input=largest))  # type: ignore[call-arg]
    log = Log()
    for i, message in enumerate(messages):
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
        for one in compactions if i == len(messages) // 2 else ():
            log.append(replace(one, parent=log.leaf))
    return Session("one", log, model=MODEL, window=window)


def compaction(tokens: int | None, reason: str = "auto") -> CompactionEntry:
    return CompactionEntry(id=f"compaction-{tokens}", parent=None, tokens_before=tokens, reason=reason)


@pytest.mark.parametrize(
    ("session", "wanted", "tokens", "source"),
    [
        (recorded(compaction(167_000), window=272_000), 64_000, 64_000, "the window asked for"),
        (recorded(compaction(167_000), window=272_000), None, 272_000, "the window that the recording names"),
        (recorded(compaction(155_000), compaction(167_000)), None, 167_000, "its recorded compactions"),
        (recorded(compaction(30_000, "manual"), largest=90_000), None, 90_000, "its largest prompt"),
        (recorded(compaction(None), largest=90_000), None, 90_000, "its largest prompt"),
        (Session.of(remembering(3), model="a model of nobody"), None, DEFAULT_WINDOW, "no evidence"),
    ],
)
def test_what_a_window_is_taken_from(session: Session, wanted: int | None, tokens: int, source: str) -> None:
    found = window_of(session, wanted)
    assert (found.tokens, found.source) == (tokens, source)


def test_a_price_table_comes_after_all_that_was_recorded() -> None:
    assert window_of(recorded()).source == "its model"
