"""What all models have in common that read a prompt: at a provider, behind a program, in a
folder.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from workbench.base.errors import ModelError
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.model import Completion, SummaryRequest

if TYPE_CHECKING:  # the engine alone has no pydantic, which reads the options
    from workbench.engine.models.provider_options import ProviderOptions


@dataclass(frozen=True)
class LanguageModel(ABC):
    """A model that reads the prompt. Its answers are cached, and its calls are counted.

    Attributes:
        model: what is asked, as its kind names it: litellm's name, a command line, a folder.
        options: how it is called; None reads the models file and the environment at each request.
        ledger: keeps the limits of spending and of concurrent calls; None for no limits.
    """

    model: str
    options: ProviderOptions | None = None
    ledger: Ledger | None = None
    at_once: ClassVar[bool] = True

    @property
    @abstractmethod
    def name(self) -> str:
        """Name shown in reports."""

    @abstractmethod
    def complete(self, request: SummaryRequest, /) -> Completion:
        """See `Model.complete`."""

    @abstractmethod
    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself, as plain JSON."""

    @abstractmethod
    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included; None if unknown."""

    @property
    @abstractmethod
    def patience(self) -> float:
        """Seconds after which a completion must have come or failed."""

    def check(self) -> None:  # noqa: B027 - most models find out when they are asked
        """Refuse what cannot be asked here, before anything is.

        Raises:
            SetupError: something that it needs is missing.
        """

    def for_replicate(self, replicate: int) -> Self:
        """The same for another replicate; only a model that keeps its answers itself differs."""
        return self


def with_retries(options: ProviderOptions, attempt: Callable[[], Completion]) -> Completion:
    """The completion of the first attempt that gives one, with the seconds that all attempts took.

    Raises:
        ModelError: of the last attempt that the options allow, or of one that would fail again.
    """
    started = time.monotonic()
    wait = options.first_wait
    for attempts_left in range(options.tries - 1, -1, -1):
        try:
            return replace(attempt(), seconds=time.monotonic() - started)
        except ModelError as error:
            pause = wait if error.retry_after is None else error.retry_after
            if not error.retryable or not attempts_left or pause > options.longest_wait:
                raise
        time.sleep(pause)
        wait *= 2
    raise AssertionError("a request is sent at least once")
