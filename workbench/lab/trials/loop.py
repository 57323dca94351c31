"""One trial: an agent works on a task, with real tools, and a compactor keeps its context within
a window.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.base.errors import ModelError
from workbench.engine.compaction.recall import TOOL as RECALL
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.cache_rules import rules_for
from workbench.engine.models.model import Model
from workbench.engine.models.prices import Tariff
from workbench.engine.transcript.message import Json
from workbench.evaluation.metrics.costs.replay_cost import summary_usd
from workbench.evaluation.metrics.costs.request_charge import charge
from workbench.lab.trials.agents import Agent, AgentAnswer
from workbench.lab.trials.helper_client import HelperWorkspace
from workbench.lab.trials.task import Call, PlayedTurn, TrialTask, WorkspaceEnded
from workbench.lab.trials.tools import plain, schemas, shortened, used, whole_characters
from workbench.lab.trials.writer import SummaryWriter
from workbench.live.compactor import Compactor
from workbench.live.events import CompactionEnded, Event
from workbench.live.settings import Settings

CHARACTERS = 4
"""Of a token, about."""
NOT_MADE = "error: the trial was stopped"
LONGEST_WORDS = 100_000
"""Characters of what an agent says at once; more is cut off."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a trial is stopped: after so many answers of the agent, or so many seconds.

    Attributes:
        output: characters of a result that are shown; None for all that the tools give.
    """

    steps: int = 400
    seconds: float = 600.0
    output: int | None = None


@dataclass(slots=True)
class Trial:
    """What happened in one trial.

    Attributes:
        messages: the whole conversation, as no compaction ever changed it.
        start: how many of them the beginning has.
        opening: what the agent was sent first: all that it knew when it began.
        calls: the tool calls that were made, `recall` and look-ups among them, in order, also those
            of the beginning.
        steps: answers of the agent.
        tokens: of all requests and answers together, `output` of the answers, `peak` of the largest
            request.
        usd: of all requests, answers and summaries; None if one of them is unknown.
        compactions: that changed the context.
        stopped: why the agent could not finish; empty if it did.
        counts: what the agent knows of its own work.
    """

    messages: list[Json] = field(default_factory=list)
    start: int = 0
    opening: list[Json] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    steps: int = 0
    tokens: int = 0
    output: int = 0
    peak: int = 0
    usd: float | None = 0.0
    compactions: int = 0
    stopped: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


def work(
    task: TrialTask,
    agent: Agent,
    preset: Preset,
    workspace: HelperWorkspace,
    *,
    window: int,
    tariff: Tariff,
    writer: Model | None = None,
    limits: Limits = Limits(),
    mask: Callable[[str], str] = str,
) -> Trial:
    """Let an agent work on a task in a workspace, under a preset.

    Args:
        task: which turns the user speaks.
        agent: begins anew with each task.
        preset: how the context is compacted. `none` may grow beyond the window.
        workspace: holds the task's files.
        window: the agent model's context window, in tokens.
        tariff: prices requests and answers where the agent has no provider.
        writer: writes the summaries.
        limits: where it is stopped.
        mask: takes secrets out of what tools say, before any model reads it.

    Raises:
        Unanswered: the agent's provider gave no answer, or the writer's.
    """
    return _Work(task, agent, preset, workspace, window, tariff, writer, limits, mask).done()


class _Work:
    def __init__(
        self,
        task: TrialTask,
        agent: Agent,
        preset: Preset,
        workspace: HelperWorkspace,
        window: int,
        tariff: Tariff,
        writer: Model | None,
        limits: Limits,
        mask: Callable[[str], str],
    ) -> None:
        self._task = task
        self._agent = agent
        self._workspace = workspace
        self._limits = limits
        self._mask = mask
        self._bill = _Bill(tariff)
        self._writer = None if writer is None else SummaryWriter(writer)
        self._compactor = Compactor(
            preset,
            model=self._writer,
            window=window,
            settings=Settings(last_resort=preset.name != "none"),
            on_event=self._hear,
        )
        self._tools = [*schemas(), *self._compactor.tools("openai")]
        workspace.until = time.monotonic() + limits.seconds
        self._trial = Trial([{"role": "system", "content": task.system}])
        self._postponed = list[Sequence[Call]]()

    def done(self) -> Trial:
        """The whole trial."""
        trial = self._trial
        for played in self._task.beginning:
            self._play(played)
        trial.start = len(trial.messages)
        for turn in self._task.turns:
            trial.messages.append({"role": "user", "content": turn.user})
            self._agent.begin(turn)
            goes_on = not trial.stopped
            while goes_on:
                goes_on = self._goes_on()
            if trial.stopped:
                break
            self._compactor.after_turn(trial.messages)
            self._require_summaries()
        self._catch_up()
        trial.counts = self._agent.counts()
        trial.tokens = self._bill.tokens
        trial.output = self._bill.output
        trial.peak = self._bill.peak
        trial.usd = self._bill.usd
        return trial

    def _play(self, turn: PlayedTurn) -> None:
        """A turn that the plan has worked enters the conversation, which is compacted as if the
        agent had worked it.
        """
        messages = self._trial.messages
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            self._compactor.before_request(messages, tools=self._tools)
            self._require_summaries()
            calls = () if step.call is None else (step.call,)
            answer = AgentAnswer(step.words, calls)
            messages.append(_message(answer, len(self._trial.calls)))
            if calls:
                self._tell(calls, (step.result,))
        self._compactor.after_turn(messages)
        self._require_summaries()

    def _goes_on(self) -> bool:
        """One answer of the agent and what its calls gave; whether its turn goes on."""
        trial = self._trial
        if trial.steps >= self._limits.steps:
            trial.stopped = f"it was stopped after {self._limits.steps} answers"
            return False
        if self._is_late():
            return False
        sent = self._compactor.before_request(trial.messages, tools=self._tools)
        self._require_summaries()
        if not trial.opening:
            trial.opening = list(sent)
        try:
            answer = _plain(self._agent.answer(sent, self._tools))
        except ModelError as error:
            trial.stopped = str(error)
            return False
        trial.steps += 1
        message = _message(answer, len(trial.calls))
        trial.messages.append(message)
        self._bill.add(sent, message, answer.usd)
        if not answer.calls:
            return False
        self._postponed.append(answer.calls)
        results = self._agent.first_results(answer.calls, self._catch_up)
        self._tell(answer.calls, results)
        return not trial.stopped

    def _tell(self, calls: Sequence[Call], results: Sequence[str]) -> None:
        """What calls gave enters the conversation."""
        trial = self._trial
        for number, result in enumerate(results, len(trial.calls)):
            message = {"role": "tool", "tool_call_id": _id(number), "content": result}
            trial.messages.append(message)
        trial.calls += calls
        self._compactor.after_tools(trial.messages)

    def _catch_up(self) -> Sequence[str]:
        """Make the calls that were not made yet, since their results were known; what the newest
        ones gave.
        """
        results: Sequence[str] = ()
        for calls in self._postponed:
            results = list(map(self._output, calls))
        self._postponed.clear()
        return results

    def _is_late(self) -> bool:
        """Whether the time of the trial is over; it is stopped then."""
        if time.monotonic() > self._workspace.until:
            self._trial.stopped = f"it was stopped after {self._limits.seconds:g} seconds"
        return bool(self._trial.stopped)

    def _require_summaries(self) -> None:
        if self._writer is not None:
            self._writer.require_answers()

    def _output(self, call: Call) -> str:
        if self._is_late():
            return NOT_MADE
        if call.tool == RECALL:
            id = str(call.arguments.get("id", ""))
            query = str(call.arguments.get("query", ""))
            return self._compactor.recall(id, query)
        try:
            result = used(self._workspace, call)
        except WorkspaceEnded as ended:
            self._trial.stopped = str(ended)
            return NOT_MADE
        return shortened(self._mask(result), self._limits.output)

    def _hear(self, event: Event) -> None:
        if isinstance(event, CompactionEnded) and event.outcome != "unchanged":
            self._trial.compactions += 1
            self._bill.summarised(event)


def _plain(answer: AgentAnswer) -> AgentAnswer:
    """An answer as it can be written down."""
    words = whole_characters(answer.words[:LONGEST_WORDS])
    calls = tuple(map(plain, answer.calls))
    return AgentAnswer(words, calls, answer.usd)


def _message(answer: AgentAnswer, first_number: int) -> Json:
    """An answer as a chat message; calls are numbered on through the trial."""
    message: dict[str, Json] = {"role": "assistant", "content": answer.words or None}
    if answer.calls:
        tool_calls = []
        for number, call in enumerate(answer.calls, first_number):
            tool_calls.append(_tool_call(number, call))
        message["tool_calls"] = tool_calls
    return message


def _tool_call(number: int, call: Call) -> Json:
    """A call as a chat message has it."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {
        "id": _id(number),
        "type": "function",
        "function": {"name": call.tool, "arguments": arguments},
    }


