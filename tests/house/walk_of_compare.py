"""How a reader walks through a comparison, from its specification to the verdict.

`python tests/house/walk_of_compare.py` prints the files in their order, what comes back to a file,
and the names of what is carried. A test holds both counts.

The walk is not told but seen: a small comparison runs in one process, without the simulation that
the laboratory adds, and each function of
`workbench.evaluation` is noted where it is first called. A reader who asks where each of `STATIONS`
comes from follows a call that leads to one of them, and no other: what a helper does, its name
says. A function that is handed to another one, such as to a crew of workers, is followed where its
name stands.

- A stay is a time in one file. After a call into another file the reader comes back where the
  function that called has a further call to follow.
- A return is a stay in a file that was left before.
- A name is that of a parameter of a function on the walk that is not left at its default, of the
  object of a method (the last word of its class), or of what a followed call gives. One thing and
  many of it, as `unit` and `units`, are one name. What other rooms take, such as `natural` of the
  replays, is listed apart.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, NoneType

import workbench as wb
from builders import remembering, rules
from workbench import Findings
from workbench.evaluation.experiment.spec import RunSpec

PACKAGE = Path(wb.__file__).parent
EVALUATION = f"{PACKAGE / 'evaluation'}/"
STATIONS = {
    "specification": {"Spec.__init__"},
    "sources": {"sources_of"},
    "units": {"units_of", "replay_unit"},
    "sessions": {"read"},
    "replays": {"natural", "matched"},
    "rows": {"replay_rows"},
    "tables": {"write_run", "merge"},
    "figures": {"Tables.of", "Figures.strategies"},
    "findings": {"Findings.of_tables", "decide", "conclude"},
}
"""What a comparison comes through, each with the functions that make it."""
FIRST_CALLS = 20
"""Calls of a function whose arguments are looked at."""
ROOMS = ("experiment/", "findings/")
"""The rooms that the walk is about."""
IS_STATION = frozenset().union(*STATIONS.values())


@dataclass
class Call:
    """The first call of a function, with the first calls that were made in it."""

    code: CodeType | None
    arguments: dict[str, object]
    times: int = 0
    calls: list[Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of the function, with its class."""
        return "" if self.code is None else self.code.co_qualname

    @property
    def file(self) -> str:
        """The file that the function stands in."""
        return "" if self.code is None else self.code.co_filename.removeprefix(EVALUATION)

    @property
    def followed(self) -> list[Call]:
        """The calls that lead to a station."""
        return [call for call in self.calls if call.leads_on]

    @property
    def leads_on(self) -> bool:
        """Whether the function is a station, or leads to one."""
        return self.name in IS_STATION or bool(self.followed)

    def take(self, arguments: Mapping[str, object]) -> None:
        """Keep the arguments of one of the first calls; what is given takes the place of nothing."""
        self.times += 1
        if self.times > FIRST_CALLS:
            return
        for name, value in arguments.items():
            is_nothing = isinstance(value, NoneType | str | tuple | bool) and not value
            if name not in self.arguments or not is_nothing:
                self.arguments[name] = value

    def mentions(self, name: str) -> bool:
        """Whether the name stands in the function, or in one inside it."""
        return self.code is not None and name in set(_names_in(self.code))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


class Trace:
    """Notes the first call of each function of the evaluation."""

    def __init__(self) -> None:
        self.start = Call(None, {})
        self._running: list[tuple[FrameType | None, Call]] = [(None, self.start)]
        self._noted: dict[CodeType, Call] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """A call or a return, as `sys.setprofile` tells it."""
        if event == "return" and frame is self._running[-1][0]:
            self._running.pop()
        code = frame.f_code
        is_noted = code.co_filename.startswith(EVALUATION) and not code.co_name.startswith("<")
        if event != "call" or not is_noted:
            return
        if code not in self._noted:
            self._noted[code] = Call(code, {})
            self._caller_of(code.co_name).calls.append(self._noted[code])
        self._noted[code].take(frame.f_locals)
        self._running.append((frame, self._noted[code]))

    def _caller_of(self, name: str) -> Call:
        """The innermost function that has the name in it; else the one that is running."""
        for _, call in reversed(self._running):
            if call.mentions(name):
                return call
        return self._running[-1][1]


