"""A natural replay whose agent looks up what its context does not tell, at the cost of steps,
tokens and dollars.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from workbench.engine.compaction.archive import Archive
from workbench.engine.compaction.recall import TOOL
from workbench.engine.compaction.strategy import Moment, Preset
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import size_by
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    SaidBlock,
    Summary,
    Text,
    ToolCall,
    said_text,
)
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import (
    answer_tokens,
    head_tokens,
    summary_charges,
    thinking_left,
)
from workbench.evaluation.metrics.costs.request_charge import (
    charge,
    seconds_between,
)
from workbench.evaluation.metrics.paging import TOOL as SCHEMA_TOKENS
from workbench.evaluation.metrics.paging import query_for, shown_features
from workbench.evaluation.metrics.view import View
from workbench.evaluation.metrics.work_exam.reading import context_text
from workbench.evaluation.replays.natural import Walk
from workbench.lab.simulation.needs import NeededThing, Needs, Origin, exchange

MOST_TRIES = 3
"""Times that a call is made for one action; where a thing is lost again after as many, it is a
spiral and is cut off.

It is the call that is counted: an action that uses a hundred names of one file does not read it
three hundred times.
"""

How: TypeAlias = Literal["call", "recall", "spiral"] | Origin


@dataclass(frozen=True, slots=True)
class LookUp:
    """What the agent did about a thing that its context did not tell.

    Attributes:
        by: `call` (a recorded call, made again), `recall` (a call to the archive), `spiral` (cut
            off), or, where no call brings it back, who said it.
        source: index of the recorded message whose content the call gave; -1 without one.
        tokens: of the call and its answer.
        compaction: number of the compaction before it.
    """

    thing: NeededThing
    by: How
    compaction: int
    tool: str = ""
    source: int = -1
    tokens: int = 0


class ConsequenceWalk(Walk):
    """The replay of one session, in which each action waits until its context tells what it uses.

    Attributes:
        look_ups: all look-ups, and what could not be looked up, in order.
        answers: for each step the tokens of the call that looks; None where it is the recorded
            answer.
        detours: for each compaction the look-ups before the work went on; None where nothing older
            was used any more.
    """

    def __init__(
        self,
        prepared: Prepared,
        preset: Preset,
        model: Model,
        needs: Needs,
        window: int,
    ) -> None:
        sizing = prepared.sizing
        if preset.strategy.recall:
            sizing = replace(sizing, overhead=sizing.overhead + SCHEMA_TOKENS)
        super().__init__(prepared.session, preset, model, sizing, window=window)
        self.needs = needs
        self.look_ups: list[LookUp] = []
        self.answers: list[int | None] = []
        self.detours: list[int | None] = []
        self._given_up: set[str] = set()
        self._told: set[str] = set()
        self._copies: dict[str, int] = {}
        self._made: dict[int, Message] = {}
        self._kept: set[int] = set()
        self._new_texts: list[str] = []
        self._new_origins: list[int | None] = []
        self._working = True
        self._has_compacted = False
        self._archive = Archive({}, self.sizing.count)

    def consider(self, moment: Moment) -> None:
        """Ask the trigger; what a compaction leaves is what the agent knows from there on."""
        event_count = len(self.events)
        super().consider(moment)
        if len(self.events) > event_count:
            self._given_up.clear()
            self._told.clear()
            self.detours.append(None)
            self._working = False
            self._has_compacted = True
            self._look_at(self.sent_context.messages)

    def pass_by(self) -> None:
        """What a compaction lost in what was copied is looked up by the requests behind it."""
        detour_count = len(self.detours)
        super().pass_by()
        del self.detours[detour_count:]
        self._working = True

    def request(self) -> None:
        """One step; by default its answer is the recorded one."""
        super().request()
        self.answers.append(None)

    def take_in(
        self,
        message: Message,
        size: int,
        preset_size: int,
    ) -> None:
        """Go on with one more message."""
        super().take_in(message, size, preset_size)
        if self._has_compacted:
            self._see(message)

    def before_answer(self) -> None:
        """Look up what the next action uses and the context does not tell, until it tells it or
        nothing would.
        """
        if not self._has_compacted:
            return
        look_up_count = len(self.look_ups)
        tries = Counter[int]()
        recalled = set[str]()
        unanswerable = set[str]()
        self._told.clear()
        while thing := self._missing(unanswerable):
            if self.preset.strategy.recall and thing.name not in recalled:
                recalled.add(thing.name)
                self._recall(thing)
            elif thing.look is None:
                unanswerable.add(thing.name)
                self._note(thing, thing.origin)
            elif tries[thing.look.source] == MOST_TRIES:
                self._given_up.add(thing.name)
                unanswerable.add(thing.name)
                self._note(thing, "spiral")
            else:
                look = thing.look
                tries[look.source] += 1
                self._ask(thing, "call", look.call, look.blocks, look.tokens, look.source)
        self._count_detour(len(self.look_ups) - look_up_count)

    def view(self) -> View:
        """What the agent's context holds now."""
        return View(
            kept=frozenset(self._kept),
            texts=tuple(self._new_texts),
            generated=(),
            from_message=tuple(self._new_origins),
        )

    def _missing(self, unanswerable: set[str]) -> NeededThing | None:
        skipped_names = self._told | unanswerable | self._given_up
        thing = self.needs.missing(self.position, self.view(), self._shown_text, skipped_names)
        self._told = skipped_names - unanswerable - self._given_up
        return thing

    def _shown_text(self) -> str:
        """The context as a model is shown it."""
        return context_text(self.sent_context.messages)

    def _note(
        self,
        thing: NeededThing,
        by: How,
        tool: str = "",
        source: int = -1,
        tokens: int = 0,
    ) -> None:
        self.look_ups.append(LookUp(thing, by, len(self.events) - 1, tool, source, tokens))

    def _count_detour(self, looked: int) -> None:
        """The work goes on with the first action that uses something from before the compaction
        and lacks nothing.
        """
        if self._working:
            return
        if not looked and not self.needs.old(self.position, self.events[-1].at):
            return
        earlier_look_ups = self.detours[-1] or 0
        self.detours[-1] = earlier_look_ups + looked
        self._working = not looked

    def _recall(self, thing: NeededThing) -> None:
        """One call to the archive, with the words of the action that lead to the thing and that
        the context shows.
        """
        self._archive = self._archive.grown(self.sent_context.archive)
        if not thing.item:
            return
        query = query_for(thing.item, shown_features(self.needs.history, self.view()))
        if not query:
            return
        passages = self._archive.search(query)
        if not passages:
            return
        answer = "\n\n".join(passage.text for passage in passages)
        call = ToolCall("", TOOL, {"query": query})
        self._ask(thing, "recall", call, (Text(answer),))

    def _ask(
        self,
        thing: NeededThing,
        by: How,
        call: ToolCall,
        blocks: tuple[SaidBlock, ...],
        tokens: tuple[int, int] | None = None,
        source: int = -1,
    ) -> None:
        """One more request: the agent calls, hears the result, and its context may be compacted
        before it goes on.
        """
        question, result = exchange(len(self.look_ups), call, blocks)
        if tokens is None:
            tokens = self.sizing.count(question), self.sizing.count(result)
        call_tokens, result_tokens = tokens
        if source >= 0:
            self._copies[result.id] = source
        self._note(thing, by, call.name, source, call_tokens + result_tokens)
        super().request()
        self.answers.append(call_tokens)
        self._hear(question, call_tokens)
        self._hear(result, result_tokens)
        moment: Moment = "before_request"
        if "after_tools" in self.preset.moments:
            moment = "after_tools"
        self.consider(moment)

    def _hear(self, message: Message, size: int) -> None:
        """Take in a message of a look-up; a preset may count it in its own way."""
        self._made[id(message)] = message
        preset_size = size
        if self.preset.count is not None:
            preset_size = size_by(self.preset.count, message)
        self.take_in(message, size, preset_size)

    def _look_at(self, messages: list[Message]) -> None:
        self._kept = set()
        self._new_texts = []
        self._new_origins = []
        for message in messages:
            self._see(message)

    def _see(self, message: Message) -> None:
        """A recorded message as it was, or looked up again, is known by its index; of all others
        the text is new.

        A call that looks tells nothing itself: it names what it looks for.
        """
        is_look_up = id(message) in self._made
        copied_index = self._copies.get(message.id)
        index = self.session.place.get(id(message))
        if index is None and is_look_up:
            index = copied_index
        if index is not None:
            self._kept.add(index)
            return
        if is_look_up and isinstance(message, AssistantMessage):
            return
        origin = None
        if not isinstance(message, Summary):
            origin = self.session.index_of.get(message.id, copied_index)
        self._new_texts.append(said_text(message))
        self._new_origins.append(origin)


