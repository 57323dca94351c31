"""The contexts that strategies make of the same histories at the same size, for measurements
that ask a model.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Self, TypeVar

from pydantic import Field

from workbench.base.errors import LeftOut, SettingError, Unanswered
from workbench.base.palette import REFERENCES
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.folder import Folder
from workbench.engine.models.model import Completion, Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.models.wrappers import innermost
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.filler import FillerModel, is_asked
from workbench.evaluation.experiment.prepared import Prepared, Unreadable, read
from workbench.evaluation.experiment.references import BaselineAtSizes
from workbench.evaluation.experiment.replay_rows import Row
from workbench.evaluation.experiment.requests_ahead import RequestsAhead
from workbench.evaluation.experiment.settings import MaskingSettings, ShareList, StrategyList
from workbench.evaluation.experiment.sources import What, sources_of
from workbench.evaluation.experiment.spec import (
    DEFAULT_STRATEGIES,
    Masking,
    chosen_baseline,
    with_references,
)
from workbench.evaluation.experiment.spec_fields import (
    Flag,
    OneModel,
    Shares,
    Strategies,
    Whole,
    Window,
)
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import matched, stays_larger
from workbench.evaluation.replays.step import CompactionEvent, Replay
from workbench.recordings.datasets.bundled import bundled_files


@dataclass(frozen=True, slots=True)
class Compacted:
    """What one strategy sends at one boundary of one session.

    Attributes:
        share: the budget as a share of the history, which is `messages[:at]`.
        over_target: why the strategy may not be compared at that size in that session; empty where
            it may.
        used: the size that was really used, as a share of the history.
        at_size_of: the strategy whose size it was cut to; empty where it was cut to `share`.
        writer: the model that wrote its summary; empty where it has none.
        chain: how many compactions in a row made it.
        awaited: whether it, or one that its strategy is judged by beside it, holds filler for an
            awaited answer.
    """

    ready: Prepared
    strategy: str
    share: float
    at: int
    context: Context
    over_target: str = ""
    used: float = 1.0
    at_size_of: str = ""
    writer: str = ""
    chain: int = 1
    awaited: bool = False

    @property
    def place(self) -> Row:
        """The columns that say which context a row is about."""
        session = self.ready.session
        return {
            "session": session.id,
            "project": session.project or session.id,
            "strategy": self.strategy,
            "share": self.share,
            "at": self.at,
            "tokens": self.context.tokens,
            "used": self.used,
            "at_size_of": self.at_size_of,
        }


Item = TypeVar("Item")


def even_choice(items: Sequence[Item], limit: int) -> Sequence[Item]:
    """All items, or at most so many of them at even distances; the first is among them."""
    if len(items) <= limit:
        return items
    return [items[number * len(items) // limit] for number in range(limit)]


def _compacted(
    prepared_session: Prepared,
    replay: Replay,
    over_target: Mapping[float, str],
    chain: int,
) -> Iterator[Compacted]:
    awaited = False
    for event in replay.events:
        awaited = awaited or any(completion.awaited for completion in _completions(event))
    for event in replay.events:
        share, sent = event.share or 1.0, event.compaction.sent
        history = prepared_session.sizing.history(prepared_session.session.messages, event.at)
        completions = _completions(event)
        yield Compacted(
            prepared_session,
            replay.preset,
            share,
            event.at,
            sent,
            over_target=over_target.get(share, ""),
            used=sent.spoken / max(history.spoken, 1),
            writer=completions[-1].model if completions else "",
            chain=chain,
            awaited=awaited,
        )


def _completions(event: CompactionEvent) -> list[Completion]:
    """All answers of models in a chain of compactions, in order."""
    completions: list[Completion] = []
    for compaction in (*event.earlier, event.compaction):
        completions += compaction.completions
    return completions


def _at_sizes(
    contexts: Sequence[Compacted], events: Sequence[CompactionEvent], baseline: BaselineAtSizes
) -> Iterator[Compacted]:
    """The baseline at the sizes of some contexts that may be compared."""
    for context, event in zip(contexts, events, strict=True):
        if context.over_target:
            continue
        at_size = replace(
            context,
            strategy=baseline.preset.name,
            at_size_of=context.strategy,
        )
        sent = baseline.context(event)
        if sent is None:
            yield replace(at_size, over_target="the baseline cannot be cut to that size")
        else:
            used = sent.spoken / max(event.compaction.before.spoken, 1)
            yield replace(at_size, context=sent, used=used)


class ContextSpec(Masking):
    """Which contexts are measured, and how models are asked about them."""

    strategies: Strategies = Field(
        DEFAULT_STRATEGIES,
        description=(
            "Strategies to compare: names, or presets of your own; none and null are added."
        ),
    )
    shares: Shares = Field(
        (0.1,), description="Budgets at which all compact the same history, as shares of it."
    )
    boundaries: Shares = Field(
        (0.5, 0.8), description="Where they compact, as shares of the messages."
    )
    writer: OneModel = Field("extractive", description="Model that writes summaries.")
    window: Window = Field(
        None, description="Context window in tokens; None takes each session's own."
    )
    limit: Whole | None = Field(None, ge=1, description="Use at most this many sessions.")
    model_settings: ModelSettings | None = Field(
        None,
        description=(
            "Cache and limits under which models are asked; None takes the usual cache and no"
            " limits."
        ),
    )
    out: Path = Field(Path("reports/contexts"), description="Folder for the table.")
    quiet: Flag = Field(False, description="Show neither progress nor the figures; warnings stay.")

    @property
    def how(self) -> ModelSettings:
        """How models are asked; limits count for the folder of the table unless another run is
        named.
        """
        return ModelSettings.of_run(self.model_settings, self.out)

    def without_writer(self) -> tuple[Self, FillerModel | None]:
        """The specification for a forecast, which asks no model: filler is in the place of a real
        model's summaries.

        Returns:
            The specification itself and None where no real model writes.
        """
        writer = self.how.model(self.writer)
        if not is_asked(writer):
            return self, None
        filler = FillerModel(writer.name)
        return self.changed(writer=filler), filler

    def contexts(
        self,
        what: What = (),
        *,
        chains: Sequence[int] = (1,),
        with_baseline: bool = True,
    ) -> Iterator[Compacted]:
        """Every context, session by session and strategy by strategy, at growing boundaries.

        Args:
            what: files, folders, patterns or sessions; none stand for the bundled sessions.
            chains: how many compactions in a row make a context; one after the other where there
                are several.
            with_baseline: whether those of the baseline (`chosen_baseline`) follow those of a
                strategy, cut to the very sizes that it used by one compaction; where it cannot be
                cut to one, `over_target` says so.

        Raises:
            Unanswered: the writer gave no answer. One whose answers are awaited is asked for all
                contexts before.
            SettingError: no session can be read. Where only some files cannot, each is a warning
                `LeftOut`.
        """
        model = self.how.model(self.writer)
        presets = with_references(self.strategies)
        base = _baseline(presets) if with_baseline else None
        awaited: list[Unanswered] = []
        for prepared_session in self._sessions(what):
            boundaries = self.boundaries_of(prepared_session.session)
            writer = prepared_session.reader(model)
            if isinstance(innermost(model), Folder):
                writer = RequestsAhead(writer, awaited=awaited)
            baseline = None
            if base is not None:
                baseline = BaselineAtSizes(prepared_session, base, writer, boundaries, self.shares)
            for preset, chain in product(presets, chains):
                replay = matched(
                    prepared_session.session,
                    preset,
                    writer,
                    prepared_session.sizing,
                    window=prepared_session.window,
                    boundaries=boundaries,
                    shares=self.shares,
                    chain=chain,
                )
                too_large = {share: stays_larger(replay, share) for share in self.shares}
                contexts = list(_compacted(prepared_session, replay, too_large, chain))
                yield from contexts
                if baseline is None or awaited:
                    continue
                if preset.name not in (baseline.preset.name, *REFERENCES):
                    yield from _at_sizes(contexts, replay.events, baseline)
        if awaited:
            raise awaited[0]

    def boundaries_of(self, session: Session) -> tuple[int, ...]:
        """Where strategies compact a session, as indices of messages."""
        return at_shares(session, self.boundaries)

    def _sessions(self, what: What) -> Iterator[Prepared]:
        used = 0
        all_unreadable: list[Unreadable] = []
        left_out: list[Unreadable] = []
        smallest_first = sorted(bundled_files(), key=lambda path: path.stat().st_size)
        for source in sources_of(what, smallest_first):
            if used == self.limit:
                break
            outcome = read(source, self.window, redaction=self.redaction)
            all_unreadable += outcome.unreadable
            for unreadable in outcome.unreadable:
                if source.named or not unreadable.is_prose:
                    left_out.append(unreadable)
            sessions = outcome.ready
            if self.limit is not None:
                sessions = sessions[: self.limit - used]
            used += len(sessions)
            for session in sessions:
                for reports in session.left_out:
                    message = (
                        f"left out of {session.session.id}, since it cannot be true: {reports}"
                    )
                    warnings.warn(message, LeftOut, stacklevel=2)
            yield from sessions
        if not used and all_unreadable:
            more = f" (and {len(all_unreadable) - 1} more)" if len(all_unreadable) > 1 else ""
            raise SettingError(f"no session could be read: {all_unreadable[0]}{more}")
        for unreadable in left_out:
            warnings.warn(f"left out: {unreadable}", LeftOut, stacklevel=2)


def _baseline(presets: Sequence[Preset]) -> Preset | None:
    """The preset that the others are compared with; None where there are not two."""
    name = chosen_baseline("", [preset.name for preset in presets])
    return next((preset for preset in presets if preset.name == name), None)


class ContextSettings(MaskingSettings, total=False):
    """The fields of `ContextSpec` as a caller may give them."""

    strategies: StrategyList
    shares: ShareList
    boundaries: ShareList
    writer: str | Model
    window: int | None
    limit: int | None
    model_settings: ModelSettings | None
    out: str | Path
    quiet: bool
