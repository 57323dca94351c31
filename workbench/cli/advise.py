"""`workbench advise`: which strategy with which settings fits these sessions, and settings to
paste.
"""

import sys
from collections.abc import Sequence

from workbench.base.formats import capitalized, joined, paragraph, some
from workbench.cli.advise_forecast import predict, rounds_words
from workbench.cli.advise_json import compactor_snippets, plain_advice
from workbench.cli.advise_next import next_commands
from workbench.cli.advise_words import (
    CONTEXT_CAN_CHANGE,
    IN_ASKED_WINDOW,
    NOT_MEASURED,
    regret_words,
    rule_words,
    runner_up_words,
    session_words,
)
from workbench.cli.foresee import Foresight
from workbench.cli.next_steps import say_next
from workbench.cli.options import (
    AsJson,
    DryRun,
    Newest,
    Paths,
    takes,
    tell_terms,
    tell_waiting,
    written_last,
)
from workbench.cli.output import OK, PENDING, complain, records, say, say_json, table, write
from workbench.evaluation.experiment.processes import lasting_workers
from workbench.lab.advice.advice import Advice
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.agents import (
    SETTING,
    SWITCHING,
    AgentAdvice,
    AgentSearch,
    agent_searches,
)
from workbench.lab.advice.own_setting import alternative_setting, measured_setting
from workbench.lab.advice.paste import Snippet

SHOWN = {
    "candidate": "candidate", "points": "points:count", "the work": "work:percent", "names": "names:percent",
    "saved": "saved:percent", "cost": "usd:dollars", "sessions": "sessions", "projects": "projects",
}  # fmt: skip


