"""What a host may set for ExAthena, and where the settings come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from workbench.compaction.presets.ex_athena.microcompact import MICROCOMPACT_RUN_THRESHOLD
from workbench.compaction.presets.ex_athena.shrinking import PER_TOOL_RESULT_MAX_CHARS, SNIP_AGE_ITERATIONS
from workbench.compaction.presets.ex_athena.trigger import COMPACT_AT
from workbench.compaction.stage import Stage
from workbench.errors import SettingError


@dataclass(frozen=True, slots=True)
class Options:
    """All options, each of them in effect.

    Attributes:
        compact_at: share of the window that is due, in (0, 1].
        pinned_prefix_count: slots at the front that stay.
        live_suffix_count: messages at the end that stay.
        per_tool_result_max_chars: bytes of a result above which it is archived.
        snip_age_iterations: answers of the model after which a result is stale.
        microcompact_run_threshold: adjacent results that make a run; less than three is three.
        compaction_pipeline: stages in the place of the usual ones, by name or a host's own; None for the usual ones.
        reactive_compact: whether an overflow is answered with a forced run.
        auto_pin: tools whose results a forced run leaves alone.
        summary_model: the name of another model that writes the summary; empty for the one at hand.
    """

    compact_at: float = COMPACT_AT
    pinned_prefix_count: int = 1
    live_suffix_count: int = 6
    per_tool_result_max_chars: int = PER_TOOL_RESULT_MAX_CHARS
    snip_age_iterations: int = SNIP_AGE_ITERATIONS
    microcompact_run_threshold: int = MICROCOMPACT_RUN_THRESHOLD
    compaction_pipeline: Sequence[Stage | str] | None = None
    reactive_compact: bool = True
    auto_pin: tuple[str, ...] = ()
    summary_model: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.compact_at <= 1:
            raise SettingError(f"compact_at is {self.compact_at!r}; a share in (0, 1] would be accepted")
        for name in ("pinned_prefix_count", "live_suffix_count", "per_tool_result_max_chars", "snip_age_iterations"):
            if getattr(self, name) < 0:
                raise SettingError(f"{name} is {getattr(self, name)!r}; a whole number of at least 0 would be accepted")

    @classmethod
    def resolved(cls, per_run: Mapping[str, object], app_config: object = ()) -> Self:
        """Each option from the run's own, else from the application's, else its default.

        Args:
            per_run: what came with the run; None is not set, and so is False but for `reactive_compact`.
            app_config: a map, or pairs of name and value; anything else counts as empty.
        """
        config = _pairs(app_config)
        found: dict[str, Any] = {}  # values of any option, checked as they are used
        for name in (field.name for field in fields(cls)):
            for given in (config, per_run):
                if name in given and _is_set(name, given[name]):
                    found[name] = given[name]
        return cls(**found)


def _is_set(name: str, value: object) -> bool:
    return value is not None and (value is not False or name == "reactive_compact")


def _pairs(given: object) -> dict[str, object]:
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if not isinstance(given, list | tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in given):
        return {}
    return {str(name): value for name, value in given}