@dataclass(frozen=True)
class Walk:
    """The walk of a reader.

    Attributes:
        stays: the files in order, each with the functions that are read there.
        names: of what is carried, in their order; `names_of_other_rooms` those that only these have.
    """

    stays: list[tuple[str, list[str]]]
    names: list[str]
    names_of_other_rooms: list[str]

    @property
    def returns(self) -> int:
        """How often the reader comes back to a file."""
        return len(self.stays) - len({file for file, _ in self.stays})

    def __str__(self) -> str:
        lines: list[str] = []
        left: set[str] = set()
        for file, functions in self.stays:
            mark = "<-" if file in left else "  "
            lines.append(f"{mark} {file:<34} {', '.join(functions)}")
            left.add(file)
        lines.append(f"{len(self.stays)} stays, {self.returns} returns, {len(left)} files")
        lines.append(f"{len(self.names)} names: {', '.join(self.names)}")
        lines.append(f"in other rooms: {', '.join(self.names_of_other_rooms)}")
        return "\n".join(lines)


def traced(act: Callable[[], object]) -> Call:
    """The first calls of functions while something is done, from its beginning."""
    trace = Trace()
    sys.setprofile(trace)
    try:
        act()
    finally:
        sys.setprofile(None)
    return trace.start


def walk_of(start: Call) -> Walk:
    """The walk through what was called."""
    walk = Walk([], [], [])
    _follow(start, walk)
    return walk


def _follow(call: Call, walk: Walk) -> None:
    for number, further in enumerate(call.followed):
        if number and call.file:
            _stay(walk, call.file, f"({call.name})")
        _stay(walk, further.file, further.name)
        names = walk.names
        if not further.file.startswith(ROOMS):
            names = walk.names_of_other_rooms
        for name in names_carried(further):
            if not _is_among(name, [*walk.names, *names]):
                names.append(name)
        _follow(further, walk)


def _is_among(name: str, names: Sequence[str]) -> bool:
    """Whether a name is there, as one or as many."""
    return name.removesuffix("s") in [known.removesuffix("s") for known in names]


def _stay(walk: Walk, file: str, function: str) -> None:
    if walk.stays and walk.stays[-1][0] == file:
        if not function.startswith("("):
            walk.stays[-1][1].append(function)
    else:
        walk.stays.append((file, [function]))


def names_carried(call: Call) -> list[str]:
    """The parameters of a function that something is given for, the object of a method, and what
    its followed calls give.
    """
    assert call.code is not None
    tree = ast.parse(textwrap.dedent(inspect.getsource(call.code)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    names: list[str] = []
    parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    if parameters and parameters[0].arg == "self":
        class_name = call.name.split(".")[0]
        names.append(re.findall("[A-Z][a-z]*", class_name)[-1].lower())
    defaults = _defaults(function.args)
    for parameter in parameters:
        name = parameter.arg
        is_default = name in defaults and call.arguments[name] == defaults[name]
        if name not in ("self", "cls") and not is_default:
            names.append(name)
    for further_settings in (function.args.vararg, function.args.kwarg):
        if further_settings is not None and call.arguments[further_settings.arg]:
            names.append(further_settings.arg)
    return names + _names_of_results(function, call)


def _defaults(arguments: ast.arguments) -> dict[str, object]:
    """The plain values that parameters have where nothing is given."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            pairs.append((parameter, default))
    values: dict[str, object] = {}
    for parameter, default in pairs:
        try:
            values[parameter.arg] = ast.literal_eval(default)
        except ValueError:
            continue
    return values


def _names_of_results(function: ast.FunctionDef, call: Call) -> list[str]:
    """What is bound to the results of followed calls."""
    assert call.code is not None
    followed = {further.name.rpartition(".")[2] for further in call.followed}
    names: list[str] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.For) and followed.intersection(
            _called_in(node, call.code)
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names += [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
    return names


def _called_in(node: ast.Assign | ast.For, code: CodeType) -> set[str]:
    """The names that stand in what is assigned, or gone through."""
    value = node.value if isinstance(node, ast.Assign) else node.iter
    names: set[str] = set()
    for part in ast.walk(value):
        if isinstance(part, ast.Name) and part.id not in code.co_varnames:
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            names.add(part.attr)
    return names


def small_comparison() -> object:
    """A run of one short session, and what it says."""
    session = wb.Session.of([rules("be brief"), *remembering(20)])
    with tempfile.TemporaryDirectory() as folder:
        spec = RunSpec(
            strategies="truncate,summarize", window=4000, shares=(0.2,), quiet=True, out=folder
        )
        results = wb.compare(session, spec=spec, simulate=False)
        findings = Findings.of(results)
        return findings.figures.strategies, findings.decision, findings.verdict


if __name__ == "__main__":
    sys.stdout.write(f"{walk_of(traced(small_comparison))}\n")
