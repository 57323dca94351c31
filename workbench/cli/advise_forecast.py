"""What an advice would take, said before it begins: rounds, minutes, calls of models."""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace

from workbench.base.formats import some
from workbench.cli.advise_json import plain_shortage
from workbench.cli.advise_next import longer_sessions
from workbench.cli.foresee import Foresight, duration, tell_forecast
from workbench.cli.next_steps import say_next
from workbench.cli.output import NothingToRun
from workbench.evaluation.experiment.forecast import together
from workbench.lab.advice.agents import AgentSearch
from workbench.lab.advice.search import Round
from workbench.lab.advice.shortage import NO_FIGURE, Shortage

BY_HAND = "set by hand; the command says how, and tries no strategy."
SIMULATED_TOO = "Each is replayed, and simulated, which pays every look-up of what was lost."


def predict(
    searches: Sequence[AgentSearch], foresight: Foresight, paths: Sequence[str] = ()
) -> bool:
    """Say what the searches would take; whether to go on.

    Args:
        searches: of all agents.
        foresight: how it is told.
        paths: of the sessions, for what to type where none is long enough.

    Raises:
        NothingToRun: in a dry run none is, and that was said.
    """
    long_searches: list[AgentSearch] = []
    by_hand: list[AgentSearch] = []
    shortages: list[tuple[AgentSearch, Shortage]] = []
    for search in searches:
        shortage = search.compactor.shortage()
        if shortage is not None:
            shortages.append((search, shortage))
        elif search.is_set_by_hand:
            by_hand.append(search)
        else:
            long_searches.append(search)
    if not (long_searches or foresight.as_json):
        if foresight.dry_run:
            _tell_nothing(shortages, by_hand, paths, foresight)
        return not foresight.dry_run
    asks_a_model = any(search.compactor.asks_a_model for search in long_searches)
    if not (foresight.dry_run or asks_a_model):
        _tell_rounds(long_searches, foresight)
        return True
    forecast = together([search.forecast() for search in long_searches])
    forecast = replace(forecast, sessions=sum(search.sessions for search in long_searches))
    rounds: list[Round] = []
    for search in long_searches:
        rounds += search.compactor.rounds()
    if not (foresight.dry_run and foresight.as_json):
        _tell_rounds(long_searches, foresight)
        _tell_left_out(shortages, by_hand, foresight)
    besides = {
        "rounds": [asdict(step) for step in rounds],
        "too_short": [_plain_shortage(*left_out) for left_out in shortages],
        "set_by_hand": [search.title for search in by_hand],
    }
    return tell_forecast(foresight, forecast, besides)


def _plain_shortage(search: AgentSearch, shortage: Shortage) -> dict[str, object]:
    """What the sessions of an agent lack, as plain JSON."""
    return {"title": search.title, **plain_shortage(shortage)}


def _tell_nothing(
    shortages: Sequence[tuple[AgentSearch, Shortage]],
    by_hand: Sequence[AgentSearch],
    paths: Sequence[str],
    foresight: Foresight,
) -> None:
    """Say in a dry run that nothing would be replayed, and why of each agent.

    Raises:
        NothingToRun: the sessions of all agents are too short, and it said what would help.
    """
    if not shortages:
        foresight.print_line("Nothing would be replayed.")
        _tell_left_out(shortages, by_hand, foresight)
        return
    foresight.print_line(f"Nothing would be replayed: {NO_FIGURE}")
    _tell_left_out(shortages, by_hand, foresight)
    if by_hand:
        return
    by_agent = [(search.agent, shortage) for search, shortage in shortages]
    commands = longer_sessions(paths, by_agent, shortages[0][0].compactor.spec.candidates)
    say_next(commands)
    raise NothingToRun


def _tell_left_out(
    shortages: Sequence[tuple[AgentSearch, Shortage]],
    by_hand: Sequence[AgentSearch],
    foresight: Foresight,
) -> None:
    """Say of each agent that is not tried what its sessions lack, or that it is set by hand."""
    for search, shortage in shortages:
        foresight.print_line(f"{search.title}: {shortage.clause}.")
    for search in by_hand:
        foresight.print_line(f"{search.title}: {BY_HAND}")


def _tell_rounds(searches: Sequence[AgentSearch], foresight: Foresight) -> None:
    """Say how many candidates the rounds of each agent's search try at most."""
    for search in searches:
        rounds = rounds_words(search.compactor.rounds())
        agent = f"{search.agent.name}: " if search.agent else ""
        foresight.print_line(f"{agent}{rounds}, at most.")
        if search.compactor.spec.simulate:
            foresight.print_line(SIMULATED_TOO)
    foresight.print_line("The folds use the same replays, and a few more.")
    workers = foresight.jobs or os.cpu_count() or 1
    seconds = sum(search.processor_seconds for search in searches)
    foresight.print_line(
        f"About {duration(seconds)} of a processor's time, shared by"
        f" {some(workers, 'processor')}.\nThe same command continues a stopped search."
    )


def rounds_words(rounds: Sequence[Round]) -> str:
    """The rounds of a search, in words."""
    steps = []
    for step in rounds:
        steps.append(f"{step.candidates} candidates on {some(step.recordings, 'recording')}")
    return f"Rounds: {', '.join(steps)}"
