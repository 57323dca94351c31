"""`workbench lab prompts`: whether a compaction prompt of one's own keeps less than the one in
use.
"""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.ending import finish
from workbench.cli.foresee import Foresight, tell_forecast
from workbench.cli.gate import (
    CODES,
    Each,
    Junit,
    Margin,
    Markdown,
    of_models,
    plain_verdicts,
    say_verdicts,
    write_verdicts,
)
from workbench.cli.options import AsJson, DryRun, Paths, takes, tell_terms
from workbench.cli.output import OK, say, say_json
from workbench.evaluation.analysis.gate import Gate, outcome
from workbench.evaluation.analysis.gate import gate as judge
from workbench.evaluation.analysis.scores import grouped, leading_metric
from workbench.evaluation.experiment.compare import compare as run_of
from workbench.evaluation.experiment.compare import forecast
from workbench.evaluation.experiment.prompt_variants import PromptVariants, check_reads_prompts
from workbench.evaluation.experiment.spec import RunSpec

OPTIONS = (
    "window",
    "model",
    "boundaries",
    "limit",
    "seed",
    "redact",
    "unmasked",
    "group_by",
    "model_settings",
    "jobs",
    "out",
    "quiet",
)


@takes(RunSpec, only=OPTIONS, jobs=None)
def prompts(
    spec: RunSpec,
    margin: Margin,
    prompt: Annotated[
        list[Path], typer.Option("--prompt", help="A file with a prompt to judge; may be repeated.")
    ],
    paths: Paths = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="The prompt in use. None: the strategy's own."),
    ] = None,
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="The strategy that asks the model.")
    ] = "summarize",
    share: Annotated[
        float | None,
        typer.Option("--share", help="Compare at the same size, at this share of the history."),
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", help="What is judged. None: the work, else names.")
    ] = "",
    each: Each = False,
    junit: Junit = None,
    markdown: Markdown = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Stop a build when a compaction prompt keeps less than the one in use, by more than a margin.

    A prompt is a text file. The model reads the transcript, below it the earlier summary, and below
    that this text. All prompts are tried on the same sessions with the same model, and compared
    session by session. Ends as `gate` does: 0 if none is worse, 1 if one is or may be, 2 if the
    sessions cannot tell.

    Examples:

      workbench lab prompts my-sessions/ --prompt new.md --against old.md --model litellm:gpt-4o-mini
      --margin 0.02

      workbench lab prompts my-sessions/ --prompt a.md --prompt b.md --model "command:claude -p"
      --share 0.2 --margin 0.05 --dry-run
    """
    check_reads_prompts(spec.model)
    variants = PromptVariants.of(strategy, prompt, against)
    mode = "natural"
    shares: tuple[float, ...] = ()
    if share is not None:
        mode, shares = "matched", (share,)
    run_spec = spec.changed(
        strategies=(variants.baseline, *variants.candidates),
        baseline=variants.baseline.name,
        shares=shares,
        quiet=spec.quiet or as_json,
    )
    foresight = Foresight(spec.model, spec.jobs, spec.model_settings, dry_run, as_json)
    recordings = paths or ()
    if dry_run or not run_spec.quiet:
        run_forecast = forecast(recordings, spec=run_spec)
        if not tell_forecast(foresight, run_forecast):
            return OK
    tell_terms(*spec.model)
    results = run_of(recordings, spec=run_spec)
    code = finish(results)
    if code != OK:
        return code
    metric = metric or leading_metric(results.scores, results.scores, mode=mode)
    rule = Gate(metric, margin, mode, share, each)
    at_sizes = results.baseline_at_sizes
    scores = grouped(results)
    verdicts = judge(scores, scores, rule, variants.pairing, (at_sizes, at_sizes))
    verdicts = of_models(verdicts, mode, results, results)
    write_verdicts(verdicts, rule, junit, markdown)
    if as_json:
        say_json({"run": str(results.path), **plain_verdicts(verdicts, rule)})
    else:
        say_verdicts(verdicts, metric)
        say(f"\nTables: {results.path}")
    return CODES[outcome(verdicts)]
