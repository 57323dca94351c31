"""What models will be asked, said before the first call: calls, tokens, minutes and dollars."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.base.formats import count, dollars, joined, some
from workbench.cli.output import complain, say, say_json, table
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.speed import Speed, speed
from workbench.evaluation.experiment.compare import Forecast
from workbench.evaluation.experiment.filler import PAID, UNPRICED, ModelUse, is_asked

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
        given: the words before a forecast that holds only if something goes as it is assumed to.
    """

    models: Iterable[str | Model]
    jobs: int | None = 1
    settings: ModelSettings | None = None
    dry_run: bool = False
    as_json: bool = False
    given: str = ""

    @property
    def asks(self) -> bool:
        """Whether a language model may be asked."""
        return any(map(is_asked, map(find_model, self.models)))

    def tell(self, uses: Mapping[str, ModelUse]) -> bool:
        """Say what is to come, by purpose; whether the command should go on."""
        if self.dry_run and self.as_json:
            say_json({purpose: self.plain(use) for purpose, use in uses.items()})
            return False
        expected_uses = [(purpose, use) for purpose, use in uses.items() if use.requests]
        for purpose, use in expected_uses:
            (say if self.dry_run else complain)(self.given + self.sentence(purpose, use))
        if self.dry_run and not expected_uses:
            say(FREE)
        return not self.dry_run

    def before(self, quiet: bool, *purposes: str) -> Callable[[Sequence[ModelUse]], bool]:
        """What tells a forecast, a use for each purpose, unless the command is quiet; whether it
        should go on.
        """
        return lambda uses: (
            (quiet and not self.dry_run) or self.tell(dict(zip(purposes, uses, strict=False)))
        )

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
        fast, time = self.speed(use.model), _duration(self.seconds(use))
        return (
            f"{requests}; about {time} at {fast.read:,.0f} tokens read "
            f"and {fast.written:,.0f} written a second ({fast.known}); {_cost(use)}"
        )

    def seconds(self, use: ModelUse) -> float:
        """About how long it takes; a model on this machine answers one call at a time."""
        concurrency = (
            getattr(self.settings, "concurrency", None) or self.jobs or os.cpu_count() or 1
        )
        is_parallel = use.model.startswith((PAID, *UNPRICED))
        at_once = min(self.jobs or os.cpu_count() or 1, concurrency) if is_parallel else 1
        return self.speed(use.model).seconds(use.input_tokens, use.output_tokens) / at_once

    def speed(self, model: str) -> Speed:
        """How fast the model of that name is."""
        named = {find_model(one).name: one for one in self.models if isinstance(one, str)}
        return speed(named.get(model, model))


def _duration(seconds: float) -> str:
    """`40 seconds`, `12 minutes`, `3.1 hours`."""
    if seconds >= 7_200:
        return f"{count(seconds / 3_600)} hours"
    return (
        some(round(seconds / 60), "minute")
        if seconds >= 90
        else some(max(round(seconds), 1), "second")
    )


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
    by_model = {
        one.model: [own for own in forecast.asked if own.model == one.model]
        for one in forecast.asked
    }
    uses = {model: sum(own, ModelUse("", model)) for model, own in by_model.items()}
    if foresight.dry_run and foresight.as_json:
        seconds = sum(foresight.seconds(use) for use in uses.values())
        totals = {"requests": forecast.requests, "usd": forecast.usd, "seconds": seconds}
        say_json(
            {
                **(besides or {}),
                **asdict(forecast),
                **totals,
                "speed": [foresight.speed(model).known for model in uses],
            }
        )
        return False
    if foresight.dry_run:
        unreadable = f" and {forecast.unreadable} that cannot be replayed" * bool(
            forecast.unreadable
        )
        say(
            f"{forecast.sessions} sessions{unreadable}; {forecast.replays} replays, {forecast.done} of them on"
            " disk already."
        )
        say(
            f"{forecast.tokens:,} tokens to replay in the other {forecast.replays - forecast.done}."
        )
        say(f"\n{table(map(asdict, forecast.asked), COLUMNS)}\n" if forecast.asked else FREE)
    print_line: Callable[[str], None] = say if foresight.dry_run else complain
    for model, use in uses.items():
        print_line(
            foresight.sentence(
                f"summaries of {joined([one.strategy for one in by_model[model]])}", use
            )
        )
    return not foresight.dry_run
