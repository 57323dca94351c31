"""The contexts that strategies make of the same histories at the same size, for whoever asks a model about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.strategy import Preset
from workbench.datasets.bundled import bundled_files
from workbench.errors import LeftOut, SettingError
from workbench.experiment.prepared import Prepared
from workbench.experiment.settings import presets
from workbench.experiment.sources import Source, Unreadable, read
from workbench.importers.importer import files
from workbench.metrics.sizes import stays_larger
from workbench.models import find_model
from workbench.models.model import Model
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import matched
from workbench.transcript.context import Context
from workbench.transcript.message import Message
from workbench.transcript.session import Session

_WHOLE = PromptTemplate(result_chars=10**12, argument_chars=10**12)

What = Iterable[str | Path | Session] | str | Path | Session
"""Files, folders, globs or sessions; nothing takes the bundled sessions."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What one strategy sends at one boundary of one session.

    Attributes:
        share: the budget as a share of the history.
        at: the boundary: the history is `messages[:at]`.
        path: the file that the session was read from; None for a session at hand.
        over_target: why the strategy may not be compared at that size in that session: it stays larger there, at this
            boundary or another; empty where it may.
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


@dataclass(frozen=True, slots=True)
class Grid:
    """Which contexts are wanted.

    Attributes:
        strategies: names or presets; the references `none` and `null` are always there.
        shares: budgets, each in (0, 1).
        boundaries: where histories end, as shares of the messages.
        model: who writes summaries.
        window: tokens; None takes each session's own.
        redact: mask secrets first.
    """

    strategies: tuple[str | Preset, ...]
    shares: tuple[float, ...] = (0.1,)
    boundaries: tuple[float, ...] = (0.35, 0.5, 0.65, 0.8)
    model: str | Model = "extractive"
    window: int | None = None
    redact: bool = False

    def __post_init__(self) -> None:
        for value in (*self.shares, *self.boundaries):
            if not 0 < value < 1:
                raise SettingError(f"the share {value} is not between 0 and 1")

    def contexts(self, what: What = (), limit: int | None = None) -> Iterator[Compacted]:
        """Every context, session by session and strategy by strategy, at growing boundaries.

        Args:
            what: see `What`.
            limit: sessions at most.

        Raises:
            SettingError: there is nothing to read, or no session in it.
            ModelError: the model failed and a strategy has nothing to use otherwise.

        Warns:
            LeftOut: a file, each in turn, that cannot be read while others can.
        """
        given = {part.name: part for part in self.strategies if isinstance(part, Preset)}
        names = tuple(part.name if isinstance(part, Preset) else part for part in self.strategies)
        model = find_model(self.model) if isinstance(self.model, str) else self.model
        for path, ready in self._sessions(what, limit):
            at = at_shares(ready.session, self.boundaries)
            for preset in presets(names, given):
                replay = matched(
                    ready.session, preset, ready.reader(model), ready.sizing,
                    window=ready.window, at=at, shares=self.shares,
                )  # fmt: skip
                why = {share: stays_larger(replay, share) for share in self.shares}
                for shot in replay.snapshots:
                    over_target = why.get(shot.share or 1.0, "")
                    yield Compacted(ready, preset.name, shot.share or 1.0, shot.at, shot.context, path, over_target)

    def _sessions(self, what: What, limit: int | None) -> Iterator[tuple[Path | None, Prepared]]:
        left = limit
        bad: list[Unreadable] = []
        left_out: list[Unreadable] = []
        any_read = False
        for source in _sources(what):
            if left == 0:
                break
            found = read(source, self.window, redact=self.redact)
            bad += found.unreadable
            left_out += [one for one in found.unreadable if source.named or not one.is_prose]
            for ready in found.ready[:left]:
                left = None if left is None else left - 1
                any_read = True
                yield source.path, ready
        if not any_read and bad:
            more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
            raise SettingError(f"no session could be read: {bad[0].told}{more}")
        for one in left_out:
            warnings.warn(f"left out: {one.told}", LeftOut, stacklevel=2)


def _sources(what: What) -> Sequence[Source]:
    items: list[str | Path | Session] = [what] if isinstance(what, str | Path | Session) else list(what)
    own: list[str | Path | Session] = [*sorted(bundled_files(), key=lambda path: path.stat().st_size)]
    found: list[Source] = []
    for item in items or own:
        if isinstance(item, Session):
            found.append(Source(session=item))
        else:
            found += [Source(path=Path(path), named=path == str(item)) for path in files([item])]
    if not found:
        raise SettingError("there is nothing to read; name files or folders with recorded sessions")
    return found


def context_text(messages: Sequence[Message]) -> str:
    """A context as the text that a model is shown: whole, with thoughts kept apart."""
    return _WHOLE.transcript(messages)
