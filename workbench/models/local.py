"""A small real model on this machine, asked through litellm like any provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

from workbench.models.ledger import Ledger
from workbench.models.litellm import LiteLLM
from workbench.models.model import Completion, SummaryRequest
from workbench.models.provider_options import ProviderOptions
from workbench.models.serving import address, alias
from workbench.models.weights import NAMES, weights

DEFAULT = "gemma"
TIMEOUT = 3_600.0
"""Seconds: a long prompt takes minutes on two cores, and may wait for the requests of other workers."""
MOST = 400
"""Tokens of an answer: after some hundred a model this small only repeats itself, at 40 tokens a second."""


@dataclass(frozen=True, slots=True)
class Local:
    """Small weights behind a server on loopback. What it writes is bad: it proves that everything around it works.

    Attributes:
        weights: a name that `models.weights` knows, or the path of a `.gguf` file.
        address: of the server; empty takes one that runs, or starts one and stops it with this process.
        ledger: writes its calls down, which cost nothing; None for no ledger.
    """

    weights: str = DEFAULT
    address: str = ""
    ledger: Ledger | None = None

    @property
    def name(self) -> str:
        """Name shown in reports."""
        if self.weights == DEFAULT:
            return "local"
        return f"local:{self.weights if self.weights in NAMES else Path(self.weights).name}"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's words.

        Raises:
            ModelError: no answer, or the prompt is too large.
            SetupError: the extra is not installed.
        """
        found = weights(self.weights)
        how = ProviderOptions(
            api_base=self.address or address(self.weights), timeout=TIMEOUT, tries=2, window=found.window,
            input_usd=0.0, output_usd=0.0,
        )  # fmt: skip
        answer = LiteLLM(f"openai/{alias(found)}", how, self.ledger).complete(
            replace(request, model="", max_tokens=min(request.max_tokens or MOST, MOST))
        )
        return replace(answer, model=f"local:{found.label}")

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself."""
        found = weights(self.weights)
        return {"weights": _seal(found.path, found.path.stat().st_mtime_ns), "window": found.window, "most": MOST}

    def limited(self, ledger: Ledger) -> Local:
        """The same model with its calls written down."""
        return replace(self, ledger=ledger)

    def window(self, request: SummaryRequest, /) -> int | None:
        """Tokens that the model takes, its answer included."""
        return weights(self.weights).window

    @property
    def patience(self) -> float:
        """Seconds after which an answer must have come or failed."""
        return 2 * TIMEOUT


@lru_cache(maxsize=8)
def _seal(path: Path, changed: int) -> str:
    with path.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
