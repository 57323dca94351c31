"""Answers from disk: a question that was answered once is never paid for again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Protocol

from workbench.errors import Refused
from workbench.models.ledger import Ledger, Stored
from workbench.models.model import Completion, Model, SummaryRequest, bears_several

VERSION = 1
"""Of the key and of what is stored; another version finds no answer of this one."""


class Sealed(Model, Protocol):
    """A model that can say what its answers depend on."""

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself, as plain JSON."""
        ...

    def window(self, request: SummaryRequest, /) -> int | None:
        """Tokens that the model takes, its answer included; None if nobody knows."""
        ...

    @property
    def patience(self) -> float:
        """Seconds after which an answer must have come or failed."""
        ...

    def limited(self, ledger: Ledger) -> Sealed:
        """The same model under the ledger's limits of spending and of concurrent calls."""
        ...


@dataclass(frozen=True, slots=True)
class Cached:
    """Gives the answer that stands in the ledger, and asks only for one that does not.

    The key is made of the model, its settings, the whole prompt and the replicate. Where two processes ask the same at
    once, one of them asks and the other one waits for that answer. Errors are not kept.

    Attributes:
        replicate: another one asks the same question anew.
        only: whether nothing is ever asked.
    """

    model: Sealed
    ledger: Ledger
    replicate: int = 0
    only: bool = False

    @property
    def name(self) -> str:
        """What stands in reports."""
        return self.model.name

    @property
    def at_once(self) -> bool:
        """Whether several questions may be asked at the same time."""
        return bears_several(self.model)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The stored answer, else the model's.

        Raises:
            ModelError: the model gave no usable answer.
            Refused: there is no such answer, and nothing may be asked.
        """
        key = self.key(request)
        if self.only:
            found = self.ledger.stored(key)
            if found is None:
                raise Refused(
                    f"{self.name} was not asked, since answers may come from the cache alone, and "
                    f"{self.ledger.path} has none to this question"
                )
            return _answer(found)
        found = self.ledger.stored(key) or self.ledger.claim(key, self.model.patience)
        if found is not None:
            return _answer(found)
        try:
            answer = self.model.complete(request)
        except BaseException:
            self.ledger.release(key)
            raise
        self.ledger.keep(key, asdict(answer))
        return answer

    def key(self, request: SummaryRequest) -> str:
        """A name for the question: SHA-256 of all that its answer depends on."""
        parts = [VERSION, self.model.seal(request), request.system, request.prompt, request.max_tokens, self.replicate]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def window(self, request: SummaryRequest, /) -> int | None:
        """Tokens that the model takes, its answer included; None if nobody knows."""
        return self.model.window(request)


_FIELDS = frozenset(field.name for field in fields(Completion))


def _answer(stored: Stored) -> Completion:
    values = {name: value for name, value in stored.items() if name in _FIELDS - {"findings"}}
    return Completion(**values)  # type: ignore[arg-type]  # as `asdict` wrote it
