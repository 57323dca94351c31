"""Where an agent's host may step in: before a compaction, before each of its stages, and after
it.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import iscoroutine, iscoroutinefunction, signature
from threading import Event as Flag
from typing import Literal, TypeAlias

from workbench.base.errors import SettingError
from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Moment
from workbench.engine.transcript.context import Context
from workbench.live.preparation import Preparation

Cause: TypeAlias = Moment | Literal["error", "by_hand"]
"""Where in the loop a compaction was decided."""
CANCELLED: ContextVar[Flag | None] = ContextVar("CANCELLED", default=None)
"""Set while the caller may give a call up; once the flag is up, the call's compaction is
discarded.
"""


def is_async(function: object) -> bool:
    """Whether calling it gives something to await, as far as can be seen from outside."""
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def takes(function: Callable[..., object], arguments: int) -> bool:
    """Whether it can be called with so many arguments, as far as can be seen from outside."""
    try:
        function_signature = signature(function)
    except (TypeError, ValueError):  # many that are written in C do not say
        return True
    try:
        function_signature.bind(*range(arguments))
    except TypeError:
        return False
    return True


def function_wanted(arguments: int) -> str:
    """A function of so many arguments, in words."""
    if arguments == 0:
        return "a function without arguments"
    if arguments == 1:
        return "a function of one argument"
    return f"a function of {arguments} arguments"


def refuse_awaitable(name: str, answer: object) -> None:
    """Refuse a hook's answer that nobody awaits.

    Raises:
        SettingError: it is one.
    """
    if isinstance(answer, Awaitable):
        if iscoroutine(answer):
            answer.close()
        raise SettingError(
            f"the hook {name!r} returned something to await; a plain function would be accepted"
        )


def is_cancelled() -> bool:
    """Whether the caller gave up the call that runs now."""
    flag = CANCELLED.get()
    return flag is not None and flag.is_set()


@dataclass(frozen=True, slots=True)
class Due:
    """A compaction that is about to start: the compactor's `number`-th, of this history.

    Attributes:
        preparation: what it would do; None where its stages find nothing, or fail.
    """

    number: int
    cause: Cause
    context: Context
    budget: Budget
    preparation: Preparation | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """The host does not want it now."""

    why: str = "the host cancelled it"


@dataclass(frozen=True, slots=True)
class Supply:
    """The host has the summary already: no model is asked, and the strategy's own cut says what
    it replaces.
    """

    summary: str


@dataclass(frozen=True, slots=True)
class Hooks:
    """The host's plain functions around a compaction. An error in a hook leaves the history as it
    was.

    Attributes:
        before: called with the `Due` compaction; returns `Cancel(why)`, `Supply(summary)`, or None
            to let it go on.
        before_stage: called as `before_stage(name, context, budget)`; False skips the stage.
        after: called with the compaction once it is in place.

    Raises:
        SettingError: one of them is no function, or takes other arguments.
    """

    before: Callable[[Due], Cancel | Supply | None] | None = None
    before_stage: Callable[[str, Context, Budget], bool | None] | None = None
    after: Callable[[Compaction], None] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be called so."""
        for name, arguments in (("before", 1), ("before_stage", 3), ("after", 1)):
            hook = getattr(self, name)
            if hook is None or is_async(hook):  # a compactor refuses what would be awaited
                continue
            accepted = "a function"
            if callable(hook):
                if takes(hook, arguments):
                    continue
                accepted = function_wanted(arguments)
            raise SettingError(f"the hook {name!r} is {hook!r:.80}; {accepted} would be accepted")


def checked_choice(answer: object) -> Cancel | Supply | None:
    """What the hook `before` answered; a blank summary is none.

    Raises:
        SettingError: nothing that it may answer.
    """
    refuse_awaitable("before", answer)
    if answer is None or isinstance(answer, Cancel):
        return answer
    if isinstance(answer, Supply) and isinstance(answer.summary, str):
        if not answer.summary.strip():
            return None
        return answer
    raise SettingError(
        f"the hook 'before' returned {answer!r:.80}; None, wb.Cancel('why') or wb.Supply('the"
        " summary') would be accepted"
    )