def _id(number: int) -> str:
    return f"call_{number:04}"


class _Bill:
    """What the requests take, each read from the provider's cache as far as it equals the one
    before.
    """

    def __init__(self, tariff: Tariff) -> None:
        self.tokens = 0
        self.output = 0
        self.peak = 0
        self.usd: float | None = 0.0
        self._tariff = tariff
        self._rules = rules_for(tariff)
        self._earlier_request: list[Json] = []
        self._summaries_usd = 0.0

    def summarised(self, event: CompactionEnded) -> None:
        """A compaction; its summaries are priced as if the priced model had written them where
        their writer is free.
        """
        read = max(event.tokens_before - event.tokens_after, 0)
        for stage in event.stages:
            for completion in stage.completions:
                usd, _ = summary_usd(completion, read, self._tariff)
                self._summaries_usd += usd
                read = 0

    def add(self, sent: Sequence[Json], answer: Json, usd: float | None) -> None:
        """A request and its answer; `usd` is what its provider asked for it."""
        prompt = sum(map(size, sent))
        output = size(answer)
        self.tokens += prompt + output
        self.output += output
        self.peak = max(self.peak, prompt)
        if usd == 0:
            charged = charge(
                self._tariff,
                self._rules,
                prompt,
                self._same_prefix(sent),
                sum(map(size, self._earlier_request)),
                size(sent[0]),
                None,
                output,
            )
            usd = charged.usd
        if self.usd is None or usd is None:
            self.usd = None
        else:
            self.usd = self.usd + usd + self._summaries_usd
        self._earlier_request = list(sent)
        self._summaries_usd = 0.0

    def _same_prefix(self, sent: Sequence[Json]) -> int:
        """Tokens of the first messages that are as in the earlier request."""
        tokens = 0
        for message, earlier_message in zip(sent, self._earlier_request, strict=False):
            if message != earlier_message:
                break
            tokens += size(message)
        return tokens


def size(message: Json) -> int:
    """About how many tokens a message has."""
    calls = message.get("tool_calls") or ()
    length = len(str(message.get("content") or ""))
    for call in calls:
        function = call["function"]
        length += len(function["name"]) + len(function["arguments"])
    return length // CHARACTERS + 4
