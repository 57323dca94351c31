"""What a reader is shown of one loss, a model or a person: where the thing is stated, what of it
each stage left, and where it is used; nothing of what the workbench makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolCall,
    argument_texts,
    is_real_user,
    said_text,
)
from workbench.evaluation.experiment.loss_rows import Loss
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.view import ContextVersion

_NAME = re.compile(r"[\w-]+")
_WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
AROUND = 8
"""Lines before and behind a line that are shown."""
LONGEST_LINE = 300
LONGEST_REQUEST = 700
"""Characters of the user's request that are shown."""
MOST_MENTIONS = 14
MOST_LINES = 4
"""Lines of one message or one context that are shown, of those that have the thing."""


@dataclass(frozen=True)
class LossAtHand:
    """A listed loss with the replay that it is of."""

    data: MetricInput
    row: Loss

    @cached_property
    def messages(self) -> Sequence[Message]:
        """The whole recording."""
        return self.data.replay.session.messages

    @cached_property
    def thing(self) -> re.Pattern[str]:
        """The thing in whatever capitals and blanks; of a name, its words however joined."""
        entity = str(self.row["entity"])
        joint = r"\s+"
        words = entity.split()
        if _NAME.fullmatch(entity):
            joint = r"[\s_-]?"
            words = _WORD_OF_NAME.findall(entity)
        return re.compile(joint.join(map(re.escape, words)), re.IGNORECASE)

    def lines_with_thing(self, text: str) -> list[str]:
        """The lines of a text that have the thing."""
        lines = list(filter(self.thing.search, text.split("\n")))
        if not lines and self.thing.search(text):
            return ["(over several lines)"]
        return lines

    def has_stating_line(self, text: str) -> bool:
        """Whether a text has the line that states the thing, however it is broken."""
        evidence = "".join(self.row["evidence"].split())
        return evidence in "".join(text.split())


@dataclass(frozen=True, slots=True)
class LossPage:
    """What a reader is shown of one loss.

    Attributes:
        thing: what was lost.
        text: the page.
        remaining: its parts that the agent still had at the use: what is sent, and what came
            since.
    """

    thing: str
    text: str
    remaining: str


def loss_page(loss: LossAtHand) -> LossPage:
    """The page of a loss."""
    row = loss.row
    boundary, used_at = row["at"], row["needed_at"]
    stated_at = row["evidence_at"]
    request = _last_request(loss)
    sent = _sent_step(loss)
    later_mentions = list(_mentions(loss, range(boundary, used_at)))
    parts = [
        f"The thing: `{row['entity']}`",
        f"Stated last in message {stated_at}. The context was cut before message {boundary}."
        f" The thing is used in message {used_at}.",
        f"## The user's last request before the use{request.place}",
        request.text,
        f"## Where it is stated: message {stated_at}, {_speaker(loss, stated_at)}",
        _around(loss, stated_at, row["evidence"]),
        "## Messages before the cut that have it",
        *_mentions(loss, range(boundary)),
        "## The context, step by step",
        *_steps(loss),
        sent,
        f"## Messages {boundary} to {used_at - 1}: after the cut, before the use",
        *later_mentions,
        f"## The use: message {used_at}, the agent",
        _around(loss, used_at, row["use"]),
    ]
    text = "\n\n".join(parts) + "\n"
    remaining = "\n".join([sent, *later_mentions])
    if request.is_sent:
        remaining += f"\n{request.text}"
    return LossPage(str(row["entity"]), text, remaining)


def _clip(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]} [...]"


def _fenced(lines: Sequence[str]) -> str:
    text = "\n".join(map(_clip, lines))
    return f"~~~~\n{text}\n~~~~"


@dataclass(frozen=True, slots=True)
class _Request:
    """What the user said last before the use.

    Attributes:
        place: which message it is, and whether the agent still had it, for a heading.
        is_sent: whether the agent still had it.
    """

    text: str
    place: str = ""
    is_sent: bool = False


def _last_request(loss: LossAtHand) -> _Request:
    boundary = loss.row["at"]
    for number in reversed(range(loss.row["needed_at"])):
        message = loss.messages[number]
        if not is_real_user(message):
            continue
        request = said_text(message)
        text = _fenced(request[:LONGEST_REQUEST].split("\n"))
        if number >= boundary:
            return _Request(text, f": message {number}, after the cut", is_sent=True)
        if request in _sent(loss):
            return _Request(text, f": message {number}, still sent", is_sent=True)
        return _Request(text, f": message {number}, no longer sent as it stands")
    return _Request("(none)")


