"""How one whole system compacts: in which stages, when and to what budget."""

from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import Literal, Protocol, TypeAlias

from workbench.base.errors import PASSED_ON, SettingError, error_text
from workbench.base.markup import card, first_paragraph
from workbench.base.typed_value import check_instance, check_whole_number
from workbench.engine.compaction.host_policy import NO_POLICY, HostPolicy
from workbench.engine.compaction.plan import LARGEST_OUTPUT, Budget, Stage
from workbench.engine.transcript.message import TokenCounter, Usage

Moment: TypeAlias = Literal["before_request", "after_tools", "after_turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that a trigger may look at. Making one costs the same however long the context is.

    Attributes:
        tokens: the context as it would be sent, overhead included, by the preset's counter.
        window: tokens that the model takes at most.
        overhead: the part of `tokens` that no message holds.
        moment: the place in the agent's loop.
        messages: how many messages the context has.
        reported: the provider's usage for the newest request since the last compaction; None if
            there is none.
        since: tokens of the messages after that report, by the preset's counter.
        requested: whether the user or the agent requested a compaction.
        model: the agent's; empty if unknown.
        requests: how many requests were answered so far.
        said: tokens of all messages that were ever said, by the preset's counter.
        idle: seconds since the newest request; None if unknown.
    """

    tokens: int
    window: int
    overhead: int = 0
    moment: Moment = "before_request"
    messages: int = 0
    reported: Usage | None = None
    since: int = 0
    requested: bool = False
    model: str = ""
    requests: int = 0
    said: int = 0
    idle: float | None = None

    @property
    def measured(self) -> int:
        """The provider's last count and an estimate of what came after it; without a report all
        is estimated.
        """
        if self.reported is not None and self.reported.prompt > 0:
            return self.reported.prompt + self.since
        return self.tokens

    def granted(self, most: int, reason: str = "threshold") -> Budget:
        """A budget of `most` tokens as the provider counts, scaled to the preset's counter."""
        target = most * self.tokens // max(self.measured, 1)
        return self.budget(target, reason=reason)

    def budget(
        self,
        target: int,
        window: int | None = None,
        reason: str = "threshold",
    ) -> Budget:
        """A budget of so many tokens by the preset's counter, less than there are now; requests
        name themselves.
        """
        largest_target = max(self.tokens - 1, 0)
        return Budget(
            target=min(max(target, 0), largest_target),
            window=self.window if window is None else window,
            reason="requested" if self.requested else reason,
        )


class Trigger(Protocol):
    """Decides when a context is due."""

    def check(self, situation: Situation, /) -> Budget | None:
        """The budget to compact to, or None to leave the context alone. Pure, and O(1)."""
        ...


def granted_by(trigger: Trigger, situation: Situation) -> Budget | None:
    """What a trigger grants, which may be a user's own.

    Raises:
        SettingError: it raised an error, or gave no budget.
    """
    try:
        budget = trigger.check(situation)
    except PASSED_ON:
        raise
    except Exception as error:
        raise SettingError(f"the trigger raised {error_text(error)}") from error
    check_instance("what the trigger returned", budget, (Budget, NoneType), "a wb.Budget or None")
    return budget


@dataclass(frozen=True, slots=True)
class Never:
    """Leaves every context alone."""

    def check(self, situation: Situation, /) -> Budget | None:
        """None."""
        return None


@dataclass(frozen=True, slots=True)
class Always:
    """Due at every request, with nothing granted: for the reference that remembers nothing."""

    def check(self, situation: Situation, /) -> Budget | None:
        """A budget of nothing but the overhead."""
        return Budget(target=situation.overhead, window=situation.window)


@dataclass(frozen=True, slots=True)
class AtShare:
    """Due when the request fills a share of the window.

    The target is a share of the room that the overhead leaves, so that it can be reached whatever
    the overhead is.

    Attributes:
        threshold: share of the window, in (0, 1]; a request of exactly that size is due.
        target: share of the room (window less overhead) that the messages may take afterwards, at
            most `threshold`.
    """

    threshold: float = 0.8
    target: float = 0.4

    def __post_init__(self) -> None:
        are_numbers = isinstance(self.threshold, Real) and isinstance(self.target, Real)
        if not are_numbers or not 0 <= self.target <= self.threshold <= 1:
            raise SettingError(
                f"threshold {self.threshold!r:.80} and target {self.target!r:.80} are no shares of"
                " the window; both must lie between 0 and 1, the target not above the threshold"
            )

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= threshold * window`."""
        if situation.window <= 0 or situation.tokens < self.threshold * situation.window:
            return None
        room = max(situation.window - situation.overhead, 0)
        return Budget(target=situation.overhead + int(self.target * room), window=situation.window)


LEAST_ROOM, LEAST_TOKENS = 0.25, 20_000
"""What messages get before a restated system is due: a quarter of what the overhead leaves, at most
so many tokens.

The systems were made for windows of 100,000 tokens and more; in a small one their reserves would
leave nothing.
"""


def answer_reserve(window: int, own_reserve: int) -> int:
    """Tokens set aside for an answer: the system's own, less in a small window."""
    return min(own_reserve, int(LARGEST_OUTPUT * window))


@dataclass(frozen=True, slots=True)
class AtLimit:
    """Due by the provider's own count, at a limit that leaves messages a part of the window.

    Attributes:
        share: the limit as a share of the window.
        reserve: tokens below it; `answer` more for the longest answer, at most a quarter of the
            window.
        most: tokens that the limit never exceeds; None for no such bound.
        above: whether a request of exactly the limit is not due.
    """

    share: float = 1.0
    reserve: int = 0
    answer: int = 0
    most: int | None = None
    above: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise SettingError(f"share is {self.share}; it must be above 0, and 1 at most")
        check_whole_number("reserve", self.reserve, least=0)
        check_whole_number("answer", self.answer, least=0)
        check_whole_number("most", self.most, optional=True)

    def limit(self, window: int) -> int:
        """Tokens of a request by the system's own rule."""
        reserve = answer_reserve(window, self.answer) + self.reserve
        own_limit = int(self.share * window) - reserve
        if self.most is None:
            return own_limit
        return min(own_limit, self.most)

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at the limit, or above it, and on request; the target is what would not be due."""
        room = max(situation.window - situation.overhead, 0)
        least_limit = situation.overhead + min(int(LEAST_ROOM * room), LEAST_TOKENS)
        target = max(self.limit(situation.window), least_limit)
        if not self.above:
            target -= 1
        if situation.requested or situation.measured > target:
            return situation.granted(target)
        return None


@dataclass(frozen=True, slots=True)
class Strategy:
    """Stages, cheapest first.

    Attributes:
        name: shown in reports.
        stages: change the history; each runs only while the context is above its target.
        view: stages that shape what is sent, not what is kept. They are planned at each compaction;
            in between the same replacements are sent, so that a provider's prompt cache holds.
        recall: whether what goes is archived and what is sent shows its ids (`with_recall`).

    Raises:
        SettingError: one of its stages is none.
    """

    name: str
    stages: tuple[Stage, ...]
    view: tuple[Stage, ...] = ()
    recall: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no stage, before it fails in an agent."""
        if not isinstance(self.name, str):
            raise SettingError(f"name is {self.name!r:.80}; a text would be accepted")
        for field_name in ("stages", "view"):
            stages = getattr(self, field_name)
            if not isinstance(stages, tuple):
                raise SettingError(f"{field_name} is {stages!r:.80}; a tuple would be accepted")
            for stage in stages:
                is_object = not isinstance(stage, type) and hasattr(stage, "name")
                if not is_object or not callable(getattr(stage, "plan", None)):
                    raise SettingError(f"{stage!r:.80} is no stage: one has a `name` and a `plan`")


@dataclass(frozen=True, slots=True)
class Preset:
    """How one system compacts: what it does, when, how it counts, and where that is written.

    Attributes:
        count: the system's own token counter; None takes the session's.
        overflow: what it does when a provider says that the prompt is too long; None is the
            strategy itself.
        parts: the stages that `compaction_pipeline` may name; None for those of the strategy.
        moments: when the trigger is asked.
        host: what it does around a compaction: overflows, compactions by hand, failures, hooks,
            events.
        source: repository, commit and files that it restates; empty for our own.
    """

    name: str
    strategy: Strategy
    trigger: Trigger = AtShare()
    count: TokenCounter | None = None
    overflow: Strategy | None = None
    moments: tuple[Moment, ...] = ("before_request",)
    host: HostPolicy = NO_POLICY
    source: str = ""
    parts: Strategy | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.strategy, Strategy):
            raise SettingError(
                f"strategy is {self.strategy!r:.80}; a wb.Strategy would be accepted"
            )
        check = getattr(self.trigger, "check", None)
        if not callable(check):
            objection = f"trigger is {self.trigger!r:.80}"
            raise SettingError(f"{objection}; one such as wb.AtShare(0.8) would be accepted")
        if self.count is not None and not callable(self.count):
            raise SettingError(f"count is {self.count!r:.80}; a function would be accepted")

    @property
    def recovery(self) -> Strategy:
        """What is done when a provider says that the prompt is too long: nothing where that is
        switched off.
        """
        if not self.host.reactive:
            return Strategy(f"{self.name}_recovery", ())
        return self.overflow or self.strategy

    def __repr__(self) -> str:
        names = [stage.name for stage in self.strategy.stages]
        stages = " > ".join(names) or "no stages"
        return f"<Preset {self.name!r}: {stages}, {self.trigger!r}>"

    def _repr_html_(self) -> str:
        facts = {
            "compacts": repr(self.trigger),
            "asked": ", ".join(self.moments).replace("_", " "),
            "counts tokens": "" if self.count is None else "as its own system does",
        }
        rows: list[tuple[str, str, str]] = []
        for number, stage in enumerate(self.strategy.stages, 1):
            rows.append((f"{number}.", stage.name, _purpose(stage)))
        for stage in self.strategy.view:
            rows.append(("what is sent", stage.name, _purpose(stage)))
        source = f"Restates {self.source}" if self.source else ""
        return card(f"Preset {self.name}", facts, ("", "stage", "what it does"), rows, source)


def _purpose(part: object) -> str:
    """What a part says of itself: the first sentence of its docstring."""
    return first_paragraph(type(part).__doc__)
