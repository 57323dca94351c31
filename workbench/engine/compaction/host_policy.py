"""What an agent does around its compactions: overflows, compactions by hand, failures, hooks, events."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.setting_names import DOCUMENTED

USUAL_WINDOW = 128_000
"""Tokens of an agent's model where neither the host nor the preset's system names them."""

Failure: TypeAlias = Literal["nothing", "failed", "no_room", "stuck", "overflow"]
"""What an attempt came to: nothing to do, a summary's model failed, no cut leaves room; too many of
them in a row; or an overflow that no compaction mended.
"""


def any_of(*texts: str) -> re.Pattern[str]:
    """A pattern for any of these texts, in any case."""
    alternatives = "|".join(map(re.escape, texts))
    return re.compile(alternatives, re.IGNORECASE)


class Ending(NamedTuple):
    """How a system ends its run, in its own words: a code such as `error_prompt_too_long`, and
    its category.
    """

    code: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class Retries:
    """When a system sends a refused request again as it was.

    Attributes:
        errors: texts of errors that may pass, unless they match `permanent` too.
        most: how often one request is sent again.
        first_wait, longest_wait: seconds; the wait doubles each time, without jitter.
    """

    errors: re.Pattern[str]
    permanent: re.Pattern[str]
    most: int = 3
    first_wait: float = 2.0
    longest_wait: float = 60.0

    def wait(self, error: str, retries: int) -> float | None:
        """Seconds to wait after so many retries of a request; None where it is not sent again."""
        may_pass = self.errors.search(error) and not self.permanent.search(error)
        if retries >= self.most or not may_pass:
            return None
        return float(min(self.first_wait * 2**retries, self.longest_wait))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPolicy:
    """What an agent does around its compactions.

    Attributes:
        overflow: texts of errors that say that the prompt was too long, besides those that are
            known of all providers.
        overflow_keep: share of the window that newest messages keep after an overflow; None leaves
            it to the strategy.
        manual_keep: tokens that they keep where the user compacts and names no positive number;
            None as above.
        manual_in_turn: whether a user may compact during a turn; if not, it is refused with an
            error.
        retries: of errors that are no overflow; None leaves them to the host.
        stuck_after: attempts in a row without effect after which the run is stuck; 0 for never.
        reactive: whether an overflow is answered by a compaction.
        window: tokens that the agent's model takes, where the host does not say.
        needs_model: whether a host must name a model where the first thing to do is to ask one.
        endings: how the run ends, by the failure that ends it; others do not.
        hook_summary: whether a hook's summary stays unchanged, or gets the file lists.
        silent: whether a compaction that changes nothing makes no events.
        warning: for the user, after each compaction.
    """

    overflow: re.Pattern[str] | None = None
    overflow_keep: float | None = None
    manual_keep: int | None = None
    manual_in_turn: bool = True
    retries: Retries | None = None
    stuck_after: int = field(default=0, metadata={DOCUMENTED: "stuck_threshold"})
    reactive: bool = field(default=True, metadata={DOCUMENTED: "reactive_compact"})
    window: int = field(default=USUAL_WINDOW, metadata={DOCUMENTED: "context_window"})
    needs_model: bool = True
    endings: Mapping[Failure, Ending] = field(default_factory=dict)
    hook_summary: Literal["as_is", "with_lists"] = "with_lists"
    silent: bool = False
    warning: str = ""

    def __post_init__(self) -> None:
        check_whole_number("stuck_after", self.stuck_after, least=0)
        check_whole_number("window", self.window)  # of a document, whose own tests go down to 80

    def ending(self, failure: Failure, vain: int = 0) -> Ending | None:
        """How the run ends by this failure, after so many attempts without effect in a row; None
        where it goes on.
        """
        return self.endings.get("stuck" if 0 < self.stuck_after <= vain else failure)


NO_POLICY = HostPolicy()
"""Of presets that say nothing about their host."""
