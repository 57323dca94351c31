"""Models around models: stored completions, and what all wrappers have in common."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from workbench.base.errors import ModelError, Unanswered
from workbench.engine.models.conversation import sent_text
from workbench.engine.models.language_model import LanguageModel
from workbench.engine.models.ledger import Ledger, Stored
from workbench.engine.models.model import (
    Completion,
    Model,
    SummaryRequest,
    is_concurrent,
    reads_messages,
)


@dataclass(frozen=True, slots=True)
class ModelWrapper:
    """A model around another one, with its name, its window and its threads."""

    model: Model

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return self.model.name

    @property
    def at_once(self) -> bool:
        """Whether several requests may be sent at the same time."""
        return is_concurrent(self.model)

    @property
    def reads_messages(self) -> bool:
        """Whether it reads the messages themselves, whatever the prompt leaves out."""
        return reads_messages(self.model)

    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included; None if unknown."""
        inner_window = getattr(self.model, "window", None)
        if not callable(inner_window):
            return None
        tokens: int | None = inner_window(request)
        return tokens


@dataclass(frozen=True, slots=True)
class AnsweringModel(ModelWrapper):
    """A model in a replay: where no answer comes, the replay ends, and no other text takes the
    answer's place.

    Attributes:
        answers: for each answer, whether it was of use.
    """

    answers: list[bool] = field(default_factory=list, compare=False, repr=False)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's completion.

        Raises:
            Unanswered: its provider gave no answer, or the request was not sent.
            ModelError: the model answered, or would have to, and its answer is of no use.
        """
        try:
            completion = self.model.complete(request)
        except ModelError as error:
            if error.outage:
                raise Unanswered(str(error)) from error
            self.answers.append(False)
            raise
        self.answers.append(bool(completion.text.strip()) and not completion.fallback)
        return completion


def innermost(model: Model) -> Model:
    """The model inside all wrappers, for the replicate that is asked for."""
    while isinstance(model, ModelWrapper):
        if isinstance(model, CachedModel):
            return model.model.for_replicate(model.replicate)
        model = model.model
    return model


def with_total_cost(completion: Completion, of: Sequence[Completion]) -> Completion:
    """A completion that took several, with the tokens, dollars and seconds of all of them."""
    usd = [part.usd for part in of if part.usd is not None]
    is_usd_known = len(usd) == len(of)
    misreports = [part.misreport for part in of if part.misreport]
    return replace(
        completion,
        input_tokens=sum(part.input_tokens for part in of),
        output_tokens=sum(part.output_tokens for part in of),
        cached_tokens=sum(part.cached_tokens for part in of),
        usd=sum(usd) if is_usd_known else None,
        seconds=sum(part.seconds for part in of),
        counted=any(part.counted for part in of),
        misreport=misreports[0] if misreports else "",
    )


COUNTS = ("input_tokens", "output_tokens", "cached_tokens")
"""Figures of a completion without which nothing can be counted."""
VERSION = 1
"""Of the key and of what is stored; another version finds no completion of this one."""


@dataclass(frozen=True, slots=True)
class CachedModel(ModelWrapper):
    """Takes completions from the ledger, and asks the model only for those that are not there.

    The key is made of the model, its settings, the whole prompt and the replicate. Where two
    processes send the same request at once, one of them asks and the other one waits for its
    completion. Errors are not kept.

    Attributes:
        replicate: another number asks for the same request anew.
        only: never ask the model.
        off: ask it each time, and keep nothing.
        part: the part of the run that calls are made for, which is in their names in the ledger.
        ledger_names: those names, in the order of the requests.
    """

    model: LanguageModel
    ledger: Ledger
    replicate: int = 0
    only: bool = False
    off: bool = False
    part: str = ""
    ledger_names: list[str] = field(default_factory=list, compare=False, repr=False)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The stored completion, else the model's; raises Unanswered where the model may not be
        asked.
        """
        key = self.key(request)
        name = f"{key} {self.part}"
        self.ledger_names.append(name)
        if self.off:
            return self._ask(request, name)
        completion = self._stored(key)
        if completion is not None:
            return completion
        if self.only:
            raise Unanswered(
                f"{self.name} was not asked, since answers may come from the cache alone, and"
                f" {self.ledger.path} has no answer to this request"
            )
        try:
            completion = self._ask(request, name)
        except BaseException:
            self.ledger.release(key)
            raise
        self.ledger.keep(key, asdict(completion))
        return completion

    def _stored(self, key: str) -> Completion | None:
        """The stored completion; None where there is none, and it is this process that asks."""
        while True:
            stored = self._in_ledger(key)
            if stored is None:
                return None
            completion = _completion(stored)
            if completion is not None:
                return completion
            self.ledger.forget(key)

    def _in_ledger(self, key: str) -> Stored | None:
        if self.only:
            return self.ledger.stored(key)
        return self.ledger.claim(key, self.model.patience)

    def _ask(self, request: SummaryRequest, name: str) -> Completion:
        model = self.model.for_replicate(self.replicate)
        if model.ledger is not None:
            model = replace(model, ledger=replace(model.ledger, request=name))
        return model.complete(request)

    def key(self, request: SummaryRequest) -> str:
        """A name for the request: SHA-256 of all that its completion depends on."""
        seal = self.model.for_replicate(self.replicate).seal(request)
        parts = [VERSION, seal, request.system, request.prompt, request.max_tokens, self.replicate]
        if request.logprobs:
            parts.append(request.logprobs)
        if request.conversation:
            parts.append(sent_text(request))
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _completion(stored: Stored) -> Completion | None:
    """A completion as it was stored; None where it is not one."""
    has_counts = all(isinstance(stored.get(name, 0), int) for name in COUNTS)
    if not has_counts or not isinstance(stored.get("text"), str):
        return None
    fields = dict(stored)
    fields["findings"] = ()
    try:
        fields["calls"] = tuple(map(_pair, stored.get("calls", ())))
        fields["logprobs"] = tuple(map(_pair, stored.get("logprobs", ())))
        return Completion(**fields)
    except (TypeError, ValueError):
        return None


def _pair(values: Iterable[Any]) -> tuple[Any, Any]:
    """Two values as a tuple, which JSON has as a list; ValueError for any other number of them."""
    name, content = values
    return name, content


def with_replicate(model: Model, replicate: int) -> Model:
    """The same model, with the stored completions of another replicate; a model that stores none
    stays as it is.
    """
    if isinstance(model, CachedModel):
        return replace(model, replicate=model.replicate + replicate)
    if isinstance(model, ModelWrapper):
        return replace(model, model=with_replicate(model.model, replicate))
    return model


def requests_of(model: Model) -> tuple[str, ...]:
    """The names in the ledger of all that a model was asked, cached answers included; none for
    one without a cache.
    """
    while isinstance(model, ModelWrapper) and not isinstance(model, CachedModel):
        model = model.model
    if not isinstance(model, CachedModel):
        return ()
    distinct_names = dict.fromkeys(model.ledger_names)
    return tuple(distinct_names)
