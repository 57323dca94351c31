"""Gives a function that takes `**settings` the signature and the documentation of the specification's fields."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TypeVar

from workbench.experiment.spec import Spec

Function = TypeVar("Function", bound=Callable[..., object])


def documented(kind: type[Spec]) -> Callable[[Function], Function]:
    """A decorator: the fields of `kind` stand in the place of `**settings`, in `help()` and in editors."""

    def decorate(function: Function) -> Function:
        own = signature(function)
        kept = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        fields = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=Parameter.empty if one.is_required() else one.default)
            for name, one in kind.fields().items()
        ]
        words = "".join(f"    {name}: {one.description}\n" for name, one in kind.fields().items())
        function.__signature__ = own.replace(parameters=[*kept, *fields])  # type: ignore[attr-defined]  # inspect reads it
        function.__doc__ = f"{function.__doc__ or ''}\n\nSettings:\n{words}"
        return function

    return decorate
