"""Which of a host's messages are the same as before: by what they say, not by the object that says
it.

An object that was compared before is taken as unchanged, so that a list of thousands costs nothing;
only the newest two are looked at again, since hosts mark and extend those in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import BODIES, MARKERS, key, parts_of, said
from workbench.live.formats.parts import plain

BLOCK = 64
LEAD, LEAST = 16, 4
"""Characters that a host's next addition is recognised by after one was seen, and after more at
least.
"""


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
        rest = self.places[same:]
        return (rest[0] or 0) if rest and None not in rest else 0


def common(
    known: Sequence[Json], given: Sequence[Json], key_of: Callable[[int], bytes]
) -> tuple[int, list[int]]:
    """How many of the first messages are the same, and which of these say it in another form.

    `key_of` gives the keys of `known` by index.
    """
    end = min(len(known), len(given))
    reworded: list[int] = []
    for at in range(0, end, BLOCK):
        stop = min(at + BLOCK, end)
        if known[at:stop] == given[at:stop]:
            continue
        for i in range(at, stop):
            if known[i] is not given[i] and known[i] != given[i]:
                if key_of(i) != key(given[i]):
                    return i, reworded
                reworded.append(i)
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
    """

    inside: str = ""
    behind: tuple[str, str] = ("", "")
    _last: str = ""
    head: str = ""
    gap: str = ""

    def saved(self) -> tuple[str, ...]:
        """What was learned, as texts."""
        return self.inside, *self.behind, self._last, self.head, self.gap

    @classmethod
    def loaded(cls, saved: Sequence[str]) -> Additions:
        """What was saved."""
        inside, role, lead, last, head, gap = (*saved, *[""] * 6)[:6]
        return cls(inside, (role, lead), last, head, gap)

    def is_head(self, message: Json) -> bool:
        """Whether it is the message before all others that the host renders anew with each
        request.
        """
        text = text_of(message)
        return (
            bool(self.head)
            and text is not None
            and text.startswith(self.head)
            and _role(message) == "user"
        )

    def learn_head(self, was: Json, now: Json) -> None:
        """Take in that the first message is another one now, while what follows it is the same."""
        before, after = text_of(was), text_of(now)
        if before is None or after is None or not _role(was) == _role(now) == "user":
            return
        lead = _lead(_same_start(before, after))
        if len(lead) >= LEAST:
            self.head = lead

    def is_behind(self, message: Json) -> bool:
        """Whether the whole message is such an addition."""
        role, lead = self.behind
        text = text_of(message)
        return bool(lead) and text is not None and text.startswith(lead) and _role(message) == role

    def split(self, message: Json) -> tuple[Json, str]:
        """The message without the addition at its end, and the addition; the message itself
        where there is none.
        """
        record = plain(message)
        name = next(
            (name for name in BODIES if isinstance(record, Mapping) and record.get(name)), ""
        )
        if not self.inside or not name or _role(record) == "assistant":
            return message, ""
        body = record[name]
        last = (
            body if isinstance(body, str) else plain(body[-1]) if isinstance(body, list) else None
        )
        text = last.get("text") if isinstance(last, Mapping) else last
        at = self._begins(text) if isinstance(text, str) else -1
        if (
            not isinstance(text, str)
            or at < 0
            or (at == 0 and (isinstance(body, str) or len(body) == 1))
        ):
            return message, ""
        if isinstance(body, str):
            rest: Json = text[:at]
        else:
            shorter = {**last, "text": text[:at]} if isinstance(last, Mapping) else text[:at]
            rest = [*body[:-1], shorter] if at else body[:-1]
        return {**record, name: rest}, text[at:]

    def _begins(self, text: str) -> int:
        """Where the addition and the gap before it begin: the whole text, as the last one, or in
        the last part of the text; -1 for none.
        """
        if text.startswith(self.inside):
            return 0
        start = text.find(self.inside, max(len(text) - 4 * len(self._last), 0))
        if text.endswith(self._last):
            start = len(text) - len(self._last)
        if start > 0 and text.endswith(self.gap, 0, start):
            start -= len(self.gap)
        return start

    def learn(self, was: Json, now: Json) -> str | None:
        """Take in what stands in the place of the newest message of the last request.

        Returns:
            What the host had added to it, where it is the same message without that; empty where it
                is the same with
            more behind it, None where it is another one.
        """
        before, after = said(was), said(now)
        name = next((name for name in BODIES if name in before), "")
        bodies = [one.pop(name, []) if isinstance(one, dict) else [] for one in (before, after)]
        if name and before == after:
            if lost := _lost(*bodies):
                self._learn_inside(lost)
                return lost
            if missing := _lost(*reversed(bodies)):
                self.gap = ""
                if missing.strip():
                    self.inside = ""
                return ""
        text, role = text_of(was), _role(was)
        # else it was edited
        if text and role in ("user", "system", "developer") and role != _role(now):
            lead = _same_start(text, self.behind[1]) if role == self.behind[0] else ""
            lead = lead if len(lead) >= LEAST else _lead(text)
            self.behind = (role, lead) if len(lead) >= LEAST else self.behind
        return None

    def _learn_inside(self, lost: str) -> None:
        """Learn the addition from what a message had more than it has now."""
        text = lost.lstrip()
        self.gap = lost[: len(lost) - len(text)] or self.gap
        if text:
            lead = _same_start(self._last, text)
            self.inside = lead if len(lead) >= LEAST else _lead(text)
            self._last = text