@takes(AdviceSpec, jobs=None)
def advise(
    spec: AdviceSpec,
    paths: Paths = None,
    newest: Newest = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Find the strategy and settings that fit your sessions, and say what choosing them gains on
    unseen projects.

    Sessions are grouped by agent. For Claude Code, Codex, pi, opencode, Kilo Code and Gemini CLI the
    advice is compared with what the agent does today: first what its own settings would gain, then
    what a strategy of ours in its place would.

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
    recordings = written_last(paths or (), newest)
    foresight = Foresight(spec.model, spec.jobs, spec.model_settings, dry_run, as_json)
    if not dry_run:
        tell_terms(*spec.model)
    searches = agent_searches(recordings, silent)
    tells_forecast = dry_run or not spec.quiet
    if tells_forecast and not predict(searches, foresight, paths or ()):
        return OK
    advices: list[AgentAdvice] = []
    with lasting_workers():
        for search in searches:
            settings = search.settings_advice()
            if settings is not None and not as_json:
                _show_settings(search, settings, spec)
                sys.stdout.flush()  # a pipe would keep it until the end
            advice = search.advice(settings)
            if not as_json:
                _show_compactor(advice, spec)
            advices.append(advice)
    pending = max(advice.pending for advice in advices)
    if pending:
        complain(
            f"pending: {some(pending, 'replay')} wait for answers; the same command asks again"
        )
        tell_waiting(*set(advices[0].compactor.grid.models).difference(spec.model))
    if as_json:
        say_json({"agents": [plain_advice(advice, spec) for advice in advices]})
    else:
        say_next(next_commands(paths or (), advices, spec))
    return PENDING if pending else OK


def _show_settings(search: AgentSearch, settings: Advice, spec: AdviceSpec) -> None:
    """Print what an agent can be set to, as soon as that is known."""
    agent = search.agent
    present = search.present
    assert agent is not None and present is not None
    sessions = some(search.sessions, "session")
    say(f"\n{agent.name}, {sessions}")
    snippet = measured_setting(agent, present, settings)
    alternative = alternative_setting(agent, present, settings)
    if snippet is not None:
        write(settings.verdict)
        _show_paste("To paste into", snippet, spec.window)
        write(settings.traded)
    elif alternative is not None:
        condition, alternative_snippet = alternative
        write(settings.verdict)
        condition = capitalized(condition)
        _show_paste(f"{condition}, paste into", alternative_snippet, spec.window)
        write(paragraph(settings.traded, CONTEXT_CAN_CHANGE))
    elif settings.outcome == "no figure":
        write(paragraph(settings.verdict, settings.traded))
    else:
        write(paragraph(settings.verdict, settings.traded, CONTEXT_CAN_CHANGE))
    write(
        f"Today it compacts at {present.limit.tokens:,} of {present.window.tokens:,} tokens. The"
        f" limit: {present.limit.source}; the window: {present.window.source}."
    )
    if settings.outcome == "no figure":
        return
    write(f"The table calls today's setting {settings.default.strategy}.")
    say(f"\n{SETTING.format(agent=agent.name)}:")
    _show_search(settings, spec, [settings.verdict, settings.traded])
    write(NOT_MEASURED)


def _show_paste(title: str, snippet: Snippet, asked_window: int | None) -> None:
    """Print a setting, where it goes, and that it is of the window that was asked for, if one was."""
    if asked_window is not None:
        write(IN_ASKED_WINDOW.format(window=asked_window))
    write(f"{title} {snippet.where}, {snippet.beside}; {snippet.lacks}:")
    say(f"\n{snippet.text.rstrip()}")


def _show_compactor(advice: AgentAdvice, spec: AdviceSpec) -> None:
    """Print what a strategy of ours in the place of the agent's own would gain."""
    agent = advice.agent
    present = advice.present
    settings = advice.settings
    if agent is None or present is None or settings is None:
        if agent is not None:
            sessions = some(advice.sessions, "session")
            say(f"\n{agent.name}, {sessions}")
        _show_own_agent(advice, spec)
        return
    if not advice.has_figure:
        return
    write(f"{SWITCHING.format(agent=agent.name)} (`Compactor`, in an agent of yours):")
    _show_search(advice.compactor, spec, [settings.opening])
    if not advice.compactor.stay:
        _show_snippets(advice.compactor, present.window.tokens)


def _show_own_agent(advice: AgentAdvice, spec: AdviceSpec) -> None:
    """Print what fits an agent that one builds; first what to do with those that one does not."""
    for other_agent in advice.other_agents:
        write(other_agent.answer)
        if other_agent.line:
            say(f"\n{other_agent.line}")
    if advice.is_set_by_hand:
        return
    if not advice.has_figure:
        _, _, reason = advice.compactor.verdict.partition(": ")
        reason = capitalized(reason)
        if not advice.other_agents:
            reason = f"Nothing to paste. {reason}"
        write(reason)
        return
    if advice.other_agents:
        say("\nWhat would fit the same work in an agent that you build:")
    _show_search(advice.compactor, spec)
    _show_snippets(advice.compactor, advice.compactor.window)


def _show_search(advice: Advice, spec: AdviceSpec, printed: Sequence[str] = ()) -> None:
    """Print a search in words and its table; without paragraphs that were printed already."""
    paragraphs = (
        advice.opening,
        advice.verdict,
        advice.traded,
    )
    for text in paragraphs:
        if text and text not in printed:
            write(text)
    for text in (runner_up_words(advice, spec.margin), regret_words(advice)):
        if text:
            write(text)
    if len(advice.table):
        say("\nThe last round, on the sessions that the choice was made on:\n")
        columns = dict(SHOWN)
        if advice.unit == "session":  # each counts as a project
            del columns["projects"]
        say(table(records(advice.table), columns, room=80))
        if session_words(advice):
            write(session_words(advice))
    if advice.out:
        reasons = "failed, wait for their model, or sent a request larger than the window"
        write(f"Out, since they {reasons}: {joined(advice.out)}.")
    write(f"{rounds_words(advice.rounds)}. {rule_words(advice)}")


def _show_snippets(advice: Advice, window: int) -> None:
    say(f"\nTo paste, for a window of {window:,} tokens and {advice.advised.strategy}:")
    for snippet in compactor_snippets(advice, window):
        say(f"\n{snippet.system} ({snippet.where})")
        say(snippet.text.rstrip())
