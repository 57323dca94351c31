"""Operator-Use: a summary after a turn that leaves less than a reserve, appended to the log as an
entry.

Restates the compaction of Operator-Use as its document `docs/compaction.md` describes it, and where
that is silent as its source behaves: CursorTouch/Operator-Use, the document at
f6993f9ab77a18e76b056c7b3aacea2b8d4044fe, `operator_use/compaction/strategy/utils.py` at
d0da87a65be2afd73182057edd5cc515300801c4, `.../strategy/types.py` and
`.../strategy/summarization/service.py` at adac0ad16d80036a5bf2fba123ee6eccc22ca8a8,
`program/session/manager.py` at 10a3f41c324a3a6745d694f46f102bddee0143cf,
`operator_use/agent/service.py` (one stored version). Besides the general differences (`presets`):

- `reserve_tokens` is 8,192 and `keep_recent_tokens` 16,384, as documented. The source read has
  16,384 and 20,000.
- Nothing is compacted where everything fits or no cut is left, as documented; the source asks a
  model about an empty list. Right after a compaction the source does nothing; here what it kept is
  compacted again if it is due.
- The size before a compaction is that of the context as sent; the source adds up all that was ever
  on the path.
- The trigger counts the cached parts of a prompt too; the source fires late without them. It
  ignores the reports of answers that failed; here the host holds them back.
- A split turn with nothing but an earlier summary before it makes one update of it. The source
  drops the summary.
- Few words, or words in very little room, stand in for a model that fails; elsewhere an error is
  passed on, and an empty answer is one. The source appends an empty summary.
- An earlier summary's file lists are not shown to the model, since code writes them again below the
  new one.
- The source stores with each call whether its tool reads or writes files.
- Custom messages are client-made user messages. Labels and changes of model are in the log only.
- The items of a todo tool are not appended: no recording says which they were.
- A hook is one function; of several in the source one that cancels wins, else the last compaction
  counts.
- A request states no length, as in the source, unless little room is left. An answer no shorter
  than what it replaces is cut to a quarter of that.
- The two requests of a split turn run concurrently where the model allows it, else one after the
  other.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.clip import clipped
from workbench.engine.compaction.file_lists import file_ops
from workbench.engine.compaction.host_policy import Ending, HostPolicy
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.presets.token_counters import operator_tokens
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import UNBOUNDED, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stand_in import StandIns
from workbench.engine.compaction.strategy import Preset, Situation, Strategy
from workbench.engine.compaction.summary_input import Reading, SummaryInput
from workbench.engine.compaction.transcript_text import harmless, json_call
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, TokenCounter, plain_text

LEAD = "[Previous conversation summary]\n"
FEW, FEW_CHARS = 4, 600
"""Messages that are this few and short can replace their summary."""


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What a user may set; read anew at each use. A trigger percent, in (0, 1], is due instead
    of the reserve.
    """

    enabled: bool = True
    reserve_tokens: int = 8_192
    keep_recent_tokens: int = 16_384
    trigger_percent: float | None = None

    def __post_init__(self) -> None:
        check_whole_number("reserve_tokens", self.reserve_tokens, least=0)
        check_whole_number("keep_recent_tokens", self.keep_recent_tokens, least=0)

    def limit(self, window: int) -> float:
        """Tokens above which a context is due."""
        if self.trigger_percent is not None:
            return window * self.trigger_percent
        return window - self.reserve_tokens


@dataclass(frozen=True, slots=True)
class OperatorTrigger:
    """Asked when a turn has ended well; a compaction that was requested in mid-turn waits for
    that.
    """

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)

    def check(self, situation: Situation, /) -> Budget | None:
        """Due on request or above the limit, which is the target, scaled from the provider's
        count to ours.
        """
        settings, reported = self.settings(), situation.reported
        tokens = situation.tokens
        if reported is not None and reported.prompt + reported.output:
            tokens = reported.prompt + reported.output
        limit = settings.limit(situation.window)
        is_due = settings.enabled and tokens > limit
        if situation.moment != "after_turn" or not (situation.requested or is_due):
            return None
        target = max(limit, 0) * situation.tokens / max(tokens, 1)
        return situation.budget(int(target))


def find_cut(
    messages: Sequence[Message],
    start: int,
    keep_recent_tokens: int,
) -> int:
    """The first message from `start` on, no result, that keeps so many tokens."""
    token_room = keep_recent_tokens
    earliest = None
    for i in reversed(range(start, len(messages))):
        token_room -= operator_tokens(messages[i])
        if token_room <= 0:
            earliest = i
            break
    first_place = _next_valid(messages, start)
    if first_place is None:
        return start
    if earliest is None:
        return first_place
    place = _next_valid(messages, earliest)
    return first_place if place is None else place


def _next_valid(messages: Sequence[Message], start: int) -> int | None:
    """The first message from this one on that the kept part may begin with."""
    for i in range(start, len(messages)):
        if messages[i].role not in ("tool", "system"):
            return i
    return None


def turn_start(
    messages: Sequence[Message],
    start: int,
    place: int,
) -> int | None:
    """Where the turn begins, from `start` on, that a cut here parts; None for none."""
    if place < len(messages) and messages[place].role == "user":
        return None
    for i in reversed(range(start, place)):
        if messages[i].role == "user":
            return i
    return None


