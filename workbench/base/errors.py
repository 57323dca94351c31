"""What can go wrong: each error is one sentence that says what would be accepted."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

ACCEPTED = {
    "a whole number": ("int_type", "int_parsing", "int_from_float", "int_parsing_size"),
    "a number": ("float_type", "float_parsing", "finite_number"),
    "true or false": ("bool_type", "bool_parsing"),
    "a string": ("string_type",),
    "a path": ("path_type",),
    "a list": ("list_type", "tuple_type", "set_type", "frozen_set_type"),
    "a table": ("dict_type", "mapping_type"),
    "an instance of {class}": ("is_instance_of",),
    "an instance of {class_name}": ("dataclass_type",),
    "at least {ge:g}": ("greater_than_equal",),
    "more than {gt:g}": ("greater_than",),
    "at most {le:g}": ("less_than_equal",),
    "less than {lt:g}": ("less_than",),
    "one of {expected}": ("literal_error", "enum"),
    "a list of {min_length} or more values": ("too_short",),
    "a list of at most {max_length} values": ("too_long",),
}
"""What is accepted where pydantic refuses a value with one of these kinds of error."""


class WorkbenchError(Exception):
    """The root of all errors that the workbench raises on purpose."""


class LeftOut(UserWarning):
    """A file or a point of a sweep is in no figure; says which one, and why."""


class MemoryShort(UserWarning):
    """A recording needs more memory than a worker may take; says which one, and what to do."""


class DamagedFile(UserWarning):
    """A file of ours was damaged and is put aside; says which one, and what becomes of what it
    held.
    """


class FormatError(WorkbenchError):
    """A file is not what its importer reads: says why, in which file, on which line and in which
    field.
    """

    def __init__(
        self, reason: str, *, where: str = "", line: int | None = None, field: str = ""
    ) -> None:
        self.why, self.where, self.line, self.field = reason, where, line, field
        places = []
        if where:
            places.append(where)
        if line is not None:
            places.append(f"line {line}")
        if field:
            places.append(f"field {field!r}")
        message = reason
        if places:
            message = f"{', '.join(places)}: {reason}"
        super().__init__(message)


class UnknownName(WorkbenchError):
    """No part is known by that name; the message lists the names that are, with a hint behind them
    where there is one.
    """

    def __init__(self, kind: str, name: str, names: Iterable[str], hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(set(names)))
        message = f"no {kind} is named {name!r}"
        for nearest in get_close_matches(name, self.known, n=1):
            message += f" (did you mean {nearest}?)"
        names_known = ", ".join(self.known)
        message += f"; known are {names_known}"
        super().__init__(message + hint)


class PlanError(WorkbenchError):
    """A stage's edits overlap or reach outside its context, or its prompt cannot be written: a bug
    in that stage.
    """


class ModelError(WorkbenchError):
    """A model gave no usable answer.

    Attributes:
        retryable: it might work later.
        overflow: the prompt was too large.
        limit: tokens that the model takes, as its error said; None if it did not.
        retry_after: the seconds that its provider asks to wait; None if it does not say.
        outage: no answer came, which says nothing about the model; always so where it is
            `retryable`.
    """

    def __init__(
        self,
        reason: str,
        *,
        retryable: bool = False,
        overflow: bool = False,
        retry_after: float | None = None,
        outage: bool = False,
        limit: int | None = None,
    ) -> None:
        self.retryable, self.overflow, self.retry_after = retryable, overflow, retry_after
        self.limit = limit
        self.outage = outage or retryable
        super().__init__(reason)


class AnswerAwaited(ModelError):
    """Somebody answers later; the request is written down, and other requests may still be made."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, outage=True)


class CompactionRefused(WorkbenchError):
    """A compaction by hand is not possible now; the history stays as it was."""


class Refused(WorkbenchError):
    """A request is not sent, or its answer not used, because of a limit, the cache or a rule
    that the user set.
    """


class Unanswered(Refused):
    """A request was not sent, or its provider gave no answer. What needs the answer is pending
    until it comes.
    """


class SetupError(WorkbenchError):
    """Something outside is missing: an extra to install or a key to set."""


def refusal(error: ErrorDetails) -> str:
    """What pydantic would accept in place of a value that it refuses, such as `it must be at
    least 1`.
    """
    context = error.get("ctx", {})
    if error["type"] == "literal_error" and " or " not in context["expected"]:
        return f"it must be {context['expected']}"
    for accepted, kinds in ACCEPTED.items():
        if error["type"] in kinds:
            return f"it must be {accepted.format_map(context)}"
    return error["msg"].removeprefix("Value error, ").replace("Input should be", "it must be")


EXTRAS = {
    "agents": "openai-agents",
    "distributed": "dask",
    "fsspec": "remote",
    "langchain": "langchain",
    "mcp": "all,mcp",
    "xllamacpp": "all,local",
}
"""The extra that brings a module; `all` brings every other."""
CORE = frozenset({"lazy_loader", "numpy", "tiktoken"})
"""Modules that every installation brings."""


PASSED_ON = (WorkbenchError, MemoryError)
"""Errors that are not told as those of the part that raised them: ours are a sentence already, and where
memory ran out the work may be done again with more of it.
"""


def error_text(error: BaseException) -> str:
    """An error in words: ours are a sentence; another has its kind before its text, and its kind
    alone where it cannot write its text.
    """
    if isinstance(error, WorkbenchError):
        return str(error)
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  # the error is of code that is not ours
        return type(error).__name__


def missing_extra(what: str, error: ModuleNotFoundError) -> Exception:
    """The advice to install what is missing; the error itself where the missing module is
    another of our own.
    """
    module = error.name or "workbench"
    if module.startswith("workbench.lab"):
        return SetupError(
            f"{what} needs the laboratory (`workbench/lab`), which this installation leaves out"
        )
    if module.startswith("workbench"):
        return error
    package = module.partition(".")[0]
    extra = EXTRAS.get(package, "all")
    advice = f"pip install 'compaction-workbench[{extra}]'"
    if package in CORE:
        advice = "pip install compaction-workbench"
    return SetupError(f"{what} needs the package {error.name}: {advice}")


class SettingError(WorkbenchError):
    """A setting has a value that cannot work; the message says what would be accepted."""


class MissingPath(SettingError):
    """A file or folder that was named is not there."""

    def __init__(self, path: object) -> None:
        self.path = str(path)
        super().__init__(f"there is no file or folder {path}")
