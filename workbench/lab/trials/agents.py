"""Agents that work on a task: one that follows the plan and reads its context for what it must
know, and any model.
"""

import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple, Protocol, TypeAlias

from workbench.base.errors import ModelError, Unanswered
from workbench.engine.compaction.recall import TOOL as RECALL
from workbench.engine.models.folder import Folder
from workbench.engine.models.model import Model, SummaryRequest
from workbench.engine.models.wrappers import innermost
from workbench.engine.transcript.message import Json
from workbench.evaluation.metrics.exam.item import Item, ItemKind
from workbench.evaluation.metrics.exam.sheet import ENOUGH, Sheet
from workbench.evaluation.metrics.exam.tokens import (
    features_of,
    is_chunk,
    lines_of,
    tokens,
)
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary
from workbench.lab.trials.task import Call, Hole, PlanStep, Turn

MOST = 2_000
"""Tokens of a model's answer."""
MakeResults: TypeAlias = Callable[[], Sequence[str]]
"""Makes the calls of an answer, and gives what came of them."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What an agent says next; without calls its turn is over.

    Attributes:
        usd: what its provider asked for it, None if unknown; 0.0 for an agent without a provider,
            which is priced.
    """

    words: str
    calls: tuple[Call, ...] = ()
    usd: float | None = 0.0


class Agent(Protocol):
    """Works on one task, turn by turn; it knows what it is sent, and nothing else of the
    conversation.
    """

    def begin(self, turn: Turn, /) -> None:
        """The user has spoken."""
        ...

    def answer(self, sent: Sequence[Json], tools: Sequence[Json], /) -> AgentAnswer:
        """What it does next.

        Raises:
            Unanswered: its provider gave no answer.
            ModelError: it can give none to this request.
        """
        ...

    def first_results(self, calls: Sequence[Call], make: MakeResults, /) -> Sequence[str]:
        """What it is told of its calls: what it was told when it made them before, or else the
        results made here.
        """
        ...

    def counts(self) -> Mapping[str, int]:
        """What it knows of its own work, by column of the table `trials`."""
        ...


class Reading(NamedTuple):
    """What a context tells of a hole: the candidate that it speaks for most, and whether it says
    enough to be sure.
    """

    value: str
    is_known: bool


