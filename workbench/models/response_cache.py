"""Completions from disk: a request that was answered once is never paid for again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace

from workbench.errors import Unanswered
from workbench.models.ledger import Ledger
from workbench.models.litellm import LiteLLM
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.models.wrapper import ModelWrapper

VERSION = 1
"""Of the key and of what is stored; another version finds no completion of this one."""


@dataclass(frozen=True, slots=True)
class CachedModel(ModelWrapper):
    """Takes completions from the ledger, and asks the model only for those that are not there.

    The key is made of the model, its settings, the whole prompt and the replicate. Where two processes send the same
    request at once, one of them asks and the other one waits for its completion. Errors are not kept.

    Attributes:
        replicate: another number asks for the same request anew.
        only: never ask the model.
        off: ask it each time, and keep nothing.
        part: the part of the run that calls are made for, which is in their names in the ledger.
        asked: those names, in the order of the requests.
    """

    model: LiteLLM
    ledger: Ledger
    replicate: int = 0
    only: bool = False
    off: bool = False
    part: str = ""
    asked: list[str] = field(default_factory=list, compare=False, repr=False)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The stored completion, else the model's; raises Unanswered where the model may not be asked."""
        key = self.key(request)
        name = f"{key} {self.part}"
        self.asked.append(name)
        if self.off:
            return self._ask(request, name)
        found = self.ledger.stored(key) if self.only else self.ledger.claim(key, self.model.patience)
        if found is None and self.only:
            raise Unanswered(
                f"{self.name} was not asked, since answers may come from the cache alone, and {self.ledger.path} has "
                "no answer to this request"
            )
        if found is not None:
            logprobs = tuple((token, others) for token, others in found.get("logprobs", ()))
            return Completion(**{**found, "findings": (), "logprobs": logprobs})
        try:
            completion = self._ask(request, name)
        except BaseException:
            self.ledger.release(key)
            raise
        self.ledger.keep(key, asdict(completion))
        return completion

    def _ask(self, request: SummaryRequest, name: str) -> Completion:
        ledger = self.model.ledger
        named = self.model if ledger is None else replace(self.model, ledger=replace(ledger, request=name))
        return named.complete(request)

    def key(self, request: SummaryRequest) -> str:
        """A name for the request: SHA-256 of all that its completion depends on."""
        parts = [VERSION, self.model.seal(request), request.system, request.prompt, request.max_tokens, self.replicate]
        parts += [request.logprobs] if request.logprobs else []
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def with_replicate(model: Model, replicate: int) -> Model:
    """The same model, with the stored completions of another replicate; a model that stores none stays as it is."""
    if isinstance(model, CachedModel):
        return replace(model, replicate=model.replicate + replicate)
    if isinstance(model, ModelWrapper):
        return replace(model, model=with_replicate(model.model, replicate))
    return model


def requests_of(model: Model) -> tuple[str, ...]:
    """The names in the ledger of all that a model was asked, cached answers included; none for one without a cache."""
    while isinstance(model, ModelWrapper) and not isinstance(model, CachedModel):
        model = model.model
    return tuple(dict.fromkeys(model.asked)) if isinstance(model, CachedModel) else ()
