"""docker-agent: a summary of at most 16,000 tokens at 90 % of the window, before a tail of at most
20,000.

Restates the compaction of docker-agent (cagent) as the documentation of its package `compactor`
describes it, and where that is silent as its source behaves: docker/docker-agent v1.53.0,
`pkg/runtime/compactor/compactor.go` at 396ec6440f32c4de886360e7182e487c8521f787 and one newer
stored version, `pkg/compaction/compaction.go` (two versions), its tests at
7717bee63d8874e50c6d588197f6847e51610e12, `pkg/runtime/compaction_trigger_test.go` at
1901e42516f3d4e5a8f410b5b4fa270129dbcdb5, `pkg/runtime/session_compaction.go` (three stored
versions). The exact file of v1.53.0 was not stored. `DOCKER_AGENT` is v1.53.0; in
`DOCKER_AGENT_G2`, which came later, tail and cap follow the window and estimates are scaled to the
provider's reports. Besides the general differences (`presets`):

- Messages that the summariser's window has no room for are counted in a note below the summary, and
  their ids are in the record; the source loses them. An earlier summary is always read; in the
  source it is the first to go.
- Without a conversation to summarise nothing is compacted, as in later versions. v1.53.0 asks the
  model nonetheless, and its reply replaces the history. A window hardly larger than the cap of
  16,000 tokens leaves the summariser of v1.53.0 no room: there nothing is ever compacted.
- Only what the model said after the conversation counts as its summary. v1.53.0 may take the
  conversation's own last answer where the model says nothing.
- The trigger is asked for the tally with all that came after it; before a request the source leaves
  out the user's words. After a compaction all is estimated until the next report; the source counts
  the summary alone until then.
- The scale, found from the messages that may be compacted, is used for tail and summariser's input,
  not the trigger.
- The conversation is sent as a transcript in one message. The source sends it as messages, to a
  clone of the agent's model without structured output, as `docker_agent:request=conversation` does:
  in a session of its own with its own system prompt, so that no prefix of it is cached. How far
  later versions cut large results is unknown; here to a quarter of the room.
- The cap is half of what the summary replaces where that is less, since a model that used it all
  would save nothing.
- The log holds the source's session items; another agent's session within this one is a separate
  session. Nothing is due in an unknown window; the source reports a missing field as an error.
- A hook is one function. In the source several may answer: one that blocks wins, else the last
  summary that is not blank; hooks may also add to the prompt or skip the compaction. A summary from
  a hook is not changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import shortened
from workbench.engine.compaction.host_policy import HostPolicy, any_of
from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.token_counters import (
    calibration,
    docker_tokens,
    docker_tokens_g2,
    exact_tokens,
)
from workbench.engine.compaction.prompt_files import prompt
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.setting_names import DOCUMENTED
from workbench.engine.compaction.size_limits import UNBOUNDED, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stand_in import StandIns
from workbench.engine.compaction.strategy import (
    Preset,
    Situation,
    Strategy,
)
from workbench.engine.compaction.summary_input import (
    SessionOfItsOwn,
    SummaryInput,
    SummaryTask,
)
from workbench.engine.models.model import SummaryRequest
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message, Summary, Text, TokenCounter, UserMessage

THRESHOLD = 0.9
MAX_KEEP_TOKENS = 20_000
MAX_SUMMARY_TOKENS = 16_000


def smaller(window: int, other_window: int | None) -> int:
    """The smaller of two windows; the other may be unknown."""
    if other_window is None or other_window <= 0:
        return window
    return min(window, other_window)


@dataclass(frozen=True, slots=True)
class DockerTrigger:
    """Asked before each request and after tool results, for the tally with all that came after it.

    Attributes:
        threshold: share of the window that is due when passed, in (0, 1]; anything else means 0.9.
        enabled: whether anything starts by itself; by hand and on request it always may.
        summarizer_window: tokens that a model for summaries alone takes; the smaller window counts.
    """

    threshold: float = THRESHOLD
    enabled: bool = True
    summarizer_window: int | None = field(default=None, metadata={DOCUMENTED: "summarizer_window"})

    def check(self, situation: Situation, /) -> Budget | None:
        """Due above that share of a known window, which is the target. Without a report all is
        estimated.
        """
        limit = smaller(situation.window, self.summarizer_window)
        threshold = self.threshold if 0 < self.threshold <= 1 else THRESHOLD
        max_tokens = int(limit * threshold)
        reported = situation.reported
        tokens = situation.tokens
        if reported is not None and reported.prompt > 0:
            tokens = reported.prompt + max(reported.output, situation.since)
        is_due = self.enabled and tokens > max_tokens and limit > 0
        if not situation.requested and not is_due:
            return None
        target = int(max_tokens * situation.tokens / max(tokens, 1))
        return situation.budget(target, limit)


def first_index_in_budget(
    messages: Sequence[Message],
    sizes: Sequence[int],
    budget: int,
) -> int:
    """Where the longest end of at most `budget` tokens begins, at a user's or the model's
    message; n if none fits.
    """
    first_index, room = len(messages), budget
    for i in reversed(range(len(messages))):
        room -= sizes[i]
        if room < 0:
            break
        if messages[i].role in ("user", "assistant", "summary"):
            first_index = i
    return first_index


@dataclass(frozen=True, slots=True)
class DockerGeneration:
    """One version of docker-agent, as the rule of where it cuts and of what the model reads.

    Attributes:
        count: tokens of one message.
        follows: whether limits follow the window, estimates are scaled to the provider's reports,
            and large results are cut before they are summarised.
        window: tokens that a dedicated model for summaries takes, if there is one; the smaller
            window counts.
        most_kept: tokens of newest messages that stay.
        most_summary: tokens that a summary may have.
    """

    count: TokenCounter = docker_tokens
    follows: bool = False
    window: int | None = field(default=None, metadata={DOCUMENTED: "summarizer_window"})
    most_kept: int = field(default=MAX_KEEP_TOKENS, metadata={DOCUMENTED: "max_keep_tokens"})
    most_summary: int = field(
        default=MAX_SUMMARY_TOKENS, metadata={DOCUMENTED: "max_summary_tokens"}
    )

    def __post_init__(self) -> None:
        check_whole_number("most_kept", self.most_kept, least=0)
        check_whole_number("most_summary", self.most_summary)

    def sizes(self, messages: Sequence[Message], context: Context | None = None) -> tuple[int, ...]:
        """Tokens of each of these messages, which may explain each other. Those of the context
        are counted already.
        """
        if context is not None and context.count == self.count:
            sizes = context.sizes_of(messages)
        else:
            sizes = list(map(self.count, messages))
        scale = calibration(messages) if self.follows else 1.0
        if scale == 1.0:
            return tuple(sizes)
        for i, message in enumerate(messages):
            if exact_tokens(message) is None:
                sizes[i] = int(sizes[i] * scale)
        return tuple(sizes)

    def keep(self, limit: int) -> int:
        """Tokens of newest messages that stay; later at most a fifth of a known window."""
        if self.follows and limit > 0:
            return min(self.most_kept, limit // 5)
        return self.most_kept

    def cap(self, limit: int) -> int:
        """Tokens that a summary may have: 16,000, later at most a quarter of the window."""
        if self.follows:
            return min(self.most_summary, limit // 4)
        return self.most_summary

    def cut(self, context: Context, budget: Budget) -> Span:
        """All before the kept tail, moved to where it parts no call from its result; all where
        everything fits.
        """
        movable = Movable.of(context, budget)
        keep_tokens = budget.keep_recent
        if keep_tokens is None:
            keep_tokens = self.keep(smaller(budget.window, self.window))
        keep_tokens = movable.granted(keep_tokens)
        sizes = self.sizes(movable.messages, context)
        end = tail = len(movable)
        if sum(sizes) > keep_tokens:
            tail = first_index_in_budget(movable.messages, sizes, keep_tokens)
        place = movable.within(tail)
        inner = movable.inner(place) if place < end else None
        return movable.span(end if inner is None else inner)

    def reads(self, task: SummaryTask) -> SummaryInput:
        """The newest messages that fit the summariser's window beside the prompts, the answer and
        earlier summaries.

        Later no result has more than a quarter of that room; the original does not say to how much
        it cuts them.
        """
        limit = smaller(task.budget.window, self.window)
        summary_input = task.full_input
        fixed_messages: list[Message] = list(summary_input.earlier)
        for text in (prompt("docker_system"), question(task.budget.instructions)):
            prompt_message = UserMessage(id="", blocks=(Text(text),))
            fixed_messages.append(prompt_message)
        fixed_tokens = sum(map(self.count, fixed_messages))
        room = max(limit - self.cap(limit) - fixed_tokens, 0)
        messages = list(summary_input.new)
        if self.follows:
            max_result_tokens = max(room // 4, 1)
            messages = [self._result_cut(message, max_result_tokens) for message in messages]
        start = first_index_in_budget(messages, self.sizes(messages, task.context), room)
        history = tuple(messages[start:])
        return replace(summary_input, history=history, prefix=())

    def _result_cut(self, message: Message, tokens: int) -> Message:
        """A result in at most so many tokens if possible; any other message as it is."""
        if message.role != "tool":
            return message
        return shortened(message, tokens, self.count(message), self.count) or message


def question(additional: str) -> str:
    """What is asked for, with the host's own instruction below it."""
    text = prompt("docker_summary")
    return f"{text}\n\n{additional}" if additional else text


