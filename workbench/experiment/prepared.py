"""One session, made ready for any number of replays, and one replay of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.compaction.presets import preset
from workbench.compaction.strategy import Preset
from workbench.errors import Unanswered
from workbench.experiment.filler import FillerModel
from workbench.formats import some
from workbench.metrics.exam.exams import Exams
from workbench.metrics.exam.item import Exam, corrected
from workbench.metrics.index import Index
from workbench.metrics.metric import MetricInput
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.models.model import Model
from workbench.models.settings import ModelSettings
from workbench.models.tokenizer import TiktokenCounter
from workbench.models.wrappers import AnsweringModel
from workbench.replay.boundaries import by_fill
from workbench.replay.natural import natural
from workbench.replay.sizing import Sizing, Window, window_of
from workbench.replay.step import Replay
from workbench.transcript.context import Context
from workbench.transcript.session import Session


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session with its sizes, its index and the window of its replays (tokens), which is at least the one wanted."""

    session: Session
    sizing: Sizing
    index: Index
    window: int
    wanted: Window
    _models: dict[Model, Model] = field(default_factory=dict, init=False, repr=False, compare=False)

    def reader(self, model: Model) -> Model:
        """The model of a replay, which ends where a provider does not answer.

        `extractive` takes what it reads from the index, so that no message is read a second time.
        """
        if not isinstance(model, Extractive):
            return model if isinstance(model, AnsweringModel) else AnsweringModel(model)
        if model not in self._models:
            self._models[model] = found = model.reading_with(self.index.extractor)
            self._models[found] = found
        return self._models[model]


def prepared(session: Session, window: int | None = None) -> Prepared:
    """Count and calibrate a session, and extract its entities.

    Args:
        session: any.
        window: tokens; None takes the one that the recording is evidence of, see `replay.window`.
    """
    counter = TiktokenCounter()
    sizing = Sizing.of(session, counter.sizes(session.messages), counter)
    index = Index(session.messages, session.cwd)
    wanted = window_of(session, window)
    return Prepared(session, sizing, index, sizing.window(wanted.tokens), wanted)


def replay(
    session: Session | Prepared,
    strategy: str | Preset,
    *,
    window: int | None = None,
    model: str | Model = "extractive",
    model_settings: ModelSettings | None = None,
) -> Replay:
    """Replay a session under the strategy's own trigger, request by request.

    Args:
        session: a session, or the result of `prepared`, which saves counting and extraction.
        strategy: a name, or a preset of your own.
        window: tokens; None takes the session's own.
        model: which writes summaries.
        model_settings: cache and limits; None takes the usual cache and no limits.

    Raises:
        UnknownName: no strategy or model of that name.
        Unanswered: the model's provider gave no answer, so that there is no replay.
        ModelError: the model's answer is of no use and the strategy has no fallback.
    """
    ready = session if isinstance(session, Prepared) else prepared(session, window)
    used = ready.window if window is None else ready.sizing.window(window)
    chosen = preset(strategy) if isinstance(strategy, str) else strategy
    asked = ready.reader((model_settings or ModelSettings()).model(model))
    at = by_fill(ready.session, ready.sizing, used)
    try:
        return natural(ready.session, chosen, asked, ready.sizing, window=used, score_at=at)
    except Unanswered as error:
        filler, name = FillerModel(asked.name), asked.name.removeprefix("litellm:")
        natural(ready.session, chosen, filler, ready.sizing, window=used)
        written = f"{sum(getattr(asked, 'answers', ()))} of {some(len(filler.asked), 'summary was', 'summaries were')}"
        raise Unanswered(f"{written} written by {name}, so that nothing is scored: {error}") from error


def metric_input(ready: Prepared, done: Replay) -> MetricInput:
    """What metrics look at: the replay with its session's index."""
    return MetricInput(done, ready.index)


def exam(session: Session | Prepared, at: int, context: Context | None = None) -> Exam:
    """What the recording after `messages[:at]` needed of it, as questions with look-alike answers.

    Args:
        session: a session, or one that `prepared` made ready.
        at: the boundary, 0..n.
        context: what is to be examined, of a replay of this session; the lexical reader looks for the answers in it.

    Returns:
        The items; `.table()` gives them as a DataFrame, and `.score` says how many of them the context still tells.
    """
    ready = session if isinstance(session, Prepared) else prepared(session)
    held = Exams.of(ready.index).at(at)
    if context is None:
        return Exam(ready.session.id, at, held.items)
    credit = corrected(held.items, held.credit(view(ready.session, context)))
    return Exam(ready.session.id, at, held.items, tuple(credit.tolist()))
