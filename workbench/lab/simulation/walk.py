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
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    SaidBlock,
    Summary,
    Text,
    ToolCall,
    said_text,
)
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.replay_cost import (
    answer_tokens,
    charge,
    head_tokens,
    seconds_between,
    summary_charges,
    thinking_left,
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
        self, prepared: Prepared, preset: Preset, model: Model, needs: Needs, window: int
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
        self._new: list[tuple[str, int | None]] = []
        self._working = True
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
            self._look_at(self.sent.messages)

    def request(self) -> None:
        """One step; by default its answer is the recorded one."""
        super().request()
        self.answers.append(None)

    def take_in(self, message: Message, size: int, own: int) -> None:
        """Go on with one more message."""
        super().take_in(message, size, own)
        if self.events:
            self._see(message)

    def before_answer(self) -> None:
        """Look up what the next action uses and the context does not tell, until it tells it or
        nothing would.
        """
        if not self.events:
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
        texts, origins = zip(*self._new, strict=True) if self._new else ((), ())
        return View(frozenset(self._kept), texts, (), origins)

    def _missing(self, unanswerable: set[str]) -> NeededThing | None:
        skipped_names = self._told | unanswerable | self._given_up
        thing = self.needs.missing(
            self.at, self.view(), lambda: context_text(self.sent.messages), skipped_names
        )
        self._told = skipped_names - unanswerable - self._given_up
        return thing

    def _note(
        self, thing: NeededThing, by: How, tool: str = "", source: int = -1, tokens: int = 0
    ) -> None:
        self.look_ups.append(LookUp(thing, by, len(self.events) - 1, tool, source, tokens))

    def _count_detour(self, looked: int) -> None:
        """The work goes on with the first action that uses something from before the compaction
        and lacks nothing.
        """
        if self._working or not (looked or self.needs.old(self.at, self.events[-1].at)):
            return
        self.detours[-1] = (self.detours[-1] or 0) + looked
        self._working = not looked

    def _recall(self, thing: NeededThing) -> None:
        """One call to the archive, with the words of the action that lead to the thing and that
        the context shows.
        """
        self._archive = self._archive.grown(self.sent.archive)
        if not thing.item:
            return
        query = query_for(thing.item, shown_features(self.needs.history, self.view()))
        passages = self._archive.search(query) if query else []
        if passages:
            blocks = (Text("\n\n".join(passage.text for passage in passages)),)
            self._ask(thing, "recall", ToolCall("", TOOL, {"query": query}), blocks)

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
        pair: tuple[Message, Message] = exchange(len(self.look_ups), call, blocks)
        call_tokens, result_tokens = tokens or (
            self.sizing.count(pair[0]),
            self.sizing.count(pair[1]),
        )
        if source >= 0:
            self._copies[pair[1].id] = source
        self._note(thing, by, call.name, source, call_tokens + result_tokens)
        super().request()
        self.answers.append(call_tokens)
        count = self.preset.count
        for message, size in zip(pair, (call_tokens, result_tokens), strict=True):
            self._made[id(message)] = message
            self.take_in(message, size, count(message) if count else size)
        self.consider("after_tools" if "after_tools" in self.preset.moments else "before_request")

    def _look_at(self, messages: list[Message]) -> None:
        self._kept, self._new = set(), []
        for message in messages:
            self._see(message)

    def _see(self, message: Message) -> None:
        """A recorded message as it was, or looked up again, is known by its index; of all others
        the text is new.

        A call that looks tells nothing itself: it names what it looks for.
        """
        index = self.session.place.get(id(message))
        if index is None and id(message) in self._made:
            index = self._copies.get(message.id)
        if index is not None:
            self._kept.add(index)
        elif not (id(message) in self._made and isinstance(message, AssistantMessage)):
            origin = self.session.index_of.get(message.id, self._copies.get(message.id))
            self._new.append((said_text(message), None if isinstance(message, Summary) else origin))


class SimulationBill(NamedTuple):
    """USD of all requests and summaries, and of the requests that look."""

    usd: float
    looking: float


def bill(walk: ConsequenceWalk, pricing: Pricing) -> SimulationBill | None:
    """Price a simulation; None without a known price or without requests.

    The first request for an action waits as long as the recorded one did, those behind it do not
    wait.
    """
    tariff, replay = pricing.tariff, walk.replay()
    if tariff is None or not walk.steps:
        return None
    head = head_tokens(replay, pricing)
    places = walk.session.requests
    answers = [walk.session.messages[place] for place in places]
    waits = dict(zip(places, map(seconds_between, [None, *answers], answers), strict=False))
    recorded_outputs = dict(zip(places, answer_tokens(replay), strict=True))
    thought_from = thinking_left(walk.session, walk.steps, pricing.rules)
    usd = sum(summary_charges(replay, pricing)[0].values())
    looking_usd = 0.0
    earlier_prompt = 0
    for number, (step, look_up_tokens) in enumerate(zip(walk.steps, walk.answers, strict=True)):
        since = walk.steps[thought_from.get(number, number) : number]
        step_usd = charge(
            tariff,
            pricing.rules,
            step.tokens_sent,
            min([step.prefix_reused, *(earlier.tokens_sent for earlier in since)]),
            earlier_prompt,
            head=head,
            waited=waits[step.index],
            output=recorded_outputs[step.index] if look_up_tokens is None else look_up_tokens,
        ).usd
        usd += step_usd
        if look_up_tokens is not None:
            looking_usd += step_usd
        if waits[step.index] is not None:
            waits[step.index] = 0.0
        earlier_prompt = step.tokens_sent
    return SimulationBill(usd, looking_usd)