class HoleReader:
    """Reads holes out of contexts: no model, and always the same answer to the same context."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def read(self, hole: Hole, texts: Sequence[str]) -> Reading:
        """What some texts tell of a hole, oldest first.

        The choice is among the answer and its look-alikes, whatever order they are in; of several
        values that the cue leads to, the newest holds. It is known where the context says at least
        half of what a line would that joins the cue to a candidate.
        """
        latest = _item(hole, "latest")
        sheet = Sheet([latest, _item(hole, "fact")], self._vocabulary)
        lines = sheet.look_up(_lines_said_last(texts))
        candidates = latest.candidates
        holds, weights = sheet.scores([lines])[:, : len(candidates)]

        def rank(number: int) -> tuple[float, float, str]:
            return holds[number], weights[number], _lot(candidates[number])

        numbers = range(len(candidates))
        best = max(numbers, key=rank)
        telling_line = sheet.look_up([f"{hole.cue}: {hole.answer}"])
        _, full_weights = sheet.scores([telling_line])
        enough = max(ENOUGH * full_weights.max(), 1e-9)
        is_known = bool(weights[best] >= enough)
        return Reading(candidates[best], is_known)


def _lines_said_last(texts: Sequence[str]) -> list[str]:
    """The lines of some texts, each once, where it is said last."""
    lines: list[str] = []
    for text in texts:
        lines += lines_of(text, headed=True)
    newest_first = list(dict.fromkeys(reversed(lines)))
    return newest_first[::-1]


def _item(hole: Hole, kind: ItemKind) -> Item:
    cue: dict[str, float] = {}
    for token in tokens(hole.cue):
        if is_chunk(token):
            cue.update(dict.fromkeys(features_of(token), 1.0))
    return Item(kind, hole.answer, hole.look_alikes, cue)


def _lot(text: str) -> str:
    """What decides between candidates of which a context says the same: nothing that knows which
    is true.
    """
    return sha256(text.encode()).hexdigest()


class ReaderAgent:
    """Carries the plan of the task, and fills each hole by what it reads in the context that it is
    sent.

    It acts on what it read, right or wrong. Where the context does not say enough it calls
    `recall`, if it has it, then what the plan says would tell it again, each once; then it does
    what one does who knows nothing of it (`Hole.default`), or writes the hole's name.
    """

    name = "reader"

    def __init__(self) -> None:
        self._reader = HoleReader()
        self._steps: deque[PlanStep] = deque()
        self._values: dict[str, str] = {}
        self._asked: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def begin(self, turn: Turn) -> None:
        """See `Agent`."""
        self._steps = deque(turn.steps)

    def first_results(self, calls: Sequence[Call], make: MakeResults) -> Sequence[str]:
        """See `Agent`."""
        return make()

    def counts(self) -> Mapping[str, int]:
        """`holes`, and those of them that were `misread` or `blind`; `look_ups` and `recalls`."""
        names = ("holes", "misread", "blind", "look_ups", "recalls")
        return {name: self._counts[name] for name in names}

    def answer(self, sent: Sequence[Json], tools: Sequence[Json]) -> AgentAnswer:
        """See `Agent`."""
        texts = list(texts_of(sent))
        words_so_far: list[str] = []
        while self._steps:
            step = self._steps[0]
            for hole in step.holes:
                if hole.name in self._values:
                    continue
                look_up = self._read(hole, texts, tools)
                if look_up is not None:
                    call = _filled(look_up, self._values)
                    return AgentAnswer("\n".join(words_so_far), (call,))
            words = _with(step.words, self._values)
            if words:
                words_so_far.append(words)
            values = self._values
            self._steps.popleft()
            self._values = {}
            self._asked = Counter()
            if step.call is not None:
                call = _filled(step.call, values)
                return AgentAnswer("\n".join(words_so_far), (call,))
        return AgentAnswer("\n".join(words_so_far) or "Done.")

    def _read(self, hole: Hole, texts: Sequence[str], tools: Sequence[Json]) -> Call | None:
        """Take the value that the context tells; or a call that may tell it, if one is left."""
        reading = self._reader.read(hole, texts)
        look_ups: list[tuple[str, Call]] = []
        if RECALL in map(name_of, tools):
            look_ups.append(("recalls", Call(RECALL, {"query": hole.cue})))
        if hole.look_up is not None:
            look_ups.append(("look_ups", hole.look_up))
        look_up_count = self._asked[hole.name]
        if not reading.is_known and look_up_count < len(look_ups):
            kind, call = look_ups[look_up_count]
            self._asked[hole.name] += 1
            self._counts[kind] += 1
            return call
        self._counts["holes"] += 1
        if reading.is_known:
            self._values[hole.name] = reading.value
            self._counts["misread"] += reading.value != hole.answer
        else:
            self._values[hole.name] = hole.default or hole.name
            self._counts["blind"] += 1
        return None


class ModelAgent:
    """A language model with the task's tools; it is told nothing of the plan.

    Args:
        model: that `ModelSettings.model` gives; its answers come from the cache where it was asked
            the same before.
    """

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model
        self._request: SummaryRequest | None = None

    def begin(self, turn: Turn) -> None:
        """See `Agent`."""

    def first_results(self, calls: Sequence[Call], make: MakeResults) -> Sequence[str]:
        """See `Agent`. Who answers in a folder answers in many sittings, each of which begins
        anew.
        """
        folder = innermost(self._model)
        if not calls or self._request is None or not isinstance(folder, Folder):
            return make()
        named_calls = []
        for call in calls:
            arguments = json.dumps(call.arguments, sort_keys=True)
            named_calls.append((call.tool, arguments))
        return folder.first_results(self._request, named_calls, make)

    def counts(self) -> Mapping[str, int]:
        """None: what it read, nobody knows."""
        return {}

    def answer(self, sent: Sequence[Json], tools: Sequence[Json]) -> AgentAnswer:
        """See `Agent`."""
        chat_text = json.dumps([list(sent), list(tools)], sort_keys=True, ensure_ascii=False)
        request = SummaryRequest(
            purpose="question",
            system="",
            write=lambda _: chat_text,
            max_tokens=MOST,
            chat=tuple(sent),
            tools=tuple(tools),
        )
        self._request = request
        try:
            completion = self._model.complete(request)
        except ModelError as error:
            if error.outage:
                raise Unanswered(str(error)) from error
            raise
        calls = tuple(Call(name, _arguments(text)) for name, text in completion.calls)
        return AgentAnswer(completion.text, calls, completion.usd)


def _arguments(text: str) -> Mapping[str, str]:
    """The arguments of a call as a model wrote them; none where that is no JSON object."""
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(arguments, dict):
        return {}
    return arguments


def name_of(tool: Json) -> str:
    """The name in a tool's schema."""
    return str(tool["function"]["name"])


def _filled(call: Call, values: Mapping[str, str]) -> Call:
    arguments = {name: _with(text, values) for name, text in call.arguments.items()}
    return Call(call.tool, arguments)


def _with(text: str, values: Mapping[str, str]) -> str:
    """A template with its holes filled; braces that are no hole's stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def texts_of(messages: Sequence[Json]) -> Iterator[str]:
    """What chat messages say, their calls' arguments as well."""
    for message in messages:
        content = message.get("content")
        parts = content
        if not isinstance(content, list):
            parts = [{"text": content}]
        for part in parts:
            if isinstance(part, dict) and part.get("text"):
                yield str(part["text"])
        for call in message.get("tool_calls") or ():
            function = call["function"]
            yield f"{function['name']} {function['arguments']}"
