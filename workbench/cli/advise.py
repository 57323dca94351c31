"""`workbench advise`: which strategy with which settings fits these sessions, and settings to
paste.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict

from workbench.base.formats import joined, some
from workbench.cli.foresee import Foresight, tell_forecast
from workbench.cli.options import AsJson, DryRun, Paths, takes, tell_terms, tell_waiting
from workbench.cli.output import OK, PENDING, complain, records, say, say_json, table, write
from workbench.evaluation.experiment.compare import together
from workbench.evaluation.metrics import HALVES
from workbench.lab.advice.advise import Advice, AdviceSpec
from workbench.lab.advice.agents import (
    SETTING,
    SWITCHING,
    AgentAdvice,
    AgentSearch,
    PresentSetting,
    agent_searches,
)
from workbench.lab.advice.paste import Snippet, agent_snippet, snippets
from workbench.lab.advice.search import Round

SHOWN = {
    "candidate": "candidate", "points": "points:count", "the work": "work:decimal", "names": "names:decimal",
    "saved": "saved:percent", "cost": "usd:dollars", "sessions": "sessions", "projects": "projects",
}  # fmt: skip

TOKENS_A_SECOND = 60_000
"""Of a session that one worker replays and scores under one candidate, on a machine that is busy
besides.
"""


@takes(AdviceSpec, jobs=None)
def advise(
    spec: AdviceSpec, paths: Paths = None, dry_run: DryRun = False, as_json: AsJson = False
) -> int:
    """Find the strategy and settings that fit your sessions, and say what choosing them gains on
    unseen projects.

    Sessions are grouped by agent. For Claude Code, Codex, pi, opencode and Gemini CLI the advice is
    compared with what the agent does today: first what its own settings would gain, then what a
    strategy of ours in its place would.

    Points: 100 times the work that a candidate still tells on its own trigger (names where the
    sessions have no questions about the work), and --worth points for each tenth of the bill that
    it saves. All candidates are tried on the same few sessions, the better half on twice as many,
    the last on all. The gain that is promised is measured on projects that the choice had not seen.
    The same command continues a stopped search.

    Examples:

      workbench advise my-sessions/ --dry-run

      workbench advise my-sessions/ --default claude_code --worth 0

      workbench advise my-sessions/ --candidates 20 --window 64000

      workbench advise my-sessions/ --space grid.toml --model extractive,litellm:gpt-4o-mini
      --max-dollars 2
    """
    silent = spec.changed(quiet=spec.quiet or as_json)
    foresight = Foresight(spec.model, spec.jobs, spec.model_settings, dry_run, as_json)
    if not dry_run:
        tell_terms(*spec.model)
    searches = agent_searches(paths or (), silent)
    if (dry_run or not spec.quiet) and not _foretell(searches, spec, foresight):
        return OK
    advices = [search.advice() for search in searches]
    if pending := max(advice.pending for advice in advices):
        complain(
            f"pending: {some(pending, 'replay')} wait for answers; the same command asks again"
        )
        tell_waiting(*set(advices[0].compactor.grid.models).difference(spec.model))
    if as_json:
        say_json({"agents": list(map(_plain, advices))})
    else:
        for advice in advices:
            _show(advice, spec)
    return PENDING if pending else OK


def _foretell(searches: Sequence[AgentSearch], spec: AdviceSpec, foresight: Foresight) -> bool:
    """Say what the searches would take; whether to go on."""
    rounds = [planned for search in searches for planned in search.compactor.rounds()]
    forecast = together([search.forecast() for search in searches])
    if not (foresight.dry_run and foresight.as_json):
        minutes = forecast.tokens / TOKENS_A_SECOND / (spec.jobs or os.cpu_count() or 1) / 60
        tell = say if foresight.dry_run else complain
        for search in searches:
            agent = f"{search.agent.name}: " if search.agent else ""
            tell(f"{agent}{_rounds(search.compactor.rounds())}, at most.")
        tell(f"In about {some(max(round(minutes), 1), 'minute')}.")
        tell("The folds use the same replays, and some more where they come to other finalists.")
    return tell_forecast(foresight, forecast, {"rounds": list(map(asdict, rounds))})


def _rounds(planned: Sequence[Round]) -> str:
    steps = (f"{step.candidates} candidates on {step.recordings} recordings" for step in planned)
    return f"Rounds: {', '.join(steps)}"


def _show(advice: AgentAdvice, spec: AdviceSpec) -> None:
    agent, present = advice.agent, advice.present
    if agent is not None:
        say(f"\n{agent.name}, {some(advice.sessions, 'session')}")
    if agent is None or present is None:
        _show_search(advice.compactor, spec)
        _show_snippets(advice.compactor, advice.compactor.window)
        return
    write(
        f"Today it compacts at {present.limit.tokens:,} of {present.window.tokens:,} tokens. The"
        f" limit: {present.limit.source}; the window: {present.window.source}."
        f" {advice.compactor.default.strategy} restates it."
    )
    if advice.settings is None:
        write(f"{agent.name} has no setting that moves its compaction.")
    else:
        say(f"\n{SETTING.format(agent=agent.name)}:")
        _show_search(advice.settings, spec)
        _show_setting(advice, advice.settings, present)
    say(f"\n{SWITCHING.format(agent=agent.name)} (`Compactor`, in an agent of yours):")
    _show_search(
        advice.compactor, spec, printed_opening=advice.settings.opening if advice.settings else ""
    )
    if not advice.compactor.stay:
        _show_snippets(advice.compactor, present.window.tokens)


def _show_setting(advice: AgentAdvice, settings: Advice, present: PresentSetting) -> None:
    """What to paste: only a setting whose gain was measured."""
    assert advice.agent is not None
    snippet = None
    if not settings.stay:
        snippet = agent_snippet(
            settings.grid.preset(settings.advised), advice.agent.preset, present.window.tokens
        )
    if snippet is None:
        write("Set nothing: leave its compaction as it is.")
    else:
        say(f"\nTo paste, {snippet.where}{': ' * bool(snippet.lacks)}{snippet.lacks}")
        say(snippet.text.rstrip())
    write(NOT_MEASURED)


NOT_MEASURED = (
    "Its prompt, its hooks and a plug-in can be set besides; what these gain was not measured."
    " --model tries models."
)


def _show_search(advice: Advice, spec: AdviceSpec, printed_opening: str = "") -> None:
    """Print a search in words and its table; without its opening if that was printed already."""
    opening = "" if advice.opening == printed_opening else advice.opening
    for sentence in filter(None, (opening, advice.verdict, advice.traded)):
        write(sentence)
    name, ahead = advice.runner_up or ("", None)
    if ahead is not None:
        close = ", which you would not notice" if abs(ahead.mean) < spec.margin else ""
        side = "behind" if ahead.mean >= 0 else "ahead"
        write(f"Runner-up: {name}, {abs(ahead.mean):.1f} points {side}{close}.")
    if advice.regret is not None:
        write(
            f"Regret: the best candidate, known beforehand, would have gained {advice.regret:.1f}"
            " points more there."
        )
    if len(advice.table):
        say("\nThe last round, on the sessions that the choice was made on:\n")
        say(table(records(advice.table), SHOWN, room=80))
    if advice.out:
        reasons = "failed, wait for their model, or sent a request larger than the window"
        write(f"Out, since they {reasons}: {joined(advice.out)}.")
    write(f"{_rounds(advice.rounds)}. Points: {_rule(advice, spec.worth)}.")


def _show_snippets(advice: Advice, window: int) -> None:
    say(f"\nTo paste, for a window of {window:,} tokens and {advice.advised.strategy}:")
    for snippet in _snippets(advice, window):
        say(f"\n{snippet.system} ({snippet.where})")
        say(snippet.text.rstrip())


def _snippets(advice: Advice, window: int) -> list[Snippet]:
    point = advice.advised
    return list(
        snippets(advice.grid.preset(point), point.base, point.settings, window, point.model)
    )


def _rule(advice: Advice, worth: float) -> str:
    return (
        f"100 times {HALVES[advice.half]}, and {worth:g} for each tenth of the bill that is saved"
    )


def _plain(advice: AgentAdvice) -> dict[str, object]:
    present, settings = advice.present, advice.settings
    window = present.window.tokens if present else advice.compactor.window
    pasted = (
        _snippets(advice.compactor, window) if present is None or not advice.compactor.stay else []
    )
    snippet = None
    if advice.agent and present and settings and not settings.stay:
        snippet = agent_snippet(settings.grid.preset(settings.advised), advice.agent.preset, window)
    return {
        "agent": advice.agent and advice.agent.name,
        "sessions": advice.sessions,
        "present": (
            present
            and {
                "window": present.window.tokens,
                "window_from": present.window.source,
                "compacts_at": present.limit.tokens,
                "compacts_at_from": present.limit.source,
            }
        ),
        "settings": settings and {**_plain_search(settings), "paste": snippet and asdict(snippet)},
        "compactor": {**_plain_search(advice.compactor), "paste": list(map(asdict, pasted))},
    }


def _plain_search(advice: Advice) -> dict[str, object]:
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
        "runner_up": (
            advice.runner_up
            and {
                "candidate": advice.runner_up[0],
                "behind": advice.runner_up[1] and asdict(advice.runner_up[1]),
            }
        ),
        "regret": advice.regret,
        "rounds": list(map(asdict, advice.rounds)),
        "candidates": records(advice.table),
        "window": advice.window,
        "out": list(advice.out),
        "pending_replays": advice.pending,
    }