def _speaker(loss: LossAtHand, number: int) -> str:
    """Who said a message; of a result, the call that it answers."""
    message = loss.messages[number]
    if message.role == "assistant":
        return "the agent"
    if message.role != "tool":
        return f"the {message.role}"
    for earlier in reversed(loss.messages[:number]):
        if not isinstance(earlier, AssistantMessage):
            continue
        for call in earlier.calls:
            if call.id == message.call_id:
                return f"a result of {_call_head(call)}"
    return "a tool's result"


def _call_head(call: ToolCall) -> str:
    arguments = " ".join(argument_texts(call.arguments))
    first_words = " ".join(arguments.split())[:160]
    return f"the tool {call.name} ({first_words})"


def _labelled_lines(message: Message) -> Iterator[str]:
    """The lines of a message; before each argument of a call its name."""
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield f"[calls the tool {block.name}]"
            for name, value in block.arguments.items():
                yield f"[argument {name}]"
                for text in argument_texts(value):
                    yield from text.split("\n")
        elif block.type != "image":
            yield from block.text.split("\n")


def _around(loss: LossAtHand, number: int, line: str) -> str:
    """The lines of a message around one of them, which has a mark, below the argument's name."""
    lines = list(_labelled_lines(loss.messages[number]))
    squeezed = "".join(line.split())
    place = _place_of_line(lines, squeezed)
    if place is None:
        place = _place_of_thing(lines, loss.thing)
    if place is None:
        return _fenced([line])
    begin = max(0, place - AROUND)
    excerpt = [f"   {text}" for text in lines[begin : place + AROUND + 1]]
    excerpt[place - begin] = f">> {lines[place]}"
    heads = []
    for text in lines[:begin]:
        if text.startswith(("[calls", "[argument")):
            heads.append(text)
    return _fenced([*heads[-2:], *excerpt])


def _place_of_line(lines: Sequence[str], squeezed_line: str) -> int | None:
    """The first of the lines that has this one, whatever its blanks; None for none."""
    for place, text in enumerate(lines):
        if squeezed_line in "".join(text.split()):
            return place
    return None


def _place_of_thing(lines: Sequence[str], thing: re.Pattern[str]) -> int | None:
    """The first of the lines that has the thing; None for none."""
    for place, text in enumerate(lines):
        if thing.search(text):
            return place
    return None


def _mentions(loss: LossAtHand, numbers: Sequence[int]) -> Iterator[str]:
    """The messages that have the thing, the last of them, with some of their lines."""
    mentions: list[str] = []
    for number in numbers:
        lines = loss.lines_with_thing(said_text(loss.messages[number]))
        if not lines:
            continue
        head = f"- message {number}, {_speaker(loss, number)}: {len(lines)} lines"
        mentions.append(f"{head}\n{_fenced(lines[:MOST_LINES])}")
    if not mentions:
        yield "(no message has it)"
        return
    if len(mentions) > MOST_MENTIONS:
        yield f"({len(mentions)} messages have it; the last {MOST_MENTIONS} of them:)"
    yield from mentions[-MOST_MENTIONS:]


def _steps(loss: LossAtHand) -> Iterator[str]:
    """Each version of the context up to the cut that has more or fewer lines with the thing than
    the one before it.
    """
    boundary = loss.row["at"]
    counts: tuple[int, bool] | None = None
    for version in loss.data.versions:
        if version.at > boundary:
            break
        text = _version_text(loss, version)
        lines = loss.lines_with_thing(text)
        has_line = loss.has_stating_line(text)
        if (len(lines), has_line) == counts:
            continue
        counts = len(lines), has_line
        head = f"after the stage `{version.stage}`" if version.stage else "before any stage"
        yield _step(f"before message {version.at}, {head}", lines, has_line)


def _sent_step(loss: LossAtHand) -> str:
    """What the request has of the thing that is sent at the boundary."""
    sent = _sent(loss)
    lines = loss.lines_with_thing(sent)
    head = f"what is sent at message {loss.row['at']}"
    return _step(head, lines, loss.has_stating_line(sent))


def _step(head: str, lines: Sequence[str], has_line: bool) -> str:
    verb = "has" if has_line else "lacks"
    text = f"- {head}: {len(lines)} lines have the thing; it {verb} the stating line"
    if lines:
        text += f"\n{_fenced(lines[:MOST_LINES])}"
    return text


def _version_text(loss: LossAtHand, version: ContextVersion) -> str:
    texts: list[str] = []
    for index in version.messages.tolist():
        texts.append(said_text(loss.messages[index]))
    return "\n".join([*texts, *version.texts])


def _sent(loss: LossAtHand) -> str:
    boundary = loss.row["at"]
    for snapshot in loss.data.snapshots:
        if snapshot.at == boundary:
            return "\n".join(map(said_text, snapshot.context.messages))
    return ""
