"""A class that is made quickly is the same class: what it takes, refuses, shows and compares."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar

import pytest

from workbench.transcript.quick import quickly_made


def made() -> type[Any]:
    @dataclass(frozen=True, slots=True)
    class Made:
        first: int
        second: str = "two"
        third: list[int] = field(default_factory=list)
        fourth: int = field(default=4, kw_only=True)
        kind: ClassVar[str] = "any"

        @property
        def doubled(self) -> int:
            return 2 * self.first

    Made.__qualname__ = "Quick"  # where pickle looks for it
    return Made


Slow = made()
Quick = quickly_made(made())


WAYS: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((1,), {}), ((1, "b"), {}), ((1, "b", [3]), {"fourth": 5}), ((), {"third": [2], "first": 1, "fourth": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "named"), WAYS)
def test_it_takes_the_same_and_is_the_same(given: tuple[object, ...], named: dict[str, object]) -> None:
    slow, quick = Slow(*given, **named), Quick(*given, **named)
    assert repr(quick) == repr(slow)
    assert (quick.doubled, quick.kind) == (slow.doubled, slow.kind)
    assert quick == Quick(*given, **named) != replace(quick, first=9)
    assert pickle.loads(pickle.dumps(quick)) == quick
    assert replace(quick, second="c").second == "c"


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, "b", [], 4), {}), ((1,), {"fifth": 5}), ((1,), {"first": 1})]
)
def test_it_refuses_the_same(given: tuple[object, ...], named: dict[str, object]) -> None:
    for cls in (Slow, Quick):
        with pytest.raises(TypeError):
            cls(*given, **named)


def test_it_says_what_it_takes_never_changes_and_has_a_new_default_each_time() -> None:
    assert str(signature(Quick)) == str(signature(Slow))
    assert not hasattr(Quick(1), "__dict__")
    assert Quick(1).third is not Quick(1).third
    with pytest.raises(FrozenInstanceError):
        Quick(1).first = 2


def test_a_class_whose_constructor_does_more_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        first: int

        def __post_init__(self) -> None: ...

    @dataclass(frozen=True, slots=True)
    class Derived:
        first: int
        second: int = field(init=False, default=1)

    for cls in (Checked, Derived):
        with pytest.raises(TypeError, match="does more"):
            quickly_made(cls)
