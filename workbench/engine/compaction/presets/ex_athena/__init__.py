"""ExAthena: five stages, cheapest first, from 60 % of the window on, with a short summary last and
only if needed.

Restates the compaction pipeline of ExAthena as its guide `guides/compaction_pipeline.md` describes
it, and where that is silent as its source behaves: udin-io/ex_athena at v0.5.0,
9f34576d49e6ad6b4816e5a51991b09b050f8312, and on main at 8222cfef45cdad1c1276b2a6d35cd9aa7c7d82c6,
in `lib/ex_athena/` the files `compactor.ex`, `compactor/*.ex`, `compactors/*.ex` and `loop.ex`.
`EX_ATHENA` is what the guide promises, counted as the newest version counts; `EX_ATHENA_0_5` counts
as v0.5 did, where a result takes 16 tokens whatever its size; `EX_ATHENA_HEAD` runs the newest
version's stages (an observation mask, no view, excerpts in place). Besides the general differences
(`presets`):

- The archive is kept: `Context.archive[reference]` holds each full text, and no later stage takes
  the reference away. The source drops archive and view when the pipeline ends. A reference is a
  hash of the text, not random.
- The view is sent and never kept: a read of a file that was changed later becomes a stub, and a
  repeated call gets its mark if stubs save as much as marks add; its result becomes a stub too. The
  source finds no changed files.
- All documented options have an effect, under their own names. The source looks for them in the
  run, then in the application's settings, then takes the default, also for false values and broken
  settings; four of the stages' options it reads from the global settings alone, and
  `reactive_compact: false` not at all in v0.5.
- Snip counts the model's answers since a result, as documented; the source counts messages, to no
  effect beside its live end. Snip and microcompact leave the documented live end alone; the source
  has fixed ends of six and four, which `EX_ATHENA_0_5` and `EX_ATHENA_HEAD` keep for microcompact.
- Runs for microcompact are of one tool, as documented; the source takes any tools together. A
  merged run takes its calls along and names them, so that no call is left without a result. Nothing
  is shortened twice.
- A result gives way to a shorter marker only; sizes are in bytes, as in the source, though its
  option says characters.
- `memory` and `skill:...` messages are pinned by name wherever they are; the source counts slots at
  the front only. An earlier summary is always carried on; as the first message the source would
  keep it, beside the new one.
- A merged run is a summary beside the conversation's, until that one takes it in; the record of
  either names its results.
- A host's stage that drops pinned messages is not used; the newest source puts them back at an
  estimated place, v0.5 loses them. A stage that fails ends the compaction with its error, without
  effect; the source crashes unless it is the last.
- The summary's cost is in the compaction's record and event, as documented; the source adds tokens
  only. It takes less than 512 tokens where it replaces little, and is not asked for where it would
  save nothing.
- The summariser reads a transcript, as in the newest version; v0.5 sends the messages themselves.
- Auto-pinning is part of the forced run. Thoughts and pictures are not counted, as in the source.
- The record counts the messages that are gone; the source takes the difference of lengths, one less
  for a summary.
- Episodic memory, which the newest version offers as an option, is not restated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from workbench.base.errors import SettingError
from workbench.engine.compaction.host_policy import (
    Ending,
    HostPolicy,
    any_of,
)
from workbench.engine.compaction.plan import Budget, Plan, Replace, Stage
from workbench.engine.compaction.presets.ex_athena.pinning import PINNING
from workbench.engine.compaction.presets.ex_athena.runs import (
    ExcerptRuns,
    MergeRuns,
    RepeatCollapse,
)
from workbench.engine.compaction.presets.ex_athena.stages import (
    EXEMPT,
    AthenaMask,
    AthenaReduction,
    AthenaSnip,
    archived,
    summary_stage,
    tool_of,
)
from workbench.engine.compaction.presets.token_counters import athena_tokens, athena_tokens_0_5
from workbench.engine.compaction.setting_names import DOCUMENTED
from workbench.engine.compaction.strategy import (
    Preset,
    Situation,
    Strategy,
    Trigger,
)
from workbench.engine.transcript.context import Context, with_partners
from workbench.engine.transcript.message import TokenCounter

SOURCE = (
    "udin-io/ex_athena 9f34576d and 8222cfef guides/compaction_pipeline.md,"
    " lib/ex_athena/{compactor,compactors,loop}"
)
COMPACT_AT = 0.6
HOST = HostPolicy(
    overflow=any_of(
        "context length", "context_length", "maximum context", "too many tokens", "exceeds the context",
        "prompt is too long", "context window"
    ),
    endings={
        "failed": Ending("error_compaction_failed", "fatal"),
        "overflow": Ending("error_prompt_too_long", "capacity"),
    },
    silent=True,
)  # fmt: skip
FALLBACK_WINDOW = 128_000


@dataclass(frozen=True, slots=True)
class AthenaTrigger:
    """Due at exactly the share of the window. The target is that size, so that at equality no stage
    runs.

    In v0.5 the overhead does not count, and the target allows it on top.
    """

    compact_at: float = COMPACT_AT
    overhead: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.compact_at <= 1:
            raise SettingError(f"compact_at is {self.compact_at!r}; it must be a share in (0, 1]")

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= int(compact_at * window)`."""
        window = situation.window if situation.window > 0 else FALLBACK_WINDOW
        target = int(self.compact_at * window)
        if not self.overhead:
            target += situation.overhead
        if situation.requested:
            return Budget(
                target=target,
                window=window,
                reason="requested",
                force=True,
            )
        if situation.tokens < target:
            return None
        return Budget(target=target, window=window)


