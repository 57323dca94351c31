"""The messages of a session's page: what became of each under two strategies, and which are asked
for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.report.explorer.outcomes import MessageOutcome, sent_message, takers
from workbench.report.explorer.panels import texts_of
from workbench.report.explorer.view import SessionView
from workbench.report.view.page import counted

SHOWS = {
    "all": "all",
    "sent": "what either sends",
    "differ": "where the two differ",
    "rewritten": "rewritten by either",
    "dropped": "dropped by either",
}


def message_rows(
    views: Sequence[SessionView],
    outcomes_of: Sequence[tuple[MessageOutcome, ...]],
) -> list[dict[str, Any]]:
    """Each message with what became of it on either side, and by which stage."""
    prepared_session = views[0].ready
    left_outcomes, right_outcomes = outcomes_of
    takers_of = [takers(view.replay, view.event) for view in views]
    messages = []
    for index, message in enumerate(prepared_session.session.messages):
        row = {
            "message": index,
            "role": message.role,
            "name": message.name or "",
            "tokens": prepared_session.sizing.sizes[index],
            "text": "\n".join(texts_of(message)),
            "left": left_outcomes[index],
            "right": right_outcomes[index],
            "by": [stages.get(message.id) for stages in takers_of],
        }
        messages.append(row)
    return messages


@dataclass(frozen=True, slots=True)
class MessageFilters:
    """What an address asks of the messages; an empty text asks nothing.

    Attributes:
        q: a text that stands in the message.
        show: what became of it, a key of `SHOWS`.
        who: its role.
    """

    q: str
    show: str
    who: str

    def fits(self, message: Mapping[str, Any], without: str = "") -> bool:
        """Whether a message is asked for; `without` names a filter that is left out."""
        text = message["text"].lower()
        if self.q.lower() not in text:
            return False
        if self.who and without != "who" and self.who != message["role"]:
            return False
        return without == "show" or _is_shown(self.show, message)


def filter_counts(
    messages: Sequence[Mapping[str, Any]],
    filters: MessageFilters,
) -> dict[str, dict[str, int]]:
    """How many messages each choice of a filter would show beside the other filters."""
    show = dict.fromkeys(SHOWS, 0)
    roles = []
    for message in messages:
        if filters.fits(message, "show"):
            for name in SHOWS:
                show[name] += _is_shown(name, message)
        if filters.fits(message, "who"):
            roles.append(message["role"])
    return {"show": show, "who": counted(roles)}


def _is_shown(name: str, message: Mapping[str, Any]) -> bool:
    """Whether a message is among what is shown under that name."""
    message_outcomes = {message["left"], message["right"]}
    if name == "sent":
        return not message_outcomes.isdisjoint(("pinned", "kept", "rewritten"))
    if name == "differ":
        return len(message_outcomes) == 2
    if name in ("rewritten", "dropped"):
        return name in message_outcomes
    return True


def rewritten_texts(views: Sequence[SessionView], row: Mapping[str, Any]) -> list[str]:
    """What a message became under each of the two; empty where it was not rewritten."""
    messages = views[0].ready.session.messages
    id = messages[row["message"]].id
    message_outcomes = (row["left"], row["right"])
    texts = []
    for view, outcome in zip(views, message_outcomes, strict=True):
        text = ""
        if outcome == "rewritten":
            text = _text_sent(view, id)
        texts.append(text)
    return texts


def _text_sent(view: SessionView, id: str) -> str:
    """What is sent of a message; empty where nothing is."""
    if view.event is None:
        return ""
    message = sent_message(view.event, id)
    if message is None:
        return ""
    return "\n".join(texts_of(message))
