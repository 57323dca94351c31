"""A replay of somebody's own stage is not reused once the stage's code is another."""

from types import FunctionType
from typing import Any

from builders import conversation
from workbench import preset
from workbench.evaluation.experiment.keys import key, own_code

LIMIT = (
    "class Own:\n    name = 'own'\n    def plan(self, context, budget):\n        return"
    " cut(context, {n})\n"
)
HELPER = "def cut(context, n):\n    return None if n > {n} else n\n"


def stage(first: int = 1, second: int = 1) -> Any:
    space: dict[str, Any] = {"__name__": "somebody"}
    exec(HELPER.format(n=second) + LIMIT.format(n=first), space)
    return space["Own"]()


def test_the_same_code_has_the_same_name() -> None:
    assert key(stage()) == key(stage())


def test_another_constant_is_other_code() -> None:
    assert key(stage(first=2)) != key(stage())


def test_so_is_a_change_in_a_function_that_it_calls() -> None:
    assert key(stage(second=2)) != key(stage())


def test_our_own_parts_and_plain_values_have_none() -> None:
    assert own_code(preset("summarize").strategy.stages[0]) == own_code(7) == own_code(len) == ""
    assert own_code(conversation(1)[0]) == ""


def test_a_function_of_somebody_is_told_apart_too() -> None:
    one, other = (eval(text, {"__name__": "somebody"}) for text in ("lambda m: 1", "lambda m: 2"))
    assert isinstance(one, FunctionType) and key(one) != key(other)
