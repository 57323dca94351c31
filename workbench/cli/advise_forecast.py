"""What an advice would take, said before it begins: rounds, minutes, calls of models."""

import os
from collections.abc import Sequence
from dataclasses import asdict, replace

from workbench.base.formats import some
from workbench.cli.foresee import Foresight, duration, tell_forecast
from workbench.cli.output import say
from workbench.evaluation.experiment.forecast import together
from workbench.lab.advice.agents import NOT_TRIED, AgentSearch
from workbench.lab.advice.search import Round

SIMULATED_TOO = "Each is replayed, and simulated, which pays every look-up of what was lost."


def predict(searches: Sequence[AgentSearch], foresight: Foresight) -> bool:
    """Say what the searches would take; whether to go on."""
    long_searches: list[AgentSearch] = []
    for search in searches:
        if search.compactor.shortage() is None and not search.is_set_by_hand:
            long_searches.append(search)
    if not (long_searches or foresight.as_json):
        return _tell_shortage(searches, foresight)
    searches = long_searches
    if not (foresight.dry_run or any(search.compactor.asks_a_model for search in searches)):
        _tell_rounds(searches, foresight)
        return True
    forecast = together([search.forecast() for search in searches])
    forecast = replace(forecast, sessions=sum(search.sessions for search in searches))
    rounds: list[Round] = []
    for search in searches:
        rounds += search.compactor.rounds()
    if not (foresight.dry_run and foresight.as_json):
        _tell_rounds(searches, foresight)
    return tell_forecast(foresight, forecast, {"rounds": [asdict(step) for step in rounds]})


def _tell_shortage(searches: Sequence[AgentSearch], foresight: Foresight) -> bool:
    """Say in a dry run that nothing would be replayed; whether to go on."""
    if not foresight.dry_run:
        return True
    for search in searches:
        shortage = search.compactor.shortage()
        reason = NOT_TRIED if shortage is None else shortage.words
        say(f"Nothing would be replayed: {reason}")
    return False


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
