"""The contexts that strategies make of the same histories at the same size, for measurements that ask a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from workbench.datasets.bundled import bundled_files
from workbench.errors import LeftOut, SettingError
from workbench.experiment.prepared import Prepared
from workbench.experiment.sources import Unreadable, What, read, sources_of
from workbench.experiment.spec import (
    DEFAULT_STRATEGIES,
    Flag,
    OneModel,
    Read,
    Shares,
    Spec,
    Strategies,
    Whole,
    one_model,
    with_references,
)
from workbench.judge.question_answerer import QuestionAnswerer
from workbench.metrics.size import stays_larger
from workbench.models.model import Model
from workbench.models.settings import ModelSettings
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import matched
from workbench.transcript.context import Context
from workbench.transcript.session import Session


@dataclass(frozen=True, slots=True)
class Compacted:
    """What one strategy sends at one boundary of one session.

    Attributes:
        share: the budget as a share of the history, which is `messages[:at]`.
        path: the file that the session was read from; None for a session at hand.
        over_target: why the strategy may not be compared at that size in that session; empty where it may.
    """

    ready: Prepared
    strategy: str
    share: float
    at: int
    context: Context
    path: Path | None = None
    over_target: str = ""

    @property
    def session(self) -> Session:
        """The recording."""
        return self.ready.session


def _reader(value: Any) -> object:  # noqa: ANN401 - whatever was given
    return value if isinstance(value, QuestionAnswerer) else one_model(value)


MaybeModel: TypeAlias = Annotated[str | Model | None, Read(lambda value: one_model(value) if value else None)]


class ContextSpec(Spec):
    """Which contexts are measured, and how models are asked about them."""

    strategies: Strategies = Field(
        DEFAULT_STRATEGIES, description="Strategies to compare: names, or presets of your own; none and null are added."
    )
    shares: Shares = Field((0.1,), description="Budgets at which all compact the same history, as shares of it.")
    boundaries: Shares = Field((0.5, 0.8), description="Where they compact, as shares of the messages.")
    model: OneModel = Field("extractive", description="Model that writes summaries.")
    window: Whole | None = Field(None, ge=1000, description="Context window in tokens; None takes each session's own.")
    limit: Whole | None = Field(None, ge=1, description="Use at most this many sessions.")
    redact: Flag = Field(
        False, description="Mask secrets, e-mail addresses and home directories before anything is asked or written."
    )
    model_settings: ModelSettings | None = Field(
        None, description="Cache and limits under which models are asked; None takes the usual cache and no limits."
    )
    out: Path = Field(Path("reports/contexts"), description="Folder for the table.")
    quiet: Flag = Field(False, description="Show no progress.")

    @property
    def how(self) -> ModelSettings:
        """How models are asked; limits count for the folder of the table unless another run is named."""
        found = self.model_settings or ModelSettings()
        return replace(found, run=found.run or str(self.out))

    def contexts(self, what: What = ()) -> Iterator[Compacted]:
        """Every context, session by session and strategy by strategy, at growing boundaries.

        Args:
            what: files, folders, patterns or sessions; none stand for the bundled sessions.

        Raises:
            SettingError: no session can be read. Where only some files cannot, each is a warning `LeftOut`.
        """
        model = self.how.model(self.model)
        for path, ready in self._sessions(what):
            at = at_shares(ready.session, self.boundaries)
            for preset in with_references(self.strategies):
                replay = matched(
                    ready.session, preset, ready.reader(model), ready.sizing,
                    window=ready.window, at=at, shares=self.shares,
                )  # fmt: skip
                why = {share: stays_larger(replay, share) for share in self.shares}
                for shot in replay.snapshots:
                    over_target = why.get(shot.share or 1.0, "")
                    yield Compacted(ready, preset.name, shot.share or 1.0, shot.at, shot.context, path, over_target)

    def _sessions(self, what: What) -> Iterator[tuple[Path | None, Prepared]]:
        used, unreadable, left_out = 0, list[Unreadable](), list[Unreadable]()
        smallest_first = sorted(bundled_files(), key=lambda path: path.stat().st_size)
        for source in sources_of(what, smallest_first):
            if used == self.limit:
                break
            found = read(source, self.window, redact=self.redact)
            unreadable += found.unreadable
            left_out += [one for one in found.unreadable if source.named or not one.is_prose]
            for ready in found.ready[: None if self.limit is None else self.limit - used]:
                used += 1
                yield source.path, ready
        if not used and unreadable:
            more = f" (and {len(unreadable) - 1} more)" if len(unreadable) > 1 else ""
            raise SettingError(f"no session could be read: {unreadable[0]}{more}")
        for one in left_out:
            warnings.warn(f"left out: {one}", LeftOut, stacklevel=2)


class AnswerSpec(ContextSpec):
    """A measurement by a model's answers about contexts."""

    reader: Annotated[str | Model | QuestionAnswerer, Read(_reader)] = Field(
        description="Model that reads each context and answers: local, litellm:NAME, or a model of your own."
    )
    reader_window: Whole | None = Field(None, ge=500, description="Context window of the reader; None asks it.")

    def answerer(self) -> QuestionAnswerer:
        """The reader, asked under the settings."""
        if isinstance(self.reader, QuestionAnswerer):
            return self.reader
        return QuestionAnswerer(self.how.model(self.reader), self.reader_window)
