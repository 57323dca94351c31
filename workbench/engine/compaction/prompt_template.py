"""How a conversation is put to a language model that is to summarise it, and how the summary is
presented.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import ClassVar, Literal, Self

from workbench.base.errors import SettingError
from workbench.engine.compaction.prompt_files import check_prompt, filled, prompt
from workbench.engine.compaction.summary_input import SummaryTask
from workbench.engine.compaction.transcript_text import (
    Clip,
    called_text,
    characters,
    cut_text,
    harmless,
    word,
    words_of,
)
from workbench.engine.models.model import Purpose, SummaryRequest
from workbench.engine.transcript.context_lookup import tokens_of_text
from workbench.engine.transcript.message import (
    Message,
    argument_texts,
    counted_text,
    plain_text,
)

SHORTEST = 120
"""Characters below which results and arguments are not cut any shorter to make a transcript fit."""
LIVE_SHARE = 0.9
"""The part of the window that a transcript takes at most where the original asks with its live
history.
"""
LEAST_ANSWER = 600
"""Tokens of an answer that a window must leave beside a conversation that is sent as it is."""
MOST_CHARS_PER_TOKEN = 4.0
USUAL_CHARS_PER_TOKEN = 3.0
LEAST_CHARS_PER_TOKEN = 0.5


_NAMES_OF_PROMPTS = ("lead", "split", "turn_prompt", "focus_prompt")
"""Settings that are each the name of a prompt file."""
_NAMES_OR_EMPTY = ("headings", "start", "turn_headings")
"""Settings that are the same, or empty."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """What a language model is asked for, and how its summary is presented to the agent.

    A system with another form subclasses this and overrides what differs. The texts are prompt
    files, named here.

    Attributes:
        result_chars: the most characters of a tool result, or `whole`.
        argument_chars: the same of one argument of a call; with 0 a call is its tool's name.
        message_chars: the same of what the user or the model says.
        thoughts: whether the model's thoughts are shown.
        headings: one `Heading: what belongs there` a line; empty for none.
        lead: the sentence above the summary in the context.
        split: the places of the two texts of a split turn.
        start: the place of a turn's start that nothing precedes; empty where it has the form of any
            summary.
        turn_headings: as `headings`, for the start of a turn; empty where its summary needs none.
        turn_prompt: asks for the summary of a turn's start.
        turn_focus: whether that request holds the user's instructions too.
        focus_prompt: introduces the user's instructions.
        rules: what the model must not do.
        says_size: whether the prompt names the bound of the summary.
        window_share: the part of the window that the transcript takes at most; None for no bound.
        too_long: what becomes of a longer one: texts are cut `shorter` before the oldest messages
            go, or the `oldest` go at once.
        focus: instructions for every summary, besides the user's.
        asks: a text that is asked in place of the headings and rules; empty for these. The start of
            a turn is asked about as ever.
        most_chars: the longest that the transcript may be; None for no bound.
        model: the name of another model that writes; empty for the present one.
        request: what the model is sent: a `transcript` of what it reads, or the `conversation`
            itself with the question as its last message. A conversation that does not fit the
            window is sent as a transcript.
    """

    result_chars: Clip = 8_000
    argument_chars: Clip = 2_000
    message_chars: Clip = "whole"
    thoughts: bool = False
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
    window_share: float | None = 0.7
    too_long: Literal["shorter", "oldest"] = "shorter"
    focus: str = ""
    asks: str = ""
    most_chars: int | None = None
    model: str = ""
    request: Literal["transcript", "conversation"] = "transcript"
    separator: ClassVar[str] = "\n\n"

    def __post_init__(self) -> None:
        for name in ("result_chars", "argument_chars", "message_chars"):
            clip: Clip = getattr(self, name)
            if clip != "whole" and clip < 0:
                raise SettingError(f"{name} is {clip}; it must be at least 0, or 'whole'")
        for name in (*_NAMES_OF_PROMPTS, *_NAMES_OR_EMPTY):
            file = getattr(self, name)
            if file or name in _NAMES_OF_PROMPTS:
                check_prompt(name, file)
        for rule in self.rules:
            check_prompt("rules", rule)

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

    def sections(self, purpose: Purpose) -> tuple[str, ...]:
        """The headings that the summary should have."""
        file = self.headings
        asks_own_text = bool(self.asks)
        if purpose == "turn_prefix":
            file = self.turn_headings
            asks_own_text = False
        if not file or asks_own_text:
            return ()
        return tuple([name for name, _ in self.outline(purpose)])

    def outline(self, purpose: Purpose) -> tuple[tuple[str, str], ...]:
        """The headings of its prompt file, each with what belongs there."""
        file = self.headings
        if purpose == "turn_prefix" and self.turn_headings:
            file = self.turn_headings
        outline: list[tuple[str, str]] = []
        if not file:
            return ()
        for line in prompt(file).splitlines():
            name, _, about = line.partition(":")
            outline.append((name, about.strip()))
        return tuple(outline)

    def fitted(self, task: SummaryTask) -> SummaryTask:
        """The task with the room that the window leaves beside the conversation and the prompt;
        with a transcript where that is too little.
        """
        conversation = task.conversation
        if conversation is None or task.budget.window <= 0:
            return task
        main_request, _ = self.requests(task)
        prompt_tokens = tokens_of_text(main_request.prompt, task.context.count)
        room = task.budget.window - conversation.tokens - prompt_tokens
        if room < LEAST_ANSWER:
            return replace(task, conversation=None)
        return replace(task, conversation=replace(conversation, room=room))

    def frame(self, task: SummaryTask) -> str:
        """The places of the answers in the summary's text."""
        shown_input = task.model_input
        if task.conversation is not None:
            return "{0}"
        if shown_input.split:
            return prompt(self.split)
        is_alone = shown_input.prefix and not shown_input.history and not shown_input.earlier
        if is_alone and self.start:
            return prompt(self.start)
        return "{0}"

    def requests(self, task: SummaryTask) -> tuple[SummaryRequest, SummaryRequest]:
        """The request about all messages, and the one about the start of a turn alone."""
        shown_input = task.model_input
        wishes = (self.focus, task.budget.instructions)
        focus = "\n".join(filter(None, wishes))
        purpose: Purpose = "update" if shown_input.previous else "summary"
        write = self._bounded(task)
        main_request = SummaryRequest(
            purpose=purpose,
            system=self.system,
            write=write,
            messages=shown_input.new,
            previous=shown_input.previous,
            instructions=focus,
            sections=self.sections(purpose),
            model=self.model,
        )
        turn_request = SummaryRequest(
            purpose="turn_prefix",
            system=self.system,
            write=write,
            messages=shown_input.prefix,
            instructions=focus if self.turn_focus else "",
            sections=self.sections("turn_prefix"),
            model=self.model,
        )
        if task.conversation is not None:
            main_request = replace(
                main_request,
                conversation=task.conversation.messages,
                is_agents_own=task.conversation.is_agents_own and not self.model,
            )
        return main_request, turn_request

    def _bounded(self, task: SummaryTask) -> Self:
        """The same, with the longest transcript that the window has room for."""
        if self.window_share is None or task.budget.window <= 0:
            return self
        tokens = self.window_share * task.budget.window
        return replace(self, most_chars=int(tokens * _chars_per_token(task)))

    def __call__(self, request: SummaryRequest) -> str:
        """The user prompt's text: what is shown, and what is asked about it."""
        question = self._own_question(request) or self.question(request)
        if not request.conversation:
            return f"{self.shown(request)}\n\n{question}"
        introduction = prompt("conversation")
        kept_count = _kept_count(request)
        if kept_count:
            introduction += " " + filled("conversation_kept", count=kept_count)
        return f"{introduction}\n\n{question}"

    def shown(self, request: SummaryRequest) -> str:
        """The transcript, and the earlier summary below it."""
        transcript = self.transcript(request.messages, self.most_chars)
        text = f"<conversation>\n{transcript}\n</conversation>"
        if not request.previous:
            return text
        previous = harmless(request.previous)
        return f"{text}\n\n<previous-summary>\n{previous}\n</previous-summary>"

    def question(self, request: SummaryRequest) -> str:
        """What is asked about the transcript or the conversation above it."""
        headings = [f"## {name}\n({about})" for name, about in self.outline(request.purpose)]
        file: str = request.purpose
        if request.purpose == "turn_prefix":
            file = self.turn_prompt
        elif request.purpose == "update" and request.conversation:
            file = "conversation_update"
        parts = [filled(file, sections="\n\n".join(headings))]
        parts += map(prompt, self.rules)
        return "\n\n".join([*parts, *self._wishes(request)])

    def _own_question(self, request: SummaryRequest) -> str:
        """The user's own text with the wishes of a request; empty where there is none."""
        if not self.asks or request.purpose == "turn_prefix":
            return ""
        return "\n\n".join([self.asks, *self._wishes(request)])

    def _wishes(self, request: SummaryRequest) -> list[str]:
        """How long the summary may be, and what the user wants of it."""
        parts = []
        if request.max_tokens is not None and self.says_size:
            parts.append(filled("size", tokens=request.max_tokens))
        if request.instructions:
            parts.append(filled(self.focus_prompt, instructions=request.instructions))
        return parts

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """The messages as text, in which nothing can close the tag around it or pass for another
        speaker.

        Above `most_chars`, results and arguments are cut shorter first, unless the oldest go at
        once; then the oldest messages are left out.
        """
        entries, start = self._entries(messages, most_chars)
        texts = list(chain.from_iterable(entries))
        if start:
            texts = [f"[{start} earlier entries left out for length]", *texts[start:]]
        return self.separator.join(texts)

    def left_out(self, request: SummaryRequest) -> int:
        """How many of the messages the prompt does not show in whole."""
        if self.most_chars is None or request.conversation:
            return 0
        entries, start = self._entries(request.messages, self.most_chars)
        left_out = entry_count = 0
        for message_entries in entries:
            if message_entries and entry_count < start:
                left_out += 1
            entry_count += len(message_entries)
        return left_out

    def _entries(
        self, messages: Sequence[Message], most_chars: int | None
    ) -> tuple[list[list[str]], int]:
        """The entries of each message, cut shorter until they fit; and the first that fits."""
        results, arguments = characters(self.result_chars), characters(self.argument_chars)
        while True:
            entries: list[list[str]] = []
            for message in messages:
                message_entries = list(self._thoughts(message))
                message_entries += self.spoken(message, results, arguments)
                entries.append(message_entries)
            lengths = [len(text) + 2 for text in chain.from_iterable(entries)]
            if most_chars is None or sum(lengths) <= most_chars:
                return entries, 0
            results = min(results, _longest_result(messages))
            arguments = min(arguments, _longest_argument(messages))
            if self.too_long == "oldest" or max(results, arguments) <= SHORTEST:
                newest_first = list(accumulate(reversed(lengths)))
                return entries, len(lengths) - bisect_right(newest_first, most_chars)
            results = results // 2
            arguments = arguments * 7 // 10

    def _thoughts(self, message: Message) -> Iterator[str]:
        """The entry of a message's thoughts, where they are shown."""
        if not self.thoughts:
            return
        texts: list[str] = []
        for block in message.blocks:
            if block.type == "thinking" and block.text:
                texts.append(block.text)
        if texts:
            yield "[Assistant thinking]: " + harmless("\n".join(texts))

    def shown_result(self, text: str, chars: int) -> str:
        """A result's text, cut to so many characters."""
        return self.shortened(text, chars)

    def shown_words(self, text: str) -> str:
        """What the user or the model says, cut to its most characters."""
        return self.shortened(text, characters(self.message_chars))

    def shortened(self, text: str, chars: int) -> str:
        """A text, cut to so many characters."""
        return cut_text(text, chars)

    def spoken(
        self,
        message: Message,
        results: int,
        arguments: int,
    ) -> Iterator[str]:
        """One message's words, calls or result, cut to so many characters."""
        if message.role == "tool":
            kind = "Result, failed" if message.is_error else "Result"
            tool = word(message.name or message.call_id)
            yield f"[{kind} of {tool}]: {self.shown_result(words_of(message), results)}"
        elif message.role == "assistant":
            words = plain_text(message)
            if words:
                yield f"[Assistant]: {self.shown_words(words)}"
            if message.calls:
                calls = [called_text(call, arguments) for call in message.calls]
                yield "[Assistant, calls]: " + "; ".join(calls)
        elif message.role == "summary":
            yield f"[Summary]: {harmless(message.text)}"
        else:
            yield f"[{message.role.capitalize()}]: {self.shown_words(words_of(message))}"


