"""ExAthena: five stages, cheapest first, from 60 % of the window on, with a short summary last and only if needed.

Restates the compaction pipeline of ExAthena as its guide `guides/compaction_pipeline.md` describes it, and where that
is silent as its source behaves: udin-io/ex_athena at v0.5.0, 9f34576d49e6ad6b4816e5a51991b09b050f8312, and on main at
8222cfef45cdad1c1276b2a6d35cd9aa7c7d82c6, in `lib/ex_athena/` the files `compactor.ex`, `compactor/*.ex`,
`compactors/*.ex` and `loop.ex`. Prompts are our own words.

`EX_ATHENA` is what the guide promises, counted as the newest version counts; `EX_ATHENA_0_5` counts as v0.5 did, where
a result takes 16 tokens whatever its size; `EX_ATHENA_HEAD` runs the newest version's stages (an observation mask, no
view, excerpts in place). `ex_athena(...)` makes one with options; `configured(...)` reads them from maps.

Where it differs from that source, and why:

- The archive is kept: `Context.read(reference)` gives each full text back, and no later stage takes the reference away.
  The source drops archive and view when the pipeline ends. A reference is a hash of the text, not random.
- The view is sent and never kept: what was read from a file that was changed later becomes a stub, and a repeated call
  gets its mark. The source's test for changed files finds none. A mark stands only where stubs save as much as marks
  add; the repeated result becomes a stub too.
- All documented options have an effect: the source reads four of the stages' options from the global settings alone,
  and `reactive_compact: false` not at all in v0.5.
- Snip counts the model's answers since a result, as documented. The source counts messages, which its live end makes
  meaningless. Snip and microcompact leave the documented live end alone; the source has fixed ends of six and four,
  which `EX_ATHENA_0_5` and `EX_ATHENA_HEAD` keep for microcompact.
- Runs for microcompact are of one tool, as documented; the source takes any tools together. A merged run takes its
  calls along, and each line names the call, so that no call is left without a result. Excerpts and snipped results are
  not shortened twice.
- A result gives way to a marker only where that is shorter. Sizes of results are in bytes, as in the source, though
  option and marker say characters.
- `memory` and `skill:...` messages are pinned by their names wherever they stand; the source counts slots at the front
  and does not look at names. Any message may be pinned by itself. A call and its result stay or go together.
- The newest user message stays beside the summary; the source may summarise it. An earlier summary is carried on into
  the next one also where it is the first message; the source would keep it as its prefix, beside the new one.
- A merged run stands as a summary of its own beside the conversation's, until that one takes it in; its record names
  the results that it stands for, and so does that of a summary that took it in.
- Where a host's stage drops pinned messages they stay in their places; the newest source puts them back at an estimated
  place, v0.5 loses them.
- A stage that fails ends the compaction with `StageFailed` wherever it stands, and the history stays as it was. The
  source crashes unless it is the last.
- The summary's cost counts against the run's budget, as documented (`Metadata`, `RunBudget`); the source adds tokens
  only. Its length is bounded below 512 tokens where it replaces little, and it is not asked for where it would save
  nothing.
- The summariser reads a transcript, as in the newest version; v0.5 sends the messages themselves.
- Auto-pinning is part of the forced run. Thoughts and pictures are not counted, as in the source.
- `dropped_count` counts the messages that are gone; the source takes the difference of lengths, one less for a summary.
- Where a comparison sets the size of the context, the live end takes at most half of what the pinned messages leave.
- Episodic memory, which the newest version offers as an option, is not restated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.compaction.presets.ex_athena.collapse import ContextCollapse
from workbench.compaction.presets.ex_athena.counting import athena_tokens, athena_tokens_0_5
from workbench.compaction.presets.ex_athena.failing import Custom
from workbench.compaction.presets.ex_athena.marks import archived
from workbench.compaction.presets.ex_athena.microcompact import MICROCOMPACT_RUN_THRESHOLD, ExcerptRuns, MergeRuns
from workbench.compaction.presets.ex_athena.options import Options
from workbench.compaction.presets.ex_athena.pinning import Pinning
from workbench.compaction.presets.ex_athena.recovery import AutoPin
from workbench.compaction.presets.ex_athena.shrinking import (
    EXEMPT,
    PER_TOOL_RESULT_MAX_CHARS,
    SNIP_AGE_ITERATIONS,
    BudgetReduction,
    ObservationMask,
    Snip,
)
from workbench.compaction.presets.ex_athena.summary import SummaryStage
from workbench.compaction.presets.ex_athena.trigger import COMPACT_AT, AthenaTrigger, AthenaTrigger05
from workbench.compaction.stage import Stage
from workbench.compaction.stages.context_collapse import ContextCollapse as SharedCollapse
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Trigger
from workbench.errors import UnknownName
from workbench.transcript.tokens import TokenCounter

NAME = "ex_athena"
SOURCE = (
    "udin-io/ex_athena 9f34576d and 8222cfef guides/compaction_pipeline.md, lib/ex_athena/{compactor,compactors,loop}"
)
DOCUMENTED = ("budget_reduction", "snip", "microcompact", "context_collapse", "summary")


def ex_athena(
    *,
    compact_at: float = COMPACT_AT,
    pinned_prefix_count: int = 1,
    live_suffix_count: int = 6,
    per_tool_result_max_chars: int = PER_TOOL_RESULT_MAX_CHARS,
    snip_age_iterations: int = SNIP_AGE_ITERATIONS,
    microcompact_run_threshold: int = MICROCOMPACT_RUN_THRESHOLD,
    compaction_pipeline: Sequence[Stage | str] | None = None,
    reactive_compact: bool = True,
    auto_pin: tuple[str, ...] = (),
    summary_model: str = "",
) -> Preset:
    """The preset as documented, with options. `Options` says what each of them is.

    Raises:
        SettingError: an option has a value that cannot work.
        UnknownName: the pipeline names a stage that is none.
    """
    return of_options(
        Options(
            compact_at,
            pinned_prefix_count,
            live_suffix_count,
            per_tool_result_max_chars,
            snip_age_iterations,
            microcompact_run_threshold,
            compaction_pipeline,
            reactive_compact,
            auto_pin,
            summary_model,
        )
    )


def configured(per_run: Mapping[str, object], app_config: object = ()) -> Preset:
    """The preset with a run's own options before the application's; `Options.resolved` says how."""
    return of_options(Options.resolved(per_run, app_config))


def of_options(options: Options) -> Preset:
    """The documented preset."""
    pinning = Pinning(options.pinned_prefix_count, options.live_suffix_count)
    known: tuple[Stage, ...] = (
        BudgetReduction(options.per_tool_result_max_chars),
        Snip(options.snip_age_iterations, pinning),
        MergeRuns(options.microcompact_run_threshold, pinning=pinning),
        ContextCollapse(),
        SummaryStage(pinning, options.summary_model),
        ObservationMask(),
    )
    stages = _chosen(DOCUMENTED if options.compaction_pipeline is None else options.compaction_pipeline, known)
    return _preset(NAME, stages, options, AthenaTrigger(options.compact_at), athena_tokens)


def _version_0_5() -> Preset:
    options = Options()
    stages = (BudgetReduction(), Snip(), MergeRuns(), ContextCollapse(), SummaryStage())
    return _preset(f"{NAME}_0_5", stages, options, AthenaTrigger05(), athena_tokens_0_5)


def _newest() -> Preset:
    stages = (
        BudgetReduction(mark=archived), Snip(exempt=EXEMPT), ObservationMask(), ExcerptRuns(), SummaryStage(),
    )  # fmt: skip
    return _preset(f"{NAME}_head", stages, Options(), AthenaTrigger(), athena_tokens)


def _chosen(wanted: Sequence[Stage | str], known: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages by name, and a host's own wrapped."""
    by_name = {stage.name: stage for stage in known}
    found: list[Stage] = []
    for one in wanted:
        if isinstance(one, str) and one not in by_name:
            raise UnknownName("stage", one, by_name)
        found.append(by_name[one] if isinstance(one, str) else one if isinstance(one, OWN) else Custom(one))
    return tuple(found)


def _preset(name: str, stages: Sequence[Stage], options: Options, trigger: Trigger, count: TokenCounter) -> Preset:
    """The preset of these stages; what only shapes the request becomes the view."""
    kept = tuple(stage for stage in stages if not isinstance(stage, VIEWS))
    view = tuple(stage for stage in stages if isinstance(stage, VIEWS))
    first = (AutoPin(options.auto_pin),) if options.auto_pin else ()
    forced = (*first, *kept) if options.reactive_compact else ()
    return Preset(
        name,
        Strategy(name, kept, view),
        trigger,
        count=count,
        overflow=Strategy(f"{name}_recovery", forced, view if forced else ()),
        source=SOURCE,
    )


VIEWS = (ContextCollapse, SharedCollapse)
OWN = (BudgetReduction, Snip, ObservationMask, MergeRuns, ExcerptRuns, SummaryStage, *VIEWS)

EX_ATHENA = ex_athena()
EX_ATHENA_0_5 = _version_0_5()
EX_ATHENA_HEAD = _newest()
