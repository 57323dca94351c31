"""Sessions made ready for any number of replays, where a run's sessions come from, and one
replay.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import NoneType

from workbench.base.errors import SettingError, Unanswered
from workbench.base.formats import some
from workbench.base.typed_value import check_instance, check_whole_number, check_window
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.bundled import Bundled
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.wrappers import AnsweringModel
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.session import CopiedRequests, Session
from workbench.evaluation.experiment.filler import FillerModel
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.memory import RECORDINGS
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.exam.item import Exam, corrected
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.metrics.view import view
from workbench.evaluation.metrics.work_exam.document import file_beside
from workbench.evaluation.metrics.work_exam.reading import WorkReading
from workbench.evaluation.replays.boundaries import by_fill
from workbench.evaluation.replays.matched import RecordedContexts, recorded_contexts
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sized_session import SizedSession
from workbench.evaluation.replays.sizing import Sizing, Window, window_of
from workbench.evaluation.replays.step import Replay
from workbench.recordings.importers.copies import copied_from, marked_as_copied
from workbench.recordings.importers.importer import UnknownFormat, scan


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session with its sizes, its index and the window of its replays (tokens), which is at least
    the one wanted.

    `masked` is what was masked in it and may stand nowhere; `left_out`, what it reports that cannot
    be true.
    """

    session: Session
    sizing: Sizing
    index: Index
    window: int
    wanted: Window
    masked: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    _models: dict[Model, Model] = field(default_factory=dict, init=False, repr=False, compare=False)
    _content: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    _recorded: list[Mapping[int, RecordedContexts]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def content(self) -> str:
        """A name for all that the session holds: equal wherever its file lies, and whatever read
        it.
        """
        if not self._content:
            session = self.session
            facts = (session.id, session.model, session.window, session.cwd, session.project)
            parts = [facts, session.path, sorted(self.left_out)]
            if session.copied_requests:
                parts.append(sorted(session.copied.answers))
            self._content.append(key(*parts))
        return self._content[0]

    @property
    def recorded(self) -> Mapping[int, RecordedContexts]:
        """Its recorded compactions by boundary, see `recorded_contexts`."""
        if not self._recorded:
            self._recorded.append(recorded_contexts(self.session, self.sizing))
        return self._recorded[0]

    @property
    def work(self) -> WorkReading:
        """The session's written exams of the work; they are read when they are asked for."""
        return WorkReading.of(self.index, self.session)

    @property
    def _own_exam_boundaries(self) -> tuple[int, ...]:
        """The boundaries of its exam of the work that no session keeps from which it was copied."""
        first_request = self.session.requests[0]
        return tuple(place for place in self.work.boundaries if place >= first_request)

    def exam_beside(self, boundaries: Collection[int]) -> tuple[int, ...]:
        """Further boundaries for the exam of the work: its own, where none of the given
        ones has any of its questions.
        """
        exam_boundaries = self._own_exam_boundaries
        if set(boundaries).intersection(exam_boundaries):
            return ()
        return exam_boundaries

    def exam_after(self, boundaries: Sequence[int]) -> tuple[int, ...]:
        """Further boundaries for the exam of the work on a strategy's own trigger: its own from the
        first of the given ones on.

        Before that the window was never full, and all strategies send the whole history.
        """
        further: list[int] = []
        for boundary in self._own_exam_boundaries:
            if boundaries and boundary > boundaries[0] and boundary not in boundaries:
                further.append(boundary)
        return tuple(further)

    def reader(self, model: Model) -> Model:
        """The model of a replay, which ends where a provider does not answer.

        `extractive` takes what it reads from the index, so that no message is read a second time.
        """
        if not isinstance(model, Extractive | Bundled):
            if isinstance(model, AnsweringModel):
                return model
            return AnsweringModel(model)
        if model not in self._models:
            self._models[model] = model.reading_with(self.index.extractor)
        return self._models[model]


def prepared(session: Session, window: int | None = None) -> Prepared:
    """Check and count a session, calibrate it, and extract its entities.

    What the recording reports of its sizes and times that cannot be true is left out, see
    `replays.reports`.

    Args:
        session: any.
        window: tokens; None takes the one that the recording is evidence of, see `replays.sizing`.

    Raises:
        SettingError: the session is none, or the window no number of tokens.
    """
    check_window(window, optional=True)
    sized = SizedSession.of(session)
    trusted = sized.session
    sizing = sized.sizing
    wanted_window = window_of(trusted, window)
    index = Index(trusted.messages, trusted.cwd)
    return Prepared(
        trusted,
        sizing,
        index,
        sizing.window(wanted_window.tokens),
        wanted_window,
        left_out=sized.left_out,
    )


def replay(
    session: Session | Prepared,
    strategy: str | Preset,
    *,
    window: int | None = None,
    model: str | Model = "extractive",
    model_settings: ModelSettings | None = None,
    refusals: bool = False,
    by_hand: Collection[int] = (),
) -> Replay:
    """Replay a session under the strategy's own trigger, request by request.

    Args:
        session: a session, or the result of `prepared`, which saves counting and extraction.
        strategy: a name, or a preset of your own.
        window: tokens; None takes the session's own.
        model: which writes summaries.
        model_settings: cache and limits; None takes the usual cache and no limits.
        refusals: whether a request above the window is refused, as by a provider, and answered as
            the strategy's system does; `ended` then says where that would end its run. Otherwise it
            is sent as it is.
        by_hand: before which messages the user compacts.

    Raises:
        UnknownName: no strategy or model of that name.
        SettingError: `by_hand` names a message that the session has not, or the window is no number
            of tokens.
        CompactionRefused: the user compacts during a turn, and the strategy's system does so only
            between turns.
        Unanswered: the model's provider gave no answer, so that there is no replay.
        ModelError: the model's answer is of no use and the strategy has no fallback.
    """
    prepared_session = session if isinstance(session, Prepared) else prepared(session, window)
    check_window(window, optional=True)
    used = prepared_session.window if window is None else prepared_session.sizing.window(window)
    strategy_preset = preset(strategy)
    check_instance("model_settings", model_settings, (ModelSettings, NoneType), "wb.ModelSettings")
    check_instance("by_hand", by_hand, Collection, "a list of numbers of messages")
    for index in by_hand:
        check_whole_number("by_hand", index, 0)
    asked_model = prepared_session.reader((model_settings or ModelSettings()).model(model))
    last_index = len(prepared_session.session.messages) - 1
    if wrong := [index for index in by_hand if not 0 <= index <= last_index]:
        raise SettingError(
            f"by_hand names message {wrong[0]}; a number from 0 to {last_index} would be accepted"
        )
    boundaries = by_fill(prepared_session.session, prepared_session.sizing, used)

    def replayed(model: Model, scored: Collection[int] = ()) -> Replay:
        return natural(
            prepared_session.session,
            strategy_preset,
            model,
            prepared_session.sizing,
            window=used,
            boundaries=scored,
            refusals=refusals,
            by_hand=by_hand,
            exam_at=prepared_session.exam_after(boundaries) if scored else (),
        )

    try:
        return replayed(asked_model, boundaries)
    except Unanswered as error:
        filler, name = FillerModel(asked_model.name), asked_model.name.removeprefix("litellm:")
        replayed(filler)
        progress = (
            f"{sum(getattr(asked_model, 'answers', ()))} of"
            f" {some(len(filler.asked), 'summary was', 'summaries were')}"
        )
        raise Unanswered(
            f"{progress} written by {name}, so that nothing is scored: {error}"
        ) from error


def metric_input(ready: Prepared, done: Replay) -> MetricInput:
    """What metrics look at: the replay with its session's index.

    Raises:
        SettingError: one of them is of another class.
    """
    check_instance("ready", ready, Prepared, "a session that wb.prepared made ready")
    check_instance("done", done, Replay, "a replay, as wb.replay makes it,")
    return MetricInput(done, ready.index)


def exam(session: Session | Prepared, at: int, context: Context | None = None) -> Exam:
    """What the recording after `messages[:at]` needed of it, as questions with look-alike answers.

    Args:
        session: a session, or one that `prepared` made ready.
        at: the boundary, 0..n.
        context: what is to be examined, of a replay of this session; the lexical reader looks for
            the answers in it.

    Returns:
        The items; `.table()` gives them as a DataFrame, and `.score` says how many of them the
        context still tells.

    Raises:
        SettingError: the session has no such boundary, or `context` is of another class.
    """
    prepared_session = session if isinstance(session, Prepared) else prepared(session)
    recording = prepared_session.session
    last_boundary = len(recording.messages)
    check_whole_number("at", at, 0)
    if at > last_boundary:
        raise SettingError(f"at is {at}; the session's boundaries are 0 to {last_boundary}")
    exams = Exams.of(prepared_session.index)
    boundary_exam = exams.at(at)
    items = boundary_exam.items
    if context is None:
        return Exam(recording.id, at, items)
    check_instance("context", context, Context, "a context, such as one of a replay,")
    context_view = view(recording, context)
    credit = corrected(items, boundary_exam.credit(context_view))
    return Exam(recording.id, at, items, tuple(credit.tolist()))


PROSE = frozenset({".md", ".log"})
"""Endings of files that may lie beside recordings in a folder, such as a README."""
NO_ANSWER = "holds no answer of a model"
"""Why a session is left out that its file names."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file without a session to use, and the reason in one sentence; `foreign` if it is no
    recording at all.
    """

    path: str
    reason: str
    foreign: bool = False

    @property
    def is_prose(self) -> bool:
        """Whether it is what a folder of recordings may hold besides them."""
        return self.foreign and Path(self.path).suffix in PROSE

    def __str__(self) -> str:
        if self.reason.startswith(self.path):
            return self.reason
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Recording:
    """What a source held: sessions ready for replays, or why there are none."""

    ready: tuple[Prepared, ...]
    unreadable: tuple[Unreadable, ...] = ()


def read(
    source: SessionSource, window: int | None = None, *, redaction: frozenset[str] | None = None
) -> Recording:
    """Read, count and calibrate a source, and extract its entities. A process remembers what it
    read last.

    Args:
        source: a file or a session.
        window: tokens; None takes each session's own.
        redaction: mask secrets and these kinds of personal data first, so that nothing that comes
            later ever sees one.
    """
    if source.path is None:
        assert source.session is not None
        prepared_session = _masked(source.session, window, redaction)
        return Recording((prepared_session,))
    version: tuple[object, ...]
    if source.remote is None:
        exams_file = file_beside(source.path)
        version = (_changed(source.path), _changed(exams_file))
    else:
        version = (source.remote.version,)
    return _read_file(source.path, version, window, redaction, source.copied)


def _changed(path: Path) -> int:
    """When a file was changed; 0 where there is none."""
    if not path.exists():
        return 0
    return path.stat().st_mtime_ns


@lru_cache(maxsize=RECORDINGS)
def _read_file(
    path: Path,
    version: tuple[object, ...],
    window: int | None,
    redaction: frozenset[str] | None,
    copied: tuple[CopiedRequests, ...] | None,
) -> Recording:
    """The sessions of a file; `version` is that of the file and of the exams beside it."""
    prepared_sessions: list[Prepared] = []
    unreadable: list[Unreadable] = []
    mask: Callable[[str], str] = str
    if redaction is not None:
        mask = _masker(redaction)
    for loaded in scan([path], lenient=True):
        masked_path = mask(loaded.path)
        error = loaded.error
        if error is not None:
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__  # it is tried again while nothing else takes memory
            reason = mask(str(error))
            is_foreign = isinstance(error, UnknownFormat)
            unreadable.append(Unreadable(masked_path, reason, is_foreign))
        for session in marked_as_copied(loaded.sessions, copied):
            if session.requests:
                prepared_sessions.append(_masked(session, window, redaction))
            else:
                reason = mask(_without_request(loaded.path, session))
                unreadable.append(Unreadable(masked_path, reason))
    return Recording(tuple(prepared_sessions), tuple(unreadable))


def _without_request(path: str, session: Session) -> str:
    """Why a session has no request of its own, in a sentence."""
    place = f"{path}: session {session.id!r}"
    copied_words = copied_from(session)
    if copied_words:
        return f"{place}: {copied_words}"
    return f"{place} {NO_ANSWER}"


def _masker(kinds: frozenset[str]) -> Callable[[str], str]:
    """See `redaction.masker`, which takes a third of a second to load."""
    from workbench.engine.transcript.redaction import masker

    return masker(kinds)


def _masked(session: Session, window: int | None, kinds: frozenset[str] | None) -> Prepared:
    if kinds is None:
        return prepared(session, window)
    from workbench.engine.transcript.redaction import redaction

    masked_session, values = redaction(session, kinds)
    return replace(prepared(masked_session, window), masked=values)
