"""Which of a host's messages are the same as before: by what they say, not by the object that says
it.

An object that was compared before is taken as unchanged, so that a list of thousands costs nothing;
only the newest two are looked at again, since hosts mark and extend those in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Json
from workbench.live.cache_markers import body_name
from workbench.live.formats.canonical import key, parts_of, said
from workbench.live.formats.parts import plain

BLOCK = 64
LEAD = 16
"""Characters that a host's next addition is recognised by after one was seen."""
LEAST = 4
"""Characters that it is recognised by at least after more were seen."""


@dataclass(slots=True)
class HostList:
    """A list of messages as the host may hold it.

    Attributes:
        objects: the messages.
        places: for each the index of the host's message that it is; None for what we wrote.
    """

    objects: list[Json] = field(default_factory=list)
    places: list[int | None] = field(default_factory=list)

    def heard(self, same: int) -> int:
        """How many of the host's messages come before what follows these; 0 where what we wrote
        is not all in them.
        """
        later_places = self.places[same:]
        if not later_places or None in later_places:
            return 0
        return later_places[0] or 0


def common(
    recorded: Sequence[Json], messages: Sequence[Json], key_of: Callable[[int], bytes]
) -> tuple[int, list[int]]:
    """How many of the first messages are the same, and which of these say it in another form.

    `key_of` gives the keys of `recorded` by index.
    """
    end = min(len(recorded), len(messages))
    reworded: list[int] = []
    for start in range(0, end, BLOCK):
        stop = min(start + BLOCK, end)
        if recorded[start:stop] == messages[start:stop]:
            continue
        for index in range(start, stop):
            if recorded[index] is messages[index] or recorded[index] == messages[index]:
                continue
            if key_of(index) != key(messages[index]):
                return index, reworded
            reworded.append(index)
    return end, reworded


@dataclass(slots=True)
class Additions:
    """What the host adds to the end of each request and takes away again, such as a reminder.

    They are recognised by how they begin, once one was seen to go: nothing else is held back from
    the history. What is held back by mistake is in the next request still, and is read then.

    Attributes:
        inside: the beginning of a text at the end of the newest message. The same text may stand
            behind a gap in a message of text, and as a part of its own behind a tool's results.
        behind: the beginning of a message behind all others, and its role.
        head: the beginning of a user's message before all others that the host renders anew, such
            as a list of files.
        gap: the white space between a message's own text and the addition in it.
        note: the beginning of a user's message before the newest question that the host renders
            anew, such as an open file.
    """

    inside: str = ""
    behind: tuple[str, str] = ("", "")
    _last: str = ""
    head: str = ""
    gap: str = ""
    note: str = ""

    def saved(self) -> tuple[str, ...]:
        """What was learned, as texts."""
        return self.inside, *self.behind, self._last, self.head, self.gap, self.note

    @classmethod
    def loaded(cls, saved: Sequence[str]) -> Additions:
        """What was saved."""
        inside, role, lead, last_text, head, gap, note = (*saved, *[""] * 7)[:7]
        return cls(inside, (role, lead), last_text, head, gap, note)

    def is_head(self, message: Json) -> bool:
        """Whether it is the message before all others that the host renders anew with each
        request.
        """
        return _is_of_user(message, self.head)

    def are_heads(self, recorded: Json, present: Json) -> bool:
        """Whether both are that message."""
        return self.is_head(recorded) and self.is_head(present)

    def learn_head(self, previous: Json, present: Json) -> None:
        """Take in that the first message is another one now, while what follows it is the same."""
        self.head = _same_lead(previous, present) or self.head

    def is_note(self, message: Json) -> bool:
        """Whether it is the message before the newest question that the host renders anew."""
        return _is_of_user(message, self.note)

    def learn_note(self, previous: Json, later_messages: Sequence[Json]) -> bool:
        """Take in that a message is gone from its place, while what followed it is the same and
        one of these begins as it did; whether there is one.
        """
        for message in later_messages:
            lead = _same_lead(previous, message)
            if lead:
                self.note = lead
                return True
        return False

    def is_behind(self, message: Json) -> bool:
        """Whether the whole message is such an addition."""
        role, lead = self.behind
        if not lead or _role(message) != role:
            return False
        text = text_of(message)
        return text is not None and text.startswith(lead)

    def split(self, message: Json) -> tuple[Json, str]:
        """The message without the addition at its end, and the addition; the message itself
        where there is none.
        """
        record = plain(message)
        name = body_name(record)
        if not self.inside or not name or _role(record) == "assistant":
            return message, ""
        body = record[name]
        last_part = _last_part(body)
        text = _words(last_part)
        if text is None:
            return message, ""
        start = self._begins(text)
        is_one_part = isinstance(body, str) or len(body) == 1
        is_whole_message = start == 0 and is_one_part
        if start < 0 or is_whole_message:
            return message, ""
        if isinstance(body, str):
            shorter_body: Json = text[:start]
        elif start == 0:
            shorter_body = body[:-1]
        else:
            shorter_part: Json = text[:start]
            if isinstance(last_part, Mapping):
                shorter_part = {**last_part, "text": shorter_part}
            shorter_body = [*body[:-1], shorter_part]
        shorter = {**record, name: shorter_body}
        return shorter, text[start:]

    def _begins(self, text: str) -> int:
        """Where the addition and the gap before it begin: the whole text, as the last one, or in
        the last part of the text; -1 for none.
        """
        if text.startswith(self.inside):
            return 0
        last_length = len(self._last)
        search_start = max(len(text) - 4 * last_length, 0)
        start = text.find(self.inside, search_start)
        if text.endswith(self._last):
            start = len(text) - last_length
        if start > 0 and text.endswith(self.gap, 0, start):
            start -= len(self.gap)
        return start

    def learn(self, previous: Json, present: Json) -> str | None:
        """Take in what stands in the place of the newest message of the last request.

        Returns:
            What the host had added to it, where it is the same message without that; empty where it
            is the same with more behind it; None where it is another one.
        """
        fields_before = said(previous)
        fields_now = said(present)
        name = body_name(fields_before)
        body_before = _pop_body(fields_before, name)
        body_now = _pop_body(fields_now, name)
        if name and fields_before == fields_now:
            lost = _lost(body_before, body_now)
            if lost:
                self._learn_inside(lost)
                return lost
            missing = _lost(body_now, body_before)
            if missing:
                self._unlearn(missing)
                return ""
        if _role(previous) != _role(present):  # else it was edited
            self._learn_behind(previous)
        return None

    def _learn_behind(self, message: Json) -> None:
        """Learn a message behind all others that is gone now."""
        text = text_of(message)
        role = _role(message)
        if not text or role not in ("user", "system", "developer"):
            return
        lead = ""
        if role == self.behind[0]:
            lead = _same_start(text, self.behind[1])
        if len(lead) < LEAST:
            lead = _lead(text)
        if len(lead) >= LEAST:
            self.behind = (role, lead)

    def _unlearn(self, missing: str) -> None:
        """Forget what was held back by mistake: it was the message's own."""
        self.gap = ""
        if missing.strip():
            self.inside = ""

    def _learn_inside(self, lost: str) -> None:
        """Learn the addition from what a message had more than it has now."""
        text = lost.lstrip()
        gap = lost.removesuffix(text)
        if gap:
            self.gap = gap
        if text:
            lead = _same_start(self._last, text)
            if len(lead) < LEAST:
                lead = _lead(text)
            self.inside = lead
            self._last = text


