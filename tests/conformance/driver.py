"""Drives the public face for the tables: a host's messages through a compactor, as an agent's
loop does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import Compactor, Preset, Scripted, Settings
from workbench.engine.transcript.message import Message, plain_text
from workbench.live.events import CompactionEnded, CompactionStarted

GAP = "(earlier messages were left out here)"

Record = dict[str, Any]


def record(message: Message) -> Record:
    """A built message in OpenAI's chat shape."""
    text = plain_text(message)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": text}
    said: Record = {
        "role": message.role,
        "content": text,
        **({"name": message.name} if message.name else {}),
    }
    if message.role == "assistant":
        thoughts = [block.text for block in message.blocks if block.type == "thinking"]
        said |= {"reasoning_content": thoughts[0]} if thoughts else {}
        if message.calls:
            functions = [
                (call.id, {"name": call.name, "arguments": call.arguments_json()})
                for call in message.calls
            ]
            said["tool_calls"] = [
                {"id": id, "type": "function", "function": one} for id, one in functions
            ]
            said["content"] = text or None
    return said


def records(messages: Iterable[Message]) -> list[Record]:
    """Built messages in OpenAI's chat shape."""
    return [record(message) for message in messages]


@dataclass
class Lived:
    """What became of a conversation: the compactor, its model, the messages handed over, and
    what was sent.
    """

    live: Compactor
    model: Scripted
    given: list[Message]
    host: list[Record]
    sent: list[Record]

    @property
    def path(self) -> list[str]:
        """What is sent: ids, with `*` where only a message's beginning is left, and `summary`;
        no required fillers.
        """
        return [self._label(one) for one in self.sent if one["content"] != GAP]

    def _label(self, sent: Record) -> str:
        both = list(zip(self.host, self.given, strict=True))
        own = next((message.id for one, message in both if one is sent), "")
        own = own or next((message.id for one, message in both if one == sent), "")
        cut = (
            message.id
            for one, message in both
            if sent["content"] and str(one["content"]).startswith(sent["content"])
        )
        return own or next((f"{id}*" for id in cut), "summary")

    @property
    def summary(self) -> str:
        """The text of the first message that the host did not write."""
        return next(
            str(one["content"])
            for one in self.sent
            if one["content"] != GAP and self._label(one) == "summary"
        )

    @property
    def prompts(self) -> list[str]:
        """What the model was asked."""
        return [request.prompt for request in self.model.requests]

    @property
    def purposes(self) -> list[str]:
        """What each request was for."""
        return [request.purpose for request in self.model.requests]

    @property
    def read(self) -> list[int]:
        """How many messages each request showed."""
        return [len(request.messages) for request in self.model.requests]

    @property
    def types(self) -> list[str]:
        """The events, in order, but for what is said of the window."""
        types = [event.type for event in self.live.events]
        return [type for type in types if not type.startswith("window_")]

    @property
    def started(self) -> CompactionStarted:
        """The start of the newest compaction."""
        return [event for event in self.live.events if isinstance(event, CompactionStarted)][-1]

    @property
    def ended(self) -> CompactionEnded:
        """The end of the newest compaction that was finished."""
        return [event for event in self.live.events if isinstance(event, CompactionEnded)][-1]

    def go_on(self, more: Sequence[Message], *, full: bool = True, **options: Any) -> Lived:
        """The same agent later, with more messages."""
        self.given, self.host = [*self.given, *more], [*self.host, *records(more)]
        self.sent = (
            asked_when_full(self.live, self.host, **options)
            if full
            else self.live.before_request(self.host)
        )
        return self


def asked_when_full(
    live: Compactor, host: list[Record], after_turn: bool = False, **declared: Any
) -> list[Record]:
    """The next request, after the provider reported one that nearly fills the window."""
    live.before_request(host, **declared)
    live.report_usage({"prompt_tokens": live.window - 1, "completion_tokens": 1})
    if after_turn:
        live.after_turn(host)
    return live.before_request(host, **declared)


def lived(
    preset: Preset | str,
    messages: Sequence[Message],
    says: Sequence[str | Exception] = ("what happened",) * 3,
    *,
    full: bool = True,
    by_hand: bool = False,
    keep: int | None = None,
    window: int | None = 128_000,
    instructions: str = "",
    after_turn: bool = False,
    system: str | None = None,
    **options: Any,
) -> Lived:
    """A conversation handed over at once: compacted by hand, when the window is reported full, or
    when it is due.

    Args:
        preset: how to compact.
        messages: the conversation.
        says: what the model answers.
        full: whether the provider reports that the window is nearly full; if not, the trigger goes
            by the estimate.
        by_hand: whether the user compacts.
        keep: tokens of newest messages to keep; None leaves it to the preset.
        window: tokens; None for what the preset's document says.
        instructions: what the summary should dwell on.
        after_turn: whether the turn is over then.
        system: the system prompt beside the messages.
        options: of the compactor.
    """
    model, host, given = Scripted(says), records(messages), list(messages)
    set_keep = None if by_hand else keep
    settings = Settings(
        keep_recent=set_keep,
        instructions="" if by_hand else instructions,
        hysteresis=0.0,
        last_resort=False,
    )
    live = Compactor(preset, model=model, window=window, settings=settings, **options)
    if by_hand:
        live.compact(instructions, keep, messages=host)
        sent = live.before_request(host, system=system)
    elif full:
        sent = asked_when_full(live, host, after_turn, system=system)
    else:
        sent = live.before_request(host, system=system)
        if after_turn:
            live.after_turn(host)
            sent = live.before_request(host, system=system)
    return Lived(live, model, given, host, sent)


def tokens(preset: Preset | str, *messages: Message | Record) -> int:
    """How large a preset takes these messages to be."""
    live = Compactor(preset, model=Scripted([]), window=10**9)
    live.before_request(
        [message if isinstance(message, dict) else record(message) for message in messages]
    )
    return live.tokens
