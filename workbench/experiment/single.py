"""One session under one strategy, for people who look closely."""

from __future__ import annotations

from workbench.compaction.presets import preset
from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared, prepared
from workbench.metrics.metric import MetricInput
from workbench.models.model import Model
from workbench.models.settings import ModelSettings
from workbench.replay.boundaries import by_fill
from workbench.replay.natural import natural
from workbench.replay.step import Replay
from workbench.transcript.session import Session


def replay(
    session: Session | Prepared,
    strategy: str | Preset,
    *,
    window: int | None = None,
    model: str | Model = "extractive",
    model_settings: ModelSettings | None = None,
) -> Replay:
    """The session under the strategy's own trigger, request by request.

    Args:
        session: a session, or one that `prepared` made ready: saves counting and extraction it again.
        strategy: a name, or a preset of your own.
        window: tokens; None takes the session's own.
        model: who writes summaries.
        model_settings: from which cache and within which limits; None takes the usual cache and no limits.

    Raises:
        UnknownName: no strategy or model of that name.
        ModelError: the model failed and the strategy has nothing to use otherwise.
    """
    ready = session if isinstance(session, Prepared) else prepared(session, window)
    used = ready.window if window is None else ready.sizing.window(window)
    chosen = preset(strategy) if isinstance(strategy, str) else strategy
    asked = ready.reader((model_settings or ModelSettings()).model(model))
    at = by_fill(ready.session, ready.sizing, used)
    return natural(ready.session, chosen, asked, ready.sizing, window=used, score_at=at)


def metric_input(ready: Prepared, done: Replay) -> MetricInput:
    """What metrics look at: the replay with its session's index."""
    return MetricInput(done, ready.index)
