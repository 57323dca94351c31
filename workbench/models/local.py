"""A small real model on this machine, asked through litellm like any provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

from workbench.models.litellm import LiteLLM
from workbench.models.model import Completion, SummaryRequest
from workbench.models.provider_options import ProviderOptions
from workbench.models.serving import alias, server_address
from workbench.models.weights import NAMES, weights

DEFAULT = "gemma"
MOST = 400
"""Tokens of an answer: after some hundred a model this small only repeats itself, at 40 tokens a second."""

_PATIENT = ProviderOptions(timeout=3_600.0, tries=2, input_usd=0.0, output_usd=0.0)
"""A long prompt takes minutes on two cores, and may wait for the requests of other workers."""


@dataclass(frozen=True)
class Local(LiteLLM):
    """Small weights behind a server on loopback. What it writes is bad: it proves that everything around it works.

    Attributes:
        model: a name that `models.weights` knows, or the path of a `.gguf` file.
        address: of the server; empty takes one that runs, or starts one and stops it with this process.
    """

    model: str = DEFAULT
    options: ProviderOptions = _PATIENT
    address: str = ""

    @property
    def name(self) -> str:
        """Name shown in reports."""
        if self.model == DEFAULT:
            return "local"
        return f"local:{self.model if self.model in NAMES else Path(self.model).name}"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """See `LiteLLM.complete`; raises SetupError where the extra is not installed."""
        answer = super().complete(replace(request, model="", max_tokens=min(request.max_tokens or MOST, MOST)))
        return replace(answer, model=f"local:{weights(self.model).label}")

    def called(self, request: SummaryRequest) -> tuple[str, ProviderOptions]:
        """The server's name for the weights, and how it is called."""
        found = weights(self.model)
        where = {"api_base": self.address or server_address(self.model), "window": found.window}
        return f"openai/{alias(found)}", self.options.model_copy(update=where)

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself."""
        found = weights(self.model)
        return {"weights": _seal(found.path, found.path.stat().st_mtime_ns), "window": found.window, "most": MOST}

    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included."""
        return weights(self.model).window


@lru_cache(maxsize=8)
def _seal(path: Path, changed: int) -> str:
    with path.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
