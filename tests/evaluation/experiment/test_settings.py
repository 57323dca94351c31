"""The keywords that editors and type checkers see are those that a run accepts."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import pytest
from pydantic import BaseModel

import workbench as wb
from workbench import Model
from workbench.evaluation.analysis.ablation import leave_one_out
from workbench.evaluation.experiment import compare, sweep
from workbench.evaluation.experiment.spec import Execution
from workbench.evaluation.experiment.spec_fields import number
from workbench.evaluation.metrics.metric import Metric
from workbench.lab.advice.advise import forecast as forecast_of_advice
from workbench.lab.advice.agents import advise_agents
from workbench.lab.judge.work_exam.judge_work import judge_work
from workbench.lab.judge.work_exam.write import write_exams
from workbench.lab.simulation import simulate
from workbench.testing import CompactionGate

Entry = Callable[..., object]
PACKAGE = Path(wb.__file__).parent
DOCUMENTED: list[Entry] = [
    wb.compare,
    compare.forecast,
    wb.sweep,
    sweep.forecast,
    wb.simulate,
    simulate.forecast,
    wb.trial,
    wb.advise,
    advise_agents,
    forecast_of_advice,
    wb.judge_exam,
    wb.judge_losses,
    judge_work,
    write_exams,
]
"""Functions whose keywords are the fields of a specification."""
SET_BY_THE_GATE = {"strategies", "baseline", "shares", "out", "quiet"}


def entry_id(value: object) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"


def spec_of(entry: Entry) -> type[BaseModel]:
    """The specification that an entry takes; how a run is done where it takes none."""
    spec = get_type_hints(inspect.unwrap(entry)).get("spec", Execution)
    kinds = [kind for kind in get_args(spec) or (spec,) if kind is not NoneType]
    specification: type[BaseModel]
    (specification,) = kinds
    return specification


def keywords(entry: Entry) -> dict[str, Any]:
    """The keywords behind `**settings`, each with its type."""
    return get_type_hints(settings_of(entry))


def settings_of(entry: Entry) -> type:
    """The typed dictionary behind `**settings`."""
    hints = get_type_hints(inspect.unwrap(entry), include_extras=True)
    unpacked: type
    (unpacked,) = get_args(hints["settings"])
    assert is_typeddict(unpacked)
    return unpacked


def leaves(kind: Any) -> frozenset[object]:
    """A type as the set of its alternatives; what a sequence holds is such a set too."""
    if get_origin(kind) in (Union, UnionType):
        return frozenset().union(*map(leaves, get_args(kind)))
    if get_origin(kind) is Sequence:
        return frozenset({("sequence", leaves(get_args(kind)[0]))})
    if get_origin(kind) is Literal:
        return frozenset(get_args(kind))
    return frozenset({kind})


def accepted(annotation: Any) -> frozenset[object]:
    """What a field of this type accepts.

    A list is any sequence, or text between commas. Where its items may be models, a single one will
    do.
    """
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        base, *checks = inside
        reads_numbers = any(getattr(check, "func", None) is number for check in checks)
        return accepted(base) | {str} if reads_numbers else accepted(base)
    if origin in (Union, UnionType):
        return frozenset().union(*map(accepted, inside))
    if origin is tuple:
        items = accepted(inside[0])
        lists = frozenset({("sequence", items), str})
        return lists | items if Model in items else lists
    if annotation is Path:
        return frozenset({Path, str})
    return leaves(annotation)


SHARES = frozenset({("sequence", frozenset({float, str})), str})
READ_APART = (wb.compare, compare.forecast, write_exams)
"""Their `boundaries` are read by a function of its own: shares, numbers or a word."""
OWN_METRICS = frozenset({("sequence", frozenset({Metric}))})
"""Objects only: no text names them."""


@pytest.mark.parametrize("entry", DOCUMENTED, ids=entry_id)
def test_every_field_is_a_keyword(entry: Entry) -> None:
    assert keywords(entry).keys() == spec_of(entry).model_fields.keys()


@pytest.mark.parametrize("entry", DOCUMENTED, ids=entry_id)
def test_a_keyword_has_the_type_that_its_field_accepts(entry: Entry) -> None:
    fields = get_type_hints(spec_of(entry), include_extras=True)
    for name, kind in keywords(entry).items():
        expected = accepted(fields[name])
        if name == "boundaries" and entry in READ_APART:
            expected = SHARES
        if name == "metrics":
            expected = OWN_METRICS
        assert leaves(kind) == expected, name


@pytest.mark.parametrize("entry", DOCUMENTED, ids=entry_id)
def test_the_signature_and_help_show_every_keyword_with_its_default(entry: Entry) -> None:
    parameters = inspect.signature(entry).parameters
    for name, field in spec_of(entry).model_fields.items():
        assert parameters[name].default == field.default, name
        assert f"{name}: {field.description}" in str(entry.__doc__)
    assert not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


def test_the_help_of_an_entry_has_its_sections_at_one_depth() -> None:
    lines = str(wb.compare.__doc__).splitlines()
    assert {"Args:", "Raises:", "Settings:"} <= set(lines)


def test_the_gate_takes_what_a_run_does_but_for_what_it_sets() -> None:
    run = keywords(wb.compare)
    annotation = re.fullmatch(
        r"Unpack\[(\w+)\]", CompactionGate.__call__.__annotations__["settings"]
    )
    assert annotation
    gate = getattr(sys.modules[settings_of(wb.compare).__module__], annotation[1])
    assert get_type_hints(gate) == {name: run[name] for name in run.keys() - SET_BY_THE_GATE}


def test_leaving_a_stage_out_takes_what_a_run_does() -> None:
    assert keywords(leave_one_out) == keywords(wb.compare)


def test_no_entry_takes_just_anything() -> None:
    source = "\n".join(path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py")))
    assert not re.search(r"\*\*settings: Any,? *#.*see", source)
    assert source.count("\n@documented(") == len(DOCUMENTED)
    assert source.count("**settings: Unpack[") == len(DOCUMENTED) + 2