def _is_of_user(message: Json, lead: str) -> bool:
    """Whether it is a user's message that begins so."""
    if not lead or _role(message) != "user":
        return False
    text = text_of(message)
    return text is not None and text.startswith(lead)


def _same_lead(message: Json, other_message: Json) -> str:
    """How both of two user's messages begin; empty where they begin in different ways."""
    if not _role(message) == _role(other_message) == "user":
        return ""
    text = text_of(message)
    other_text = text_of(other_message)
    if text is None or other_text is None:
        return ""
    start = _same_start(text, other_text)
    lead = _lead(start)
    if len(lead) < LEAST:
        return ""
    return lead


def _lead(text: str) -> str:
    """How an addition begins, up to its first number, which may be another next time."""
    lead = text[:LEAD]
    for index, sign in enumerate(lead):
        if sign.isdigit():
            if index < LEAST:
                return lead
            return lead[:index]
    return lead


def _same_start(text: str, other_text: str) -> str:
    """What both texts begin with."""
    for index, (sign, other_sign) in enumerate(zip(text, other_text, strict=False)):
        if sign != other_sign:
            return text[:index]
    return min(text, other_text, key=len)


def _lost(parts_before: Sequence[Json], parts_now: Sequence[Json]) -> str:
    """The text that the first has behind all that the second says; empty where that is not all."""
    if not parts_now:
        return ""
    part_count = len(parts_now)
    same = part_count
    lost: list[str] = []
    if part_count <= len(parts_before) and parts_before[part_count - 1] != parts_now[-1]:
        longer = _text(parts_before[part_count - 1])
        shorter = _text(parts_now[-1])
        if longer is None or shorter is None:
            return ""
        if not longer.startswith(shorter):
            return ""
        end = longer.removeprefix(shorter)
        lost.append(end)
        same -= 1
    if parts_before[:same] != parts_now[:same]:
        return ""
    later_parts = parts_before[part_count:]
    for part in later_parts:
        text = _text(part)
        if text is None:
            return ""
        lost.append(text)
    return "".join(lost)


def _pop_body(fields: Json, name: str) -> list[Json]:
    """The parts of what a message says, taken out of its fields."""
    if not isinstance(fields, dict):
        return []
    parts: list[Json] = fields.pop(name, [])
    return parts


def _last_part(body: Json) -> Json:
    """The last part of what a message says, or the whole where it is a text; else None."""
    if isinstance(body, list):
        return plain(body[-1])
    if isinstance(body, str):
        return body
    return None


def _words(part: Json) -> str | None:
    """The text of a part, or the text that it is; None for any other part."""
    if isinstance(part, str):
        return part
    return _text(part)


def _text(part: Json) -> str | None:
    """The text of a part; None where it has none."""
    if not isinstance(part, Mapping):
        return None
    text = part.get("text")
    if not isinstance(text, str):
        return None
    return text


def text_of(message: Json) -> str | None:
    """What a message of nothing but text says."""
    record = plain(message)
    name = body_name(record)
    if not name:
        return None
    parts = parts_of(record[name])
    if not parts:
        return None
    texts: list[str] = []
    for part in parts:
        text = _text(plain(part))
        if text is None:
            return None
        texts.append(text)
    return "".join(texts)


def _role(message: Json) -> str:
    record = plain(message)
    if not isinstance(record, Mapping):
        return ""
    role = record.get("role", "")
    return str(role)
