"""A request as it was handed out, and what was counted of it."""

from dataclasses import dataclass

from workbench.engine.transcript.message import Usage
from workbench.live.calibration import OwnCount

NOTHING_REPORTED = Usage()


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was handed out, with the history's version, the tokens of its messages, and
    the reported usage.

    Attributes:
        tokens, plain, media: what our counts say of it, see `OwnCount`.
        answers: how many answers the history had.
        cleared: tokens that the provider took out of it by itself, as it said.
        added: tokens of what the host added to it, which is no part of the history.
    """

    version: int
    model: str
    tokens: int
    plain: int
    usage: Usage = NOTHING_REPORTED
    cleared: int = 0
    added: int = 0
    media: int = 0
    answers: int = 0

    @property
    def count(self) -> OwnCount:
        """What our counts say of its messages."""
        return OwnCount(self.tokens, self.plain, self.media)

    @property
    def prompt(self) -> int:
        """The reported prompt without additions, and with what the provider took out of it."""
        return self.usage.prompt + self.cleared - self.added


@dataclass(frozen=True, slots=True)
class CountedMessages:
    """What was counted of a version of the history, so that only what is new is counted.

    Attributes:
        messages: how many of them.
        plain, media: as in `OwnCount`.
    """

    version: int = -1
    messages: int = 0
    plain: int = 0
    media: int = 0
