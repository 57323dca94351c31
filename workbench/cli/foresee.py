"""What models will be asked, said before the first call: calls, tokens, minutes and dollars."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.base.formats import count, dollars, joined, some
from workbench.cli.output import complain, say, say_json, table
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.speed import Speed, speed
from workbench.evaluation.experiment.filler import PAID, UNPRICED, ModelUse, is_asked
from workbench.evaluation.experiment.forecast import Forecast

COLUMNS = {
    "strategy": "strategy", "model": "model", "requests": "requests:count", "tokens read": "input_tokens:count",
    "tokens written": "output_tokens:count", "cost": "usd:dollars",
}  # fmt: skip
FOLDER = "folder:"
"""How the name of a model begins whose answers are files."""
UNKNOWN_SPEED = "how fast and at what price they are answered is not known."
FREE = "No provider's model would be asked: it costs nothing."


@dataclass(frozen=True, slots=True)
class Foresight:
    """How forecasts are told.

    Attributes:
        models: the models that a command was given.
        jobs, settings: how many calls its providers get at a time.
        dry_run: nothing else is done: it is the command's output.
        as_json: as JSON, in a dry run; a run's own output stays alone.
        condition: the words before a forecast that holds only if something goes as it is assumed to.
    """

    models: Iterable[str | Model]
    jobs: int | None = 1
    settings: ModelSettings | None = None
    dry_run: bool = False
    as_json: bool = False
    condition: str = ""

    @property
    def asks(self) -> bool:
        """Whether a language model may be asked."""
        return any(map(is_asked, map(find_model, self.models)))

    def tell(self, uses: Mapping[str, ModelUse]) -> bool:
        """Say what is to come, by purpose; whether the command should go on."""
        if self.dry_run and self.as_json:
            say_json({purpose: self.plain(use) for purpose, use in uses.items()})
            return False
        asks_models = False
        for purpose, use in uses.items():
            if use.requests:
                asks_models = True
                self.print_line(self.condition + self.sentence(purpose, use))
        if self.dry_run and not asks_models:
            say(FREE)
        return not self.dry_run

    def print_line(self, text: str) -> None:
        """Print a line of a forecast: it is the output of a dry run, and a note of any other."""
        if self.dry_run:
            say(text)
        else:
            complain(text)

    def before(self, quiet: bool, *purposes: str) -> Callable[[Sequence[ModelUse]], bool]:
        """A function that tells a forecast, one use for each purpose, unless the command is quiet.

        It returns whether the command should go on.
        """

        def tell_uses(uses: Sequence[ModelUse]) -> bool:
            if quiet and not self.dry_run:
                return True
            return self.tell(dict(zip(purposes, uses, strict=False)))

        return tell_uses

    def plain(self, use: ModelUse) -> dict[str, object]:
        """A forecast as plain JSON."""
        if use.model.startswith(FOLDER):
            return {**asdict(use), "seconds": None, "speed": UNKNOWN_SPEED}
        return {**asdict(use), "seconds": self.seconds(use), "speed": self.speed(use.model).known}

    def sentence(self, purpose: str, use: ModelUse) -> str:
        """What a model would be asked at most, how long that takes and what it costs."""
        requests = (
            f"{use.requests:,} requests to {use.model} for {purpose}: {use.input_tokens:,} tokens"
            f" to read, {use.output_tokens:,} to write"
        )
        if use.model.startswith(FOLDER):
            return f"{requests}; {UNKNOWN_SPEED}"
        model_speed = self.speed(use.model)
        time = duration(self.seconds(use))
        return (
            f"{requests}; about {time} at {model_speed.read:,.0f} tokens read"
            f" and {model_speed.written:,.0f} written a second ({model_speed.known}); {_cost(use)}"
        )

    def seconds(self, use: ModelUse) -> float:
        """About how long it takes; a model on this machine answers one call at a time."""
        seconds = self.speed(use.model).seconds(use.input_tokens, use.output_tokens)
        if not use.model.startswith((PAID, *UNPRICED)):
            return seconds
        workers = self.jobs or os.cpu_count() or 1
        concurrency = getattr(self.settings, "concurrency", None) or workers
        return seconds / min(workers, concurrency)

    def speed(self, model: str) -> Speed:
        """How fast the model of that name is."""
        for given_name in self.models:
            if isinstance(given_name, str) and find_model(given_name).name == model:
                return speed(given_name)
        return speed(model)


def duration(seconds: float) -> str:
    """`40 seconds`, `12 minutes`, `3.1 hours`."""
    if seconds >= 7_200:
        return f"{count(seconds / 3_600)} hours"
    if seconds >= 90:
        return some(round(seconds / 60), "minute")
    return some(max(round(seconds), 1), "second")


def _cost(use: ModelUse) -> str:
    if use.model.startswith(UNPRICED):
        return "what it costs is not known."
    if not use.model.startswith(PAID):
        return "it costs nothing."
    if use.usd is None:
        return "its price is not known; docs/my-provider.md says how to give one."
    return f"at most about {dollars(use.usd)}, less what is in the cache."


def tell_forecast(
    foresight: Foresight, forecast: Forecast, besides: Mapping[str, object] | None = None
) -> bool:
    """Say what a run would take; `besides` has further fields of the JSON. Whether the command
    should go on.
    """
    uses, strategies = _by_model(forecast.asked)
    if foresight.dry_run and foresight.as_json:
        say_json({**(besides or {}), **_forecast_as_json(foresight, forecast, uses)})
        return False
    if foresight.dry_run:
        _say_replays(forecast)
    for model, use in uses.items():
        purpose = f"summaries of {joined(strategies[model])}"
        foresight.print_line(foresight.sentence(purpose, use))
    return not foresight.dry_run


def _by_model(
    strategy_uses: Iterable[ModelUse],
) -> tuple[dict[str, ModelUse], dict[str, list[str]]]:
    """What each model would be asked in all, and the strategies that would ask it."""
    totals: dict[str, ModelUse] = {}
    strategies = defaultdict[str, list[str]](list)
    for use in strategy_uses:
        totals[use.model] = totals.get(use.model, ModelUse("", use.model)) + use
        strategies[use.model].append(use.strategy)
    return totals, strategies


def _forecast_as_json(
    foresight: Foresight, forecast: Forecast, uses: Mapping[str, ModelUse]
) -> dict[str, object]:
    return {
        **asdict(forecast),
        "requests": forecast.requests,
        "usd": forecast.usd,
        "seconds": sum(foresight.seconds(use) for use in uses.values()),
        "speed": [foresight.speed(model).known for model in uses],
    }


def _say_replays(forecast: Forecast) -> None:
    """Print how much there is to replay, and which strategies would ask a model."""
    sessions = some(forecast.sessions, "session")
    if forecast.unreadable:
        sessions += f" and {forecast.unreadable} that cannot be replayed"
    replays = some(forecast.replays, "replay")
    say(f"{sessions}; {replays}, {forecast.done} of them on disk already.")
    where = " in the others" if forecast.done else ""
    say(f"{forecast.tokens:,} tokens to replay{where}.")
    if forecast.asked:
        say(f"\n{table(map(asdict, forecast.asked), COLUMNS)}\n")
    else:
        say(FREE)