def _kept_count(request: SummaryRequest) -> int:
    """How many messages of the conversation come after all that is to be summarised."""
    summarised_ids = {message.id for message in request.messages}
    count = 0
    for message in reversed(request.conversation):
        if message.id in summarised_ids:
            break
        count += 1
    return count


def _longest_result(messages: Sequence[Message]) -> int:
    longest = 0
    for message in messages:
        if message.role == "tool":
            longest = max(longest, len(plain_text(message)))
    return longest


def _longest_argument(messages: Sequence[Message]) -> int:
    longest = 0
    for message in messages:
        if message.role == "assistant":
            for call in message.calls:
                for text in argument_texts(call.arguments):
                    longest = max(longest, len(text))
    return longest


def _chars_per_token(task: SummaryTask) -> float:
    """Characters of a token of what the model is shown, without messages with pictures."""
    messages: list[Message] = []
    for message in task.model_input.new:
        if not any(block.type == "image" for block in message.blocks):
            messages.append(message)
    tokens = sum(task.context.sizes_of(messages))
    if not tokens:
        return USUAL_CHARS_PER_TOKEN
    chars = sum([len(counted_text(message)) for message in messages])
    return min(max(chars / tokens, LEAST_CHARS_PER_TOKEN), MOST_CHARS_PER_TOKEN)