def _lead(text: str) -> str:
    """How an addition begins, up to its first number, which may be another next time."""
    lead = text[:LEAD]
    number = next((i for i, sign in enumerate(lead) if sign.isdigit()), LEAD)
    return lead[:number] if number >= LEAST else lead


def _same_start(one: str, other: str) -> str:
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))]


def _lost(before: Sequence[Json], after: Sequence[Json]) -> str:
    """The text that the first has behind all that the second says; empty where that is not all."""
    same, texts = len(after), []
    if same and same <= len(before) and before[same - 1] != after[-1]:
        longer, shorter = map(_text, (before[same - 1], after[-1]))
        if not (
            isinstance(longer, str) and isinstance(shorter, str) and longer.startswith(shorter)
        ):
            return ""
        texts.append(longer[len(shorter) :])
        same -= 1
    if not after or before[:same] != after[:same]:
        return ""
    texts += map(_text, before[len(after) :])
    return "".join(texts) if all(isinstance(text, str) for text in texts) else ""


def _text(part: Json) -> Json:
    return part.get("text") if isinstance(part, Mapping) else None


def text_of(message: Json) -> str | None:
    """What a message of nothing but text says."""
    record = plain(message)
    body = (
        next((record[name] for name in BODIES if record.get(name)), None)
        if isinstance(record, Mapping)
        else None
    )
    texts = [_text(plain(part)) for part in parts_of(body)]
    return "".join(texts) if texts and all(isinstance(text, str) for text in texts) else None


def _role(message: Json) -> str:
    record = plain(message)
    return str(record.get("role", "")) if isinstance(record, Mapping) else ""


def markers(message: Json) -> list[Json]:
    """The cache markers of a message and its parts, each with its key."""
    record = plain(message)
    bodies = [record, *(part for name in BODIES for part in _listed(record.get(name)))]
    return [
        (name, one[name])
        for one in bodies
        if isinstance(one, Mapping)
        for name in one.keys() & MARKERS
    ]


def remarked(written: Json, current: Json) -> Json:
    """A message that was made of the host's, with the cache markers that the host has on its own
    now.
    """
    now = markers(current)
    if markers(written) == now:
        return written
    record = {name: value for name, value in written.items() if name not in MARKERS}
    body = next((name for name in BODIES if record.get(name)), "")
    if not body or plain(current).keys() & MARKERS:
        return {**record, **dict(now)}
    parts = [_unmarked(part) for part in _listed(record[body])]
    if now and isinstance(record[body], str):
        parts = [{"type": "text", "text": record[body]}]
    if now and parts and isinstance(parts[-1], Mapping):
        parts[-1] = {**parts[-1], **dict(now)}
    return {**record, body: parts} if parts else record


def _unmarked(part: Json) -> Json:
    if not isinstance(part, Mapping):
        return part
    return {name: value for name, value in part.items() if name not in MARKERS}


def _listed(content: Json) -> list[Json]:
    return content if isinstance(content, list) else []
