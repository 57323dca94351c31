"""The bundled tasks and the hard ones: a script is the plan, and a last turn hands the work
over.
"""

import importlib.util
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from workbench.base.errors import FormatError, SetupError
from workbench.lab.trials.project import hole, write
from workbench.lab.trials.task import Call, Hole, HoleKind, PlanStep, TaskCheck, TrialTask, Turn
from workbench.lab.trials.tools import TOOLS
from workbench.recordings.datasets.bundled import hard_tasks_folder, tasks_folder
from workbench.recordings.datasets.recorder import ScriptStep, read_task
from workbench.recordings.importers.records import read_toml

BUNDLED = "bundled"
"""The name of all of those with which sessions were recorded."""
HARD = "hard"
"""The name of those that fail without what was said at their start."""
HANDOVER = "handover.txt"
ASK = (
    f"One more thing, for the one who takes over. Write {HANDOVER} into the project's folder, with"
    " a line for each of these, as it holds now, such as `name = 1`:"
)


@dataclass(frozen=True, slots=True)
class _Value:
    """What the user said in a turn, and what the plan needs from there on; in `trial.toml`.

    Attributes:
        name: its name in the handover.
        asks: what is handed over, in words.
        after: words of the turn that tells it.
    """

    name: str
    kind: HoleKind
    asks: str
    answer: str
    look_alikes: tuple[str, ...]
    after: str

    @property
    def hole(self) -> Hole:
        return hole(
            f"the {self.name}",
            self.kind,
            self.asks,
            (self.answer, *self.look_alikes),
            default="unknown",
        )


@dataclass(frozen=True, slots=True)
class _Program:
    """A Python program that exits with 0 in a workspace where the work is done."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _TrialFile:
    """`trial.toml`; `needs` are programs, and packages of this Python."""

    values: tuple[_Value, ...]
    programs: tuple[_Program, ...]
    needs: tuple[str, ...] = ()


@cache
def bundled_names() -> tuple[str, ...]:
    """The bundled tasks, by name."""
    return _names(tasks_folder())


@cache
def hard_names() -> tuple[str, ...]:
    """The hard tasks, by name."""
    return _names(hard_tasks_folder())


def scripted_names() -> tuple[str, ...]:
    """All tasks whose plan is a script, by name."""
    return (*bundled_names(), *hard_names())


def _names(folder: Path) -> tuple[str, ...]:
    names = [file.parent.name for file in folder.glob("*/trial.toml")]
    return tuple(sorted(names))


def seeds_of(family: str, count: int) -> range:
    """The seeds of a family's tasks: a task with a script is made from none, so it has but one."""
    if family in scripted_names():
        return range(1)
    return range(count)


@cache
def bundled_task(name: str) -> TrialTask:
    """A bundled or hard task: what the user said, a plan of what was done, and a last turn that
    hands over.

    A value that the user said is a hole wherever the plan has it from then on, so that the plan
    never tells what the context has lost. Where the script tried a way and left it, only the one
    that it kept is there.

    Raises:
        SetupError: a program that the task needs is not installed.
        FormatError: a value is told in no turn.
    """
    parent = hard_tasks_folder() if name in hard_names() else tasks_folder()
    folder = parent / name
    script = read_task(folder)
    trial_file = read_toml(_TrialFile, folder / "trial.toml", "trial")
    for program in trial_file.needs:
        if shutil.which(program) is None and importlib.util.find_spec(program) is None:
            raise SetupError(f"the task {name} needs {program}, which is not installed")
    turns = list(_turns(_without_left_ways(script.steps)))
    for value in trial_file.values:
        first_turn = _turn_that_tells(value, turns)
        if first_turn is None:
            raise FormatError(
                f"no turn of the user has {value.after!r}", where=str(folder), field=value.name
            )
        for number in range(first_turn, len(turns)):
            turn = turns[number]
            steps = tuple(_open(step, value) for step in turn.steps)
            turns[number] = replace(turn, steps=steps)
    turns.append(_handover(trial_file.values))
    return TrialTask(
        name=name,
        family=name,
        seed=0,
        system=script.system,
        files=_texts(script.files),
        turns=tuple(turns),
        checks=tuple(_checks(trial_file)),
        project=script.project,
        prepare=script.prepare,
    )


def _turn_that_tells(value: _Value, turns: Sequence[Turn]) -> int | None:
    """The number of the first turn in which the user says a value; None where none does."""
    for number, turn in enumerate(turns):
        if value.after in turn.user:
            return number
    return None


def _handover(values: Sequence[_Value]) -> Turn:
    """The last turn, in which all values are written down."""
    asks = []
    lines = []
    holes = []
    for value in values:
        asks.append(f"{value.name}: {value.asks}")
        lines.append(f"{value.name} = {{{value.hole.name}}}")
        holes.append(value.hole)
    save = PlanStep(write(HANDOVER, *lines), "I write it.", tuple(holes))
    end = PlanStep(words="It is written.")
    all_asks = "\n".join(asks)
    return Turn(f"{ASK}\n{all_asks}", (save, end))


def _checks(trial_file: _TrialFile) -> Iterator[TaskCheck]:
    for value in trial_file.values:
        yield TaskCheck(value.name, "file", f"{value.name} = {value.answer}", HANDOVER)
    for program in trial_file.programs:
        yield TaskCheck(program.name, "test", program.text)


def _without_left_ways(steps: Sequence[ScriptStep]) -> list[ScriptStep]:
    """The steps without those of ways that were left."""
    remaining: list[ScriptStep] = []
    marks: dict[str, int] = {}
    for step in steps:
        match step.kind:
            case "mark":
                marks[step.text] = len(remaining)
            case "back":
                del remaining[marks[step.text] :]
            case _:
                remaining.append(step)
    return remaining


def _turns(steps: Sequence[ScriptStep]) -> Iterator[Turn]:
    """Turns of the user with what the agent did in each, one call at a time."""
    starts = [number for number, step in enumerate(steps) if step.kind == "user"]
    for start, stop in pairwise([*starts, len(steps)]):
        plan: list[PlanStep] = []
        for step in steps[start + 1 : stop]:
            plan += _plan(step)
        if plan:
            yield Turn(steps[start].text, tuple(plan))


def _plan(step: ScriptStep) -> Iterator[PlanStep]:
    """Its calls one by one, the first with what it says; or what it says alone."""
    if not step.calls:
        yield PlanStep(None, step.text)
    words = step.text
    for tool_call in step.calls:
        _, parameters = TOOLS[tool_call.name]
        arguments = {name: tool_call.arguments[name] for name in parameters}
        yield PlanStep(Call(tool_call.name, arguments), words)
        words = ""


def _open(step: PlanStep, value: _Value) -> PlanStep:
    """The step with a hole wherever it says the value."""
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(value.answer)}(?!\w|[.,]\d)")
    template = f"{{{value.hole.name}}}"
    arguments: Mapping[str, str] = step.call.arguments if step.call else {}
    if not any(map(pattern.search, [step.words, *arguments.values()])):
        return step
    call = step.call
    if call:
        new_arguments = {name: pattern.sub(template, text) for name, text in arguments.items()}
        call = replace(call, arguments=new_arguments)
    words = pattern.sub(template, step.words)
    return replace(step, call=call, words=words, holes=(*step.holes, value.hole))


def _texts(folder: Path) -> Mapping[str, str]:
    """The files of a folder, by path in it."""
    texts = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            texts[str(file.relative_to(folder))] = file.read_text("utf-8")
    return texts
