"""What a run is asked to do, and how it is written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path

from workbench.compaction.presets import BUILTIN, preset
from workbench.compaction.strategy import Preset
from workbench.errors import SettingError
from workbench.experiment.code import own_code
from workbench.metrics.pricing import known_tariff
from workbench.models.tariff import given_tariff
from workbench.replay.boundaries import Boundaries, checked

DEFAULT_STRATEGIES = ("none", "truncate", "summarize", "pipeline")
REFERENCES = ("none", "null")


@dataclass(frozen=True, slots=True)
class Settings:
    """A run, but for its sessions.

    Attributes:
        strategies: names of presets; the references `none` and `null` are added by the run.
        window: tokens; None takes each session's own.
        model: who writes summaries: `extractive`, `litellm:<name>`, ...
        shares: budgets of the matched mode as shares of the history, each in (0, 1); empty leaves that mode out.
        boundaries: where the matched mode compacts: shares of the messages, indices of messages, `fill` (where the
            whole history would fill the window) or `recorded` (where the recorded agent compacted).
        seed: for parts that vary.
        redact: whether secrets, e-mail addresses and names of home directories are masked as a session is read.
        price_model: the model whose prices and cache rules every session is reckoned with; empty for each its own.
        prices: prices of one's own, in USD a million tokens: `input=3,output=15,cache_read=0.3,cache_write=3.75`.
    """

    strategies: tuple[str, ...] = DEFAULT_STRATEGIES
    window: int | None = None
    model: str = "extractive"
    shares: tuple[float, ...] = (0.1, 0.2, 0.3, 0.5)
    boundaries: Boundaries = (0.35, 0.5, 0.65, 0.8)
    seed: int = 0
    redact: bool = False
    price_model: str = ""
    prices: str = ""

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 1_000:
            raise SettingError(f"the window is {self.window} tokens; it must be at least 1,000")
        for value in self.shares:
            if not 0 < value < 1:
                raise SettingError(f"the share {value} is not between 0 and 1")
        checked(self.boundaries)
        if self.price_model:
            known_tariff(self.price_model)
        if self.prices:
            given_tariff(self.prices)
        if not self.strategies:
            raise SettingError("no strategy is named; `workbench list strategies` shows those that are known")

    def as_json(self) -> dict[str, object]:
        """The fields as plain JSON."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]  # a dict, as asdict's is


def presets(names: tuple[str, ...], given: Mapping[str, Preset] | None = None) -> tuple[Preset, ...]:
    """The presets of these names with the references: `none` first, `null` last.

    Raises:
        UnknownName: a name is neither given, nor built in, nor installed.
    """
    known = dict(given or {})
    inner = [name for name in dict.fromkeys(names) if name not in REFERENCES]
    return tuple(known[name] if name in known else preset(name) for name in ("none", *inner, "null"))


def known_strategies() -> tuple[str, ...]:
    """The names of the built-in presets."""
    return tuple(BUILTIN)


def written(part: object) -> object:
    """A part as plain JSON: its type's name and its fields; functions by their place; the code of whoever is not us."""
    code = own_code(part)
    own: dict[str, object] = {"code": code} if code else {}
    if is_dataclass(part) and not isinstance(part, type):
        values = {field.name: written(getattr(part, field.name)) for field in fields(part) if field.init}
        return {"part": type(part).__qualname__, **values, **own}
    if isinstance(part, str | int | float | bool | None):
        return part
    if isinstance(part, tuple | list):
        return [written(item) for item in part]
    if isinstance(part, Mapping):
        return {str(key): written(value) for key, value in part.items()}
    if isinstance(part, frozenset | set):
        return sorted(str(item) for item in part)
    name = getattr(part, "__qualname__", None)
    place = f"{getattr(part, '__module__', '')}.{name}" if name else type(part).__qualname__
    return {"part": place, **own} if own else place


PRESENTATION = frozenset(
    {"report", "explore", "cli", "analysis", "validation", "datasets", "markup.py", "palette.py", "__main__.py"}
)
"""What can change without changing a replay."""


@cache
def code_version() -> str:
    """A hash of the package's own source: another version of the code never reuses a replay."""
    root = Path(__file__).parent.parent
    seal = hashlib.sha256()
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.md")]):
        if path.relative_to(root).parts[0] not in PRESENTATION:
            seal.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return seal.hexdigest()[:16]


def key(*parts: object) -> str:
    """A short name for these parts, the same on every machine."""
    text = json.dumps([written(part) for part in parts], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