@dataclass(frozen=True, slots=True)
class DockerCut:
    """Where a generation cuts."""

    generation: DockerGeneration

    def __call__(self, context: Context, budget: Budget, /) -> Span | None:
        """The span."""
        return self.generation.cut(context, budget)


@dataclass(frozen=True, slots=True)
class DockerReading(SessionOfItsOwn):
    """What a generation shows its model."""

    generation: DockerGeneration

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """The part of the input that fits."""
        return self.generation.reads(task)


FIRST = DockerGeneration()
LATER = DockerGeneration(docker_tokens_g2, follows=True)


class DockerPrompt(PromptTemplate):
    """The whole conversation, what is asked for, and the host's own instruction."""

    opening = "Session Summary: "
    system = prompt("docker_system")

    def shown(self, request: SummaryRequest) -> str:
        """The transcript; an earlier summary is its first message."""
        messages: list[Message] = list(request.messages)
        if request.previous:
            messages.insert(0, Summary(id="", text=request.previous))
        transcript = self.transcript(messages)
        return f"<conversation>\n{transcript}\n</conversation>"

    def question(self, request: SummaryRequest) -> str:
        """What is asked for, with the host's own instruction below it."""
        return question(request.instructions)


@dataclass(frozen=True, slots=True)
class DockerLimits(SizeLimits):
    """The cap, or half of what the summary replaces where that is less: a cap above it would
    save nothing.
    """

    generation: DockerGeneration = FIRST

    def allowed(
        self,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
        frame: int,
    ) -> int:
        """Tokens that the summary's text may have."""
        allowed_tokens = SizeLimits.allowed(self, context, budget, removed_indices, frame)
        if allowed_tokens < self.least:
            return allowed_tokens
        window = smaller(budget.window, self.generation.window)
        cap = self.generation.cap(window)
        if budget.matched:
            return min(cap, allowed_tokens)
        return min(cap, max(allowed_tokens // 2, self.least))


def dropped_note(task: SummaryTask) -> str:
    """The note below a summary on messages that the summariser did not see."""
    n = len(task.full_input.new) - len(task.model_input.new)
    if n == 0:
        return ""
    messages = "message" if n == 1 else "messages"
    return f"\n\n[{n} earlier {messages} did not fit into the summariser's window]"


def trimmed(
    task: SummaryTask,
    draft: Draft,
    edited: Context,
    summary_index: int,
) -> Plan | None:
    """The answer trimmed; an empty one undoes the compaction."""
    summary = edited.messages[summary_index]
    assert summary.role == "summary"
    text = summary.text.removesuffix(draft.footer).strip()
    if not text:
        undone = Replace(0, len(edited.messages), task.context.messages)
        return Plan((undone,))
    new_summary = replace(summary, text=text + draft.footer)
    return Plan((Replace.message_at(summary_index, new_summary),))


HOST = HostPolicy(
    overflow=any_of(
        "maximum context length", "max_tokens must be greater than", "maximum number of tokens", "token limit",
        "content length exceeds", "exceeds the model's max token", "reduce your prompt", "reduce the length"
    ),
    hook_summary="as_is",
)  # fmt: skip


def docker_agent(name: str, generation: DockerGeneration) -> Preset:
    """The preset of a generation."""
    summary = Summarize(
        cut=DockerCut(generation),
        reads=DockerReading(prompt("docker_system"), generation),
        prompt=DockerPrompt(
            headings="",
            result_chars="whole",
            argument_chars="whole",
            window_share=None,
        ),
        limits=DockerLimits(
            least=128,
            most=UNBOUNDED,
            to_target=False,
            generation=generation,
        ),
        presentation=Presentation(file_lists="recorded", annotate=dropped_note),
        stand_ins=StandIns(fallback=None, if_empty=""),
        finish=trimmed,
        name="docker_compact",
    )
    return Preset(
        name,
        Strategy(name, (summary,)),
        DockerTrigger(),
        count=generation.count,
        moments=("before_request", "after_tools"),
        host=HOST,
        source=(
            "docker/docker-agent v1.53.0 pkg/runtime/compactor/compactor.go 396ec644,"
            " pkg/compaction/compaction.go"
        ),
    )


DOCKER_AGENT = docker_agent("docker_agent", FIRST)
DOCKER_AGENT_G2 = docker_agent("docker_agent_g2", LATER)