@dataclass(frozen=True, slots=True)
class AutoPin:
    """Pins the results of certain tools, with the messages that called for them, before a forced
    run.
    """

    tools: tuple[str, ...] = field(default=(), metadata={DOCUMENTED: "auto_pin"})
    name: ClassVar[str] = "auto_pin"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Pin each such result and its caller, with all results of the caller; a result without
        a caller is left.
        """
        messages = context.messages
        results: list[int] = []
        for i, call in context.calls.items():
            if tool_of(messages[i], call) in self.tools:
                results.append(i)
        edits: list[Replace] = []
        for i in sorted(with_partners(messages, results)):
            if not messages[i].pinned:
                pinned_message = replace(messages[i], pinned=True)
                edits.append(Replace.message_at(i, pinned_message))
        return Plan(tuple(edits)) if edits else None


def _preset(
    name: str,
    stages: Sequence[Stage],
    trigger: Trigger,
    count: TokenCounter,
    optional: Sequence[Stage] = (),
) -> Preset:
    """The preset of these stages; what only shapes the request becomes the view.

    Args:
        name: shown in reports.
        stages: those that run.
        trigger: says when.
        count: tokens of a message.
        optional: stages that `compaction_pipeline` may name too.
    """
    history_stages: list[Stage] = []
    view: list[Stage] = []
    for stage in stages:
        if isinstance(stage, RepeatCollapse):
            view.append(stage)
        else:
            history_stages.append(stage)
    return Preset(
        name,
        Strategy(name, tuple(history_stages), tuple(view)),
        trigger,
        count=count,
        overflow=Strategy(f"{name}_recovery", (AutoPin(), *history_stages), tuple(view)),
        parts=Strategy(name, (*history_stages, *optional), tuple(view)),
        host=HOST,
        source=SOURCE,
    )


EX_ATHENA = _preset(
    "ex_athena",
    (
        AthenaReduction(),
        AthenaSnip(),
        MergeRuns(pinning=PINNING),
        RepeatCollapse(),
        summary_stage(),
    ),
    AthenaTrigger(),
    athena_tokens,
    optional=(AthenaMask(),),
)
EX_ATHENA_0_5 = _preset(
    "ex_athena_0_5",
    (
        AthenaReduction(),
        AthenaSnip(),
        MergeRuns(),
        RepeatCollapse(),
        summary_stage(),
    ),
    AthenaTrigger(overhead=False),
    athena_tokens_0_5,
)
EX_ATHENA_HEAD = _preset(
    "ex_athena_head",
    (
        AthenaReduction(mark=archived),
        AthenaSnip(exempt=EXEMPT),
        AthenaMask(),
        ExcerptRuns(),
        summary_stage(),
    ),
    AthenaTrigger(),
    athena_tokens,
)