class SimulationBill(NamedTuple):
    """USD of all requests and summaries, and of the requests that look."""

    usd: float
    looking: float


def bill(walk: ConsequenceWalk, pricing: Pricing) -> SimulationBill | None:
    """Price a simulation; None without a known price or without requests.

    The first request for an action waits as long as the recorded one did, those behind it do not
    wait.
    """
    tariff = pricing.tariff
    replay = walk.replay()
    if tariff is None or not walk.steps:
        return None
    head = head_tokens(replay, pricing)
    waits = _waits(walk.session)
    recorded_outputs = dict(zip(walk.session.requests, answer_tokens(replay), strict=True))
    thought_from = thinking_left(walk.session, walk.steps, pricing.rules)
    summary_usd, _ = summary_charges(replay, pricing)
    usd = sum(summary_usd.values())
    looking_usd = 0.0
    earlier_prompt = 0
    for number, (step, look_up_tokens) in enumerate(zip(walk.steps, walk.answers, strict=True)):
        reusable_tokens = step.prefix_reused
        for earlier_step in walk.steps[thought_from.get(number, number) : number]:
            reusable_tokens = min(reusable_tokens, earlier_step.tokens_sent)
        output_tokens = look_up_tokens
        if output_tokens is None:
            output_tokens = recorded_outputs[step.index]
        step_usd = charge(
            tariff,
            pricing.rules,
            step.tokens_sent,
            reusable_tokens,
            earlier_prompt,
            head=head,
            waited=waits[step.index],
            output=output_tokens,
        ).usd
        usd += step_usd
        if look_up_tokens is not None:
            looking_usd += step_usd
        if waits[step.index] is not None:
            waits[step.index] = 0.0
        earlier_prompt = step.tokens_sent
    return SimulationBill(usd, looking_usd)


def _waits(session: Session) -> dict[int, float | None]:
    """For each request, by its index, the seconds since the answer before it."""
    waits: dict[int, float | None] = {}
    earlier_answer = None
    for index in session.requests:
        answer = session.messages[index]
        waits[index] = seconds_between(earlier_answer, answer)
        earlier_answer = answer
    return waits
