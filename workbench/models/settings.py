"""How a run asks its models: from which cache, within which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from socket import gethostname
from typing import TypeGuard

from workbench.errors import SettingError
from workbench.models import find_model, kinds
from workbench.models.cached import Cached, Sealed
from workbench.models.checked import CHOICES, Checked, OnBadSummary
from workbench.models.ledger import FILE, Ledger
from workbench.models.local import Local
from workbench.models.model import Model, SummaryRequest
from workbench.models.parts import InParts
from workbench.models.weights import cache_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """The cache and the limits under which real models are asked; `extractive` needs neither.

    Attributes:
        cache: the folder with the answers; None for the usual one.
        use_cache: whether answers are taken from the cache and kept in it.
        cache_only: whether nothing is ever asked; what the cache does not hold is an error.
        max_usd: dollars that the run may spend at most, its earlier sittings included; None for no limit.
        concurrency: calls at most at once, over all processes of the run; None for no limit.
        run: whose calls count against the limits; a run that is given none takes its folder's name.
        on_bad_summary: what becomes of a summary that is useless: `fallback`, `fail` or `keep`, see `Checked`.
        replicate: another one asks every question anew.
        served: the addresses of local servers by the name of their weights.
        machine: the one whose processes keep the limits together; empty for whichever asks.
    """

    cache: Path | str | None = None
    use_cache: bool = True
    cache_only: bool = False
    max_usd: float | None = None
    concurrency: int | None = None
    on_bad_summary: OnBadSummary = "fallback"
    run: str = ""
    replicate: int = 0
    served: tuple[tuple[str, str], ...] = ()
    machine: str = ""

    def __post_init__(self) -> None:
        if self.cache_only and not self.use_cache:
            raise SettingError("answers cannot come from the cache alone where no cache is used")
        if self.on_bad_summary not in CHOICES:
            raise SettingError(f"a bad summary cannot be met with {self.on_bad_summary!r}, but {', '.join(CHOICES)}")
        _ = self.ledger

    @property
    def ledger(self) -> Ledger:
        """Where answers and calls are written down."""
        return Ledger(Path(self.cache or cache_folder()) / FILE, self.run, self.max_usd, self.concurrency)

    def model(self, wanted: str | Model) -> Model:
        """The model, asked under these rules.

        Args:
            wanted: its name, or a model; one that cannot say what its answers depend on is left as it is.

        Raises:
            UnknownName: no model of that name.
            SettingError: this is another machine than the one that keeps the limits.
        """
        found = find_model(wanted) if isinstance(wanted, str) else wanted
        if not _is_sealed(found):
            return found
        if isinstance(found, Local) and not found.address:
            found = Local(found.weights, dict(self.served).get(found.weights, ""))
        if self.machine not in ("", gethostname()) and (self.max_usd is not None or self.concurrency is not None):
            raise SettingError(
                f"limits of spending and of calls at once hold on one machine, and this worker runs on "
                f"{gethostname()!r}, not on {self.machine!r}; take workers on one machine, or no such limit"
            )
        limited = found.limited(self.ledger)
        asked = Cached(limited, self.ledger, self.replicate, self.cache_only) if self.use_cache else limited
        return Checked(InParts(asked), self.on_bad_summary)

    def seal(self, model: Model) -> Mapping[str, object]:
        """What the answers of one of these models depend on, besides the questions."""
        inner = model
        while isinstance(inner, Checked | InParts | Cached):
            inner = inner.model
        return {**inner.seal(_NOTHING), "on_bad_summary": self.on_bad_summary} if _is_sealed(inner) else {}


def anew(model: Model, replicate: int) -> Model:
    """The same model, whose answers on disk are those of another replicate; one without such answers as it is."""
    if isinstance(model, Cached):
        return replace(model, replicate=model.replicate + replicate)
    if isinstance(model, InParts):
        inner = anew(model.model, replicate)
        return replace(model, model=inner)  # type: ignore[arg-type]  # it is of the same kind as before
    return replace(model, model=anew(model.model, replicate)) if isinstance(model, Checked) else model


_NOTHING = SummaryRequest(purpose="summary", system="", write=str)


def _is_sealed(model: Model) -> TypeGuard[Sealed]:
    return hasattr(model, "seal") and hasattr(model, "limited")


def model_names(text: str) -> tuple[str, ...]:
    """Names of models between commas, such as `extractive,local`; what a scripted model says may hold commas itself.

    Raises:
        SettingError: no name at all.
    """
    found: list[str] = []
    for part in text.split(","):
        if found and part.strip().partition(":")[0] not in kinds():
            if not found[-1].startswith("scripted:"):
                found.append(part.strip())  # no such model: whoever looks it up says which there are
            else:
                found[-1] += "," + part
        else:
            found.append(part.strip())
    if not all(found):
        raise SettingError("a model has no name; write names such as extractive or litellm:gpt-4o-mini, between commas")
    return tuple(dict.fromkeys(found))


def local_weights(models: Sequence[str | Model]) -> tuple[str, ...]:
    """The weights that these models want served on this machine."""
    found = (find_model(one) if isinstance(one, str) else one for one in models)
    return tuple(dict.fromkeys(one.weights for one in found if isinstance(one, Local) and not one.address))
