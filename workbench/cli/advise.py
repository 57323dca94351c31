"""`workbench advise`: which strategy with which settings fits these sessions, and settings to paste."""

import os
from collections.abc import Sequence
from dataclasses import asdict

from workbench.base.formats import joined, some
from workbench.cli.foresee import Foresight, tell_forecast
from workbench.cli.options import AsJson, DryRun, Paths, takes, tell_terms, tell_waiting
from workbench.cli.output import OK, PENDING, complain, records, say, say_json, table, write
from workbench.evaluation.metrics import HALVES
from workbench.lab.advice.advise import Advice, AdviceSpec, forecast
from workbench.lab.advice.advise import advise as advice_of
from workbench.lab.advice.paste import Snippet, snippets
from workbench.lab.advice.search import Round

SHOWN = {
    "candidate": "candidate", "points": "points:count", "the work": "work:decimal", "names": "names:decimal",
    "saved": "saved:percent", "cost": "usd:dollars", "sessions": "sessions", "projects": "projects",
}  # fmt: skip

TOKENS_A_SECOND = 60_000
"""Of a session that one worker replays and scores under one candidate, on a machine that is busy besides."""


@takes(AdviceSpec, jobs=None)
def advise(spec: AdviceSpec, paths: Paths = None, dry_run: DryRun = False, as_json: AsJson = False) -> int:
    """Find the strategy and settings that fit your sessions, and say what choosing them gains on unseen projects.

    Points: 100 times the work that a candidate still tells on its own trigger (names where the sessions have no
    questions about the work), and --worth points for each tenth of the bill that it saves. All candidates are tried on
    the same few sessions, the better half on twice as many, the last on all. The gain that is promised is measured on
    projects that the choice had not seen. The same command continues a stopped search.

    Examples:

      workbench advise my-sessions/ --dry-run

      workbench advise my-sessions/ --default claude_code --worth 0

      workbench advise my-sessions/ --candidates 20 --window 64000

      workbench advise my-sessions/ --space grid.toml --model extractive,litellm:gpt-4o-mini --max-dollars 2
    """
    silent = spec.changed(quiet=spec.quiet or as_json)
    how = Foresight(spec.model, spec.jobs, spec.model_settings, dry_run, as_json)
    if not dry_run:
        tell_terms(*spec.model)
    if dry_run or not spec.quiet:
        found, taken = forecast(paths or (), spec=silent)
        if not (dry_run and as_json):
            minutes = taken.tokens / TOKENS_A_SECOND / (spec.jobs or os.cpu_count() or 1) / 60
            said = say if dry_run else complain
            said(f"{_rounds(found)}, at most, in about {some(max(round(minutes), 1), 'minute')}.")
            said("The folds use the same replays, and some more where they come to other finalists.")
        if not tell_forecast(how, taken, {"rounds": list(map(asdict, found))}):
            return 0
    advice = advice_of(paths or (), spec=silent)
    point = advice.advised
    pasted = list(snippets(advice.grid.preset(point), point.base, point.settings, advice.window, point.model))
    if advice.pending:
        complain(f"pending: {some(advice.pending, 'replay')} wait for answers; the same command asks again")
        tell_waiting(*set(advice.grid.models).difference(spec.model))
    say_json(_plain(advice, pasted)) if as_json else _show(advice, pasted, spec)
    return PENDING if advice.pending else OK


def _rounds(found: Sequence[Round]) -> str:
    return "Rounds: " + ", ".join(f"{one.candidates} candidates on {one.recordings} recordings" for one in found)


def _show(advice: Advice, pasted: Sequence[Snippet], spec: AdviceSpec) -> None:
    for sentence in filter(None, (advice.opening, advice.verdict, advice.traded)):
        write(sentence)
    name, ahead = advice.runner_up or ("", None)
    if ahead is not None:
        close = ahead.mean < spec.margin
        write(f"Runner-up: {name}, {ahead.mean:.1f} points behind{', which you would not notice' * close}.")
    if advice.regret is not None:
        write(f"Regret: the best candidate, known beforehand, would have gained {advice.regret:.1f} points more there.")
    say("\nThe last round, on the sessions that the choice was made on:\n")
    say(table(records(advice.table), SHOWN, room=80))
    if advice.out:
        why = "failed, wait for their model, or sent a request larger than the window"
        write(f"Out, since they {why}: {joined(advice.out)}.")
    write(f"{_rounds(advice.rounds)}. Points: {_rule(advice, spec.worth)}.")
    say(f"\nSettings to paste, for a window of {advice.window:,} tokens and {advice.advised.strategy}:")
    for one in pasted:
        say(f"\n{one.system} ({one.where}){': ' * bool(one.lacks)}{one.lacks}")
        if one.text:
            say(one.text.rstrip())


def _rule(advice: Advice, worth: float) -> str:
    return f"100 times {HALVES[advice.half]}, and {worth:g} for each tenth of the bill that is saved"


def _plain(advice: Advice, pasted: Sequence[Snippet]) -> dict[str, object]:
    return {
        "opening": advice.opening,
        "verdict": advice.verdict,
        "outcome": advice.outcome,
        "traded": advice.traded,
        "half": advice.half,
        "advised": asdict(advice.advised),
        "chosen": asdict(advice.chosen),
        "default": asdict(advice.default),
        "stay": advice.stay,
        "gain": advice.outside.gain and asdict(advice.outside.gain),
        "chosen_in_folds": list(advice.outside.chosen),
        "lead": advice.lead and asdict(advice.lead),
        "runner_up": advice.runner_up
        and {"candidate": advice.runner_up[0], "behind": advice.runner_up[1] and asdict(advice.runner_up[1])},
        "regret": advice.regret,
        "rounds": list(map(asdict, advice.rounds)),
        "candidates": records(advice.table),
        "window": advice.window,
        "out": list(advice.out),
        "pending_replays": advice.pending,
        "settings": list(map(asdict, pasted)),
    }
