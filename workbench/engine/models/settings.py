"""How a run asks its models: from which cache, within which limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from os import PathLike
from pathlib import Path
from socket import gethostname
from types import NoneType
from typing import Self
from uuid import uuid4

from workbench.base.errors import SettingError
from workbench.base.registry import found as found_models
from workbench.base.typed_value import check_whole_number
from workbench.engine.models import BUILTIN, find_model
from workbench.engine.models.bundled import Bundled
from workbench.engine.models.command import Command
from workbench.engine.models.folder import Folder
from workbench.engine.models.language_model import LanguageModel
from workbench.engine.models.ledger import FILE, Ledger
from workbench.engine.models.local import Local
from workbench.engine.models.model import Model, SummaryRequest
from workbench.engine.models.splitting import SplittingModel
from workbench.engine.models.summary_quality import CHOICES, OnBadSummary, RepairingModel
from workbench.engine.models.text_tools import TextToolModel
from workbench.engine.models.weights import cache_folder
from workbench.engine.models.wrappers import CachedModel, innermost


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """The cache and the limits of real models; `extractive` needs neither.

    Attributes:
        cache: the folder with the answers; None for the default one.
        use_cache: whether answers are taken from the cache and kept in it.
        cache_only: never ask a model; an answer that is not in the cache is an error.
        max_usd: the most dollars that the run may spend, earlier sittings included; None for no
            limit.
        concurrency: the most concurrent calls, over all processes of the run; None for no limit.
        run: name under which calls count against the limits; a run without one takes its folder's
            name.
        on_bad_summary: what becomes of a summary that is useless: `fallback`, `fail` or `keep`.
        replicate: another number sends every request anew.
        served: the addresses of local servers by the name of their weights.
        machine: the host name of the machine that keeps the limits; empty for any.
        part: the part of the run that calls are for, such as one replicate.
        sitting: the command that asks; within it a provider that is down is noticed once. Empty for
            no notice.
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
    part: str = ""
    sitting: str = ""

    def __post_init__(self) -> None:
        self._check_types()
        if self.cache_only and not self.use_cache:
            raise SettingError("answers cannot come from the cache alone while the cache is off")
        if self.on_bad_summary not in CHOICES:
            raise SettingError(
                f"on_bad_summary is {self.on_bad_summary!r}; it must be one of {', '.join(CHOICES)}"
            )
        _ = self.ledger

    def _check_types(self) -> None:
        """Refuse values that would fail when a model is asked."""
        for name in ("use_cache", "cache_only"):
            self._check_type(name, (bool,), "True or False")
        for name in ("run", "machine", "part", "sitting"):
            self._check_type(name, (str,), "a text")
        self._check_type("max_usd", (Real, NoneType), "a number of dollars")
        self._check_type("cache", (str, PathLike, NoneType), "a folder")
        check_whole_number("concurrency", self.concurrency, least=None, optional=True)
        check_whole_number("replicate", self.replicate, least=None)

    def _check_type(self, name: str, types: tuple[type, ...], accepted: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, types):
            raise SettingError(f"{name} is {value!r:.80}; {accepted} would be accepted")

    @classmethod
    def of_run(cls, settings: Self | None, folder: Path) -> Self:
        """The settings of one command that writes into a folder: calls count for it unless
        another run is named.
        """
        run_settings = settings or cls()
        return replace(
            run_settings,
            run=run_settings.run or str(folder.resolve()),
            sitting=run_settings.sitting or uuid4().hex,
        )

    @property
    def ledger(self) -> Ledger:
        """The file of answers and calls."""
        file = Path(self.cache or cache_folder()) / FILE
        return Ledger(file, self.run, self.max_usd, self.concurrency, self.sitting)

    def model(self, model: str | Model) -> Model:
        """The model under these settings.

        Args:
            model: its name, or a model; one that is no `LanguageModel` stays as it is.

        Raises:
            UnknownName: no model of that name.
            SettingError: this is another machine than the one that keeps the limits.
            SetupError: something is missing here that the model needs.
        """
        bare_model = find_model(model)
        if isinstance(bare_model, Bundled):
            return replace(bare_model, on_bad_summary=self.on_bad_summary)
        if not isinstance(bare_model, LanguageModel):
            return bare_model
        if isinstance(bare_model, Local) and not bare_model.address:
            address = dict(self.served).get(bare_model.model, "")
            bare_model = replace(bare_model, address=address)
        self._check_machine()
        if not self.cache_only:
            bare_model.check()
        limited = replace(bare_model, ledger=self.ledger)
        only_stored = self.cache_only
        if isinstance(limited, Folder):  # its answers are no less at hand than those of the cache
            limited = replace(limited, writes=not self.cache_only)
            only_stored = False
        wrapped: Model = CachedModel(
            limited,
            self.ledger,
            replicate=self.replicate,
            only=only_stored,
            off=not self.use_cache,
            part=self.part,
        )
        if isinstance(limited, Command | Folder):
            wrapped = TextToolModel(wrapped)
        return RepairingModel(SplittingModel(wrapped), self.on_bad_summary)

    def _check_machine(self) -> None:
        """Refuse limits on another machine than the one that keeps them."""
        is_limited = self.max_usd is not None or self.concurrency is not None
        if is_limited and self.machine not in ("", gethostname()):
            raise SettingError(
                "spending and concurrency limits work on one machine only, but this worker runs on"
                f" {gethostname()!r}, not on {self.machine!r}; use workers on one machine, or no"
                " such limit"
            )

    def seal(self, model: Model) -> Mapping[str, object]:
        """What the answers of one of these models depend on, besides the requests."""
        inner = innermost(model)
        if isinstance(inner, Bundled):
            return {"bundled": inner.seal, "on_bad_summary": inner.on_bad_summary}
        if not isinstance(inner, LanguageModel):
            return {}
        return dict(inner.seal(_NO_REQUEST)) | {"on_bad_summary": self.on_bad_summary}


_NO_REQUEST = SummaryRequest(purpose="summary", system="", write=str)


def model_names(text: str) -> tuple[str, ...]:
    """Names of models between commas, such as `extractive,local`.

    Raises:
        SettingError: no name at all.
    """
    names = list[str]()
    for part in text.split(","):
        if names and names[-1].startswith("command:") and not _is_model(part):
            names[-1] += f",{part}"  # a comma inside a command line
        else:
            names.append(part.strip())
    if not all(names):
        raise SettingError(
            "a model has no name; write names such as extractive or litellm:gpt-4o-mini, between"
            " commas"
        )
    return tuple(dict.fromkeys(names))


def _is_model(text: str) -> bool:
    """Whether a text begins like the name of a model."""
    kind = text.strip().partition(":")[0]
    return kind in BUILTIN or kind in found_models("model", {})


def local_weights(models: Sequence[str | Model]) -> tuple[str, ...]:
    """The weights that these models need a server for on this machine."""
    names: dict[str, None] = {}
    for model in map(find_model, models):
        if isinstance(model, Local) and not model.address:
            names[model.model] = None
    return tuple(names)
