"""A model that answers with filler: what a replay would ask of a model, in requests, tokens and
dollars.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256

from workbench.engine.models.language_model import LanguageModel
from workbench.engine.models.local import MOST
from workbench.engine.models.model import Completion, Model, SummaryRequest
from workbench.engine.models.prices import MILLION, tariff
from workbench.engine.models.provider_options import provider_options
from workbench.engine.models.wrappers import innermost

CHARS = 4
"""Of a token, about."""

UNBOUNDED = 0.1
"""The length of a summary without a bound, as a share of what is read for it."""

PAID = "litellm"
"""The kind of model that costs money; those of this machine cost nothing."""

UNPRICED = ("command", "folder")
"""Kinds of models that answer at full length, and of which nobody knows what an answer costs."""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What one strategy would ask of one model.

    Attributes:
        usd: at your own prices, else the model's listed ones, without any discount; None if no
            price is known.
    """

    strategy: str
    model: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: ModelUse) -> ModelUse:
        usd = None
        if self.usd is not None and other.usd is not None:
            usd = self.usd + other.usd
        return replace(
            self,
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=usd,
        )


@dataclass(slots=True)
class FillerModel:
    """Answers with filler of the greatest length that a request allows, under the name of a
    model, and keeps count.

    Attributes:
        is_cached: whether a request that was made before costs nothing, as with a cache of answers.
        asked: what each request took.
    """

    name: str
    word: str = "word"
    word_tokens: int = 1
    is_cached: bool = False
    asked: list[ModelUse] = field(default_factory=list)
    _known: set[bytes] = field(default_factory=set)

    @property
    def use(self) -> ModelUse:
        """All that it was asked."""
        return sum(self.asked, ModelUse("", self.name))

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A text of the bound's length."""
        characters = len(request.system) + len(request.prompt)
        read = characters // CHARS
        model = self._model_of(request)
        wrote = _summary_tokens(request, model, read)
        usd = usd_of(model, read, wrote)
        if not (self.is_cached and self._is_known(request, model)):
            use = ModelUse("", model, 1, read, wrote, usd)
            self.asked.append(use)
        word_count = int(0.75 * wrote / self.word_tokens)
        text = f"{self.word} " * max(word_count, 1)
        return Completion(text=text, model=model, input_tokens=read, output_tokens=wrote)

    def _is_known(self, request: SummaryRequest, model: str) -> bool:
        """Whether the same was asked before; it is known from now on."""
        words = "\0".join((model, request.system, request.prompt))
        digest = sha256(words.encode("utf-8", "surrogatepass")).digest()
        is_known = digest in self._known
        self._known.add(digest)
        return is_known

    def _model_of(self, request: SummaryRequest) -> str:
        """The model that would be asked: a request may name another one of a provider."""
        if request.model and self.name.startswith(PAID):
            return f"{PAID}:{request.model}"
        return self.name


def _summary_tokens(request: SummaryRequest, model: str, read: int) -> int:
    """The greatest length of a summary, in tokens, where so many are read for it."""
    token_limit = request.max_tokens
    if token_limit is None:
        token_limit = max(int(UNBOUNDED * read), 1)
    wrote = min(token_limit, max(read, 1))
    kind, _, _ = model.partition(":")
    if kind not in (PAID, *UNPRICED):
        wrote = min(wrote, MOST)
    return wrote


def is_asked(model: Model) -> bool:
    """Whether a language model answers: then asking takes time or money."""
    return isinstance(innermost(model), LanguageModel)


def usd_of(model: str, read: int, wrote: int) -> float | None:
    """What a question costs, at the user's own price where there is one; None if no price is
    known.
    """
    kind, _, name = model.partition(":")
    if kind in UNPRICED:
        return None
    if kind != PAID:
        return 0.0
    options = provider_options(name)
    if options.input_usd is not None and options.output_usd is not None:
        usd_read = read * options.input_usd
        usd_wrote = wrote * options.output_usd
        return (usd_read + usd_wrote) / MILLION
    prices = tariff(name)
    if prices is None:
        return None
    rates = prices.rates
    return read * rates.input + wrote * rates.output
