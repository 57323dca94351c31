"""How a conversation is put to a language model that is to summarise it, and how the summary is presented."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import accumulate
from string import Template

from workbench.compaction.clip import head
from workbench.compaction.span_selection import SummaryInput
from workbench.compaction.stage import Budget
from workbench.models.model import Purpose
from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Message,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    plain_text,
)

_TAGS = re.compile(r"<(?=\s*/?\s*(?:conversation|previous-summary)\b)", re.IGNORECASE)
_LABELS = re.compile(r"(?m)^(?=\[(?:User|Assistant|System|Summary|Result)\b[^\]\n]*\]:)")


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, read once."""
    return files("workbench.compaction").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """What a language model is told when it is to summarise, and how its summary is presented to the agent.

    A system with a form of its own subclasses this and overrides `request`, or what else it does otherwise.

    Attributes:
        result_chars: characters of a tool result that are shown at most.
        argument_chars: characters of one tool argument.
        thinking_chars: characters of a thought; 0 leaves thoughts out.
        headings: name of the prompt file with one `Heading: what belongs there` a line; empty for none.
        lead: name of the prompt file with the sentence that stands above the summary in the context.
        split: name of the prompt file with the places of the two texts of a split turn.
        start: that of a turn's start which nothing stands before; empty where its summary has the form of any other.
        turn_headings: as `headings`, for the start of a turn; empty where none are expected of its summary.
        turn_prompt: name of the prompt file that asks for the summary of a turn's start.
        turn_focus: whether that summary is told what a user wants it to dwell on.
        focus_prompt: name of the prompt file that says what to dwell on.
        rules: names of the prompt files with what is not to be done.
        says_size: whether the prompt names the bound of the summary.
        window_chars: characters of transcript for each token of the window, some seven tenths of it; None for no bound.
        focus: what every summary should dwell on, besides what a user asks for.
    """

    result_chars: int = 2_000
    argument_chars: int = 400
    thinking_chars: int = 0
    headings: str = "headings"
    lead: str = "lead"
    split: str = "split"
    start: str = ""
    turn_headings: str = ""
    turn_prompt: str = "turn_prefix"
    turn_focus: bool = True
    focus_prompt: str = "focus"
    rules: tuple[str, ...] = ("rules",)
    says_size: bool = True
    window_chars: float | None = 2.1
    focus: str = ""

    @property
    def system(self) -> str:
        """The system prompt."""
        return prompt("system")

    @property
    def opening(self) -> str:
        """What is sent above the summary."""
        return prompt(self.lead) + "\n\n"

    @property
    def closing(self) -> str:
        """What is sent below it."""
        return ""

    @property
    def joined(self) -> str:
        """The template of a split turn's summary."""
        return prompt(self.split)

    @property
    def alone(self) -> str:
        """The template of a turn's start that nothing stands before; empty for that of any summary."""
        return prompt(self.start) if self.start else ""

    def sections(self, purpose: Purpose) -> tuple[str, ...]:
        """The headings that the summary should have."""
        expected = self.turn_headings if purpose == "turn_prefix" else self.headings
        return tuple(name for name, _ in self.outline(purpose)) if expected else ()

    def outline(self, purpose: Purpose) -> tuple[tuple[str, str], ...]:
        """The headings of its prompt file, each with what belongs there."""
        name = self.turn_headings if purpose == "turn_prefix" and self.turn_headings else self.headings
        lines = (line.partition(":") for line in prompt(name).splitlines())
        return tuple((name, about.strip()) for name, _, about in lines)

    def frame(self, given: SummaryInput) -> str:
        """The places of the answers in the summary's text."""
        if given.split:
            return self.joined
        return self.alone if given.only_prefix and self.alone else "{0}"

    def fill(self, given: SummaryInput, budget: Budget) -> Prompt:
        """The user prompt about all these messages, for a model with the budget's window."""
        bounded = self.window_chars is not None and budget.window > 0
        return Prompt(
            self,
            "update" if given.previous else "summary",
            given.new,
            given.previous,
            "\n".join(part for part in (self.focus, budget.instructions) if part),
            most_chars=int((self.window_chars or 0) * budget.window) if bounded else None,
        )

    def request(self, filled: Prompt) -> str:
        """The user prompt's text."""
        parts = [f"<conversation>\n{self.transcript(filled.messages, filled.most_chars)}\n</conversation>"]
        if filled.previous:
            parts.append(f"<previous-summary>\n{harmless(filled.previous)}\n</previous-summary>")
        outline = "\n\n".join(f"## {name}\n({about})" for name, about in self.outline(filled.purpose))
        name = self.turn_prompt if filled.purpose == "turn_prefix" else filled.purpose
        parts.append(Template(prompt(name)).safe_substitute(sections=outline))
        parts += map(prompt, self.rules)
        if filled.max_tokens is not None and self.says_size:
            parts.append(Template(prompt("size")).substitute(tokens=filled.max_tokens))
        if filled.instructions:
            parts.append(Template(prompt(self.focus_prompt)).substitute(instructions=filled.instructions))
        return "\n\n".join(parts)

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """The messages as text, in which nothing can close the tag around it or pass for another speaker.

        Where that is longer than `most_chars`, results and arguments are cut shorter first, and then the oldest
        messages are left out, and the text says how many.
        """
        parts = [part for spoken in self._entries(messages, most_chars) for part in spoken]
        start = 0 if most_chars is None else _start(parts, most_chars)
        return "\n\n".join([f"[{start} earlier entries left out for length]", *parts[start:]] if start else parts)

    def left_out(self, messages: Sequence[Message], most_chars: int) -> int:
        """How many of the messages such a transcript does not show in whole."""
        entries = self._entries(messages, most_chars)
        start = _start([part for spoken in entries for part in spoken], most_chars)
        begins = accumulate(map(len, entries), initial=0)
        return sum(1 for begin, spoken in zip(begins, entries, strict=False) if spoken and begin < start)

    def _entries(self, messages: Sequence[Message], most_chars: int | None) -> list[list[str]]:
        """What is said of each message, with results and arguments cut until it fits or is cut to the least."""
        results, arguments = self.result_chars, self.argument_chars
        while True:
            entries = [list(self._spoken(message, results, arguments)) for message in messages]
            length = sum(len(part) + 2 for spoken in entries for part in spoken)
            if most_chars is None or length <= most_chars or results <= 120:
                return entries
            results, arguments = results // 4, arguments // 2

    def _spoken(self, message: Message, results: int, arguments: int) -> Iterator[str]:
        if isinstance(message, ToolResult):
            kind = "Result, failed" if message.is_error else "Result"
            yield f"[{kind} of {word(message.name or message.call_id)}]: {_cut(_words(message), results)}"
        elif isinstance(message, AssistantMessage):
            yield from self._answered(message, arguments)
        elif isinstance(message, Summary):
            yield f"[Summary]: {harmless(message.text)}"
        else:
            yield f"[{message.role.capitalize()}]: {harmless(_words(message))}"

    def _answered(self, message: AssistantMessage, arguments: int) -> Iterator[str]:
        for block in message.blocks:
            if isinstance(block, Thinking) and self.thinking_chars and block.text:
                yield f"[Assistant, thinking]: {_cut(block.text, self.thinking_chars)}"
        words = plain_text(message)
        if words:
            yield f"[Assistant]: {harmless(words)}"
        if message.calls:
            yield "[Assistant, calls]: " + "; ".join(_called(call, arguments) for call in message.calls)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A user prompt that is written when it is read, since it may be megabytes.

    Attributes:
        most_chars: the longest that the transcript may be; None for no bound.
    """

    template: PromptTemplate
    purpose: Purpose
    messages: tuple[Message, ...]
    previous: str = ""
    instructions: str = ""
    max_tokens: int | None = None
    most_chars: int | None = None
    _readers: list[None] = field(default_factory=list, compare=False, repr=False)

    def __call__(self) -> str:
        """The prompt."""
        self._readers.append(None)
        return self.template.request(self)

    def about_turn(self, messages: tuple[Message, ...]) -> Prompt:
        """The same about the start of a turn that goes on."""
        focus = self.instructions if self.template.turn_focus else ""
        return replace(self, purpose="turn_prefix", messages=messages, previous="", instructions=focus)

    @property
    def system(self) -> str:
        """The system prompt that goes with it."""
        return self.template.system

    @property
    def sections(self) -> tuple[str, ...]:
        """The headings that the summary should have."""
        return self.template.sections(self.purpose)

    def left_out(self) -> int:
        """How many of the messages it does not show in whole; 0 as long as nobody has read it."""
        return (
            0
            if self.most_chars is None or not self._readers
            else self.template.left_out(self.messages, self.most_chars)
        )


def harmless(text: str) -> str:
    """Recorded text that can neither close our tags nor begin a line as another speaker."""
    return _LABELS.sub(" ", _TAGS.sub("&lt;", text))


def _called(call: ToolCall, chars: int) -> str:
    shown = (f"{word(str(name))}={_cut(_argument(value), chars)}" for name, value in call.arguments.items())
    return f"{word(call.name)}({', '.join(shown)})"


def json_call(call: ToolCall) -> str:
    """A call as `name(argument=JSON, ...)`."""
    values = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
    return f"{call.name}({', '.join(values)})"


def _argument(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _words(message: Message) -> str:
    pictures = sum(isinstance(block, Image) for block in message.blocks)
    words = "\n".join(block.text for block in message.blocks if isinstance(block, Text))
    return words + (f" [{pictures} image{'s' if pictures > 1 else ''}]" if pictures else "")


def word(text: str) -> str:
    """A name on one line, made harmless."""
    return harmless(" ".join(text.split()))


def _cut(text: str, chars: int) -> str:
    if len(text) <= chars:
        return harmless(text)
    shown = head(text, chars)
    return f"{harmless(shown)} [... {len(text) - len(shown)} more characters]"


def _start(parts: Sequence[str], most_chars: int) -> int:
    """The first of the newest entries that fit together."""
    start, left = len(parts), most_chars
    while start > 0 and len(parts[start - 1]) + 2 <= left:
        start -= 1
        left -= len(parts[start]) + 2
    return start