@dataclass(frozen=True, slots=True)
class OperatorCut:
    """That cut behind the newest summary. What an earlier compaction kept is looked at again."""

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)

    def __call__(self, context: Context, budget: Budget, /) -> Span | None:
        """The span; None where there is nothing to summarise before the cut."""
        movable = Movable.of(context, budget)
        start = movable.earlier
        keep_tokens = budget.keep_recent
        if keep_tokens is None:
            keep_tokens = self.settings().keep_recent_tokens
        place = find_cut(movable.messages, start, movable.granted(keep_tokens))
        place = movable.within(place)
        if place == len(movable):
            return movable.span(place)
        inner = movable.inner(place) if place > start else None
        if inner is None or inner <= start:
            return None
        return movable.span(inner, turn_start(movable.messages, start, inner))


class OperatorPrompt(PromptTemplate):
    """Operator-Use's form of a conversation and of a summary's message."""

    opening = LEAD

    def shown_result(self, text: str, chars: int) -> str:
        """The beginning of a result, and below it how much is missing."""
        if len(text) <= chars:
            return harmless(text)
        more = len(text) - chars
        return f"{harmless(text[:chars])}\n\n[... {more} more characters truncated]"

    def spoken(
        self,
        message: Message,
        results: int,
        arguments: int,
    ) -> Iterator[str]:
        """Words, calls or result of a message. Pictures are left out."""
        words = plain_text(message)
        if message.role == "tool":
            yield f"[Tool result]: {self.shown_result(words, results)}"
            return
        if words:
            speaker = message.role.capitalize()
            if message.role == "user" and message.synthetic and message.name:
                speaker = harmless(message.name.upper())
            yield f"[{speaker}]: {self.shown_words(words)}"
        if message.role == "assistant" and message.calls:
            calls = [json_call(call, arguments) for call in message.calls]
            yield "[Assistant tool calls]: " + harmless("; ".join(calls))


class SortedFiles(Reading):
    """The file lists are sorted."""

    def full_input(self, context: Context, summary_input: SummaryInput) -> SummaryInput:
        """The input with sorted file lists."""
        files = file_ops([*summary_input.earlier, *summary_input.new])
        read = tuple(sorted(files.read))
        modified = tuple(sorted(files.modified))
        return replace(summary_input, files=FileOps(read, modified))


class OperatorLimits(SizeLimits):
    """No bound where there is much room; two thirds for the history of a split turn, one third
    for its start.
    """

    def allowed(
        self,
        context: Context,
        budget: Budget,
        removed_indices: Sequence[int],
        frame: int,
    ) -> int:
        """Tokens of the whole summary, where a request would name them."""
        max_tokens = super().allowed(context, budget, removed_indices, frame)
        return (
            UNBOUNDED
            if self.named(max_tokens, context, budget, removed_indices) is None
            else max_tokens
        )

    def parts(self, allowed: int, history: float) -> tuple[int, int]:
        """What each of the two summaries may have."""
        return allowed * 2 // 3, allowed // 3


def words_themselves(
    messages: Sequence[Message],
    previous: str,
    max_tokens: int,
    count: TokenCounter,
) -> str | None:
    """The newest words in little room, or few words themselves; else None."""
    if max_tokens < UNBOUNDED // 3:
        newest_words = PROMPT.transcript(messages[-2:])
        return clipped(newest_words, max_tokens, count) or None
    if len(messages) > FEW:
        return None
    words = PROMPT.transcript(messages)
    return words if 0 < len(words) <= FEW_CHARS else None


PROMPT = OperatorPrompt(
    result_chars=2_000,
    argument_chars="whole",
    thoughts=True,
    headings="operator_headings",
    split="operator_split",
    start="operator_start",
    turn_headings="operator_prefix_headings",
    turn_prompt="operator_prefix",
    turn_focus=False,
    focus_prompt="additional_focus",
    says_size=False,
    window_share=None,
)


def operator_use(settings: Callable[[], OperatorSettings] = OperatorSettings) -> Preset:
    """The preset with settings that are read anew at each check and each compaction."""
    summary = Summarize(
        cut=OperatorCut(settings),
        reads=SortedFiles(),
        prompt=PROMPT,
        limits=OperatorLimits(
            least=128,
            most=UNBOUNDED,
            to_target=False,
            stated=False,
            split_from=512,
        ),
        presentation=Presentation(file_lists="inside"),
        stand_ins=StandIns(fallback=words_themselves),
        name="operator_compact",
    )
    return Preset(
        "operator_use",
        Strategy("operator_use", (summary,)),
        OperatorTrigger(settings),
        count=operator_tokens,
        moments=("after_turn",),
        host=HostPolicy(
            manual_in_turn=False,
            endings={"failed": Ending("summarization_failed")},
            silent=True,
        ),
        source=(
            "CursorTouch/Operator-Use docs/compaction.md f6993f9a, compaction/strategy d0da87a6 and"
            " adac0ad1"
        ),
    )


OPERATOR_USE = operator_use()
