"""The bundled tasks and the hard ones: a script is the plan, and a last turn hands the work
over.
"""

import importlib.util
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
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
    return tuple(sorted(file.parent.name for file in folder.glob("*/trial.toml")))


def seeds_of(family: str, count: int) -> range:
    """The seeds of a family's tasks: a task with a script is made from none, so it has but one."""
    return range(1 if family in scripted_names() else count)


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
    folder = (hard_tasks_folder() if name in hard_names() else tasks_folder()) / name
    script, trial_file = read_task(folder), read_toml(_TrialFile, folder / "trial.toml", "trial")
    for program in trial_file.needs:
        if shutil.which(program) is None and importlib.util.find_spec(program) is None:
            raise SetupError(f"the task {name} needs {program}, which is not installed")
    turns = list(_turns(_kept(script.steps)))
    for value in trial_file.values:
        turn_index = next((n for n, turn in enumerate(turns) if value.after in turn.user), None)
        if turn_index is None:
            raise FormatError(
                f"no turn of the user has {value.after!r}", where=str(folder), field=value.name
            )
        turns[turn_index:] = [
            replace(turn, steps=tuple(_open(step, value) for step in turn.steps))
            for turn in turns[turn_index:]
        ]
    asks = "\n".join(f"{value.name}: {value.asks}" for value in trial_file.values)
    lines = (f"{value.name} = {{{value.hole.name}}}" for value in trial_file.values)
    save = PlanStep(
        write(HANDOVER, *lines), "I write it.", tuple(value.hole for value in trial_file.values)
    )
    turns.append(Turn(f"{ASK}\n{asks}", (save, PlanStep(words="It is written."))))
    return TrialTask(
        name,
        name,
        0,
        script.system,
        _texts(script.files),
        tuple(turns),
        (
            *(
                TaskCheck(value.name, "file", f"{value.name} = {value.answer}", HANDOVER)
                for value in trial_file.values
            ),
            *(TaskCheck(test.name, "test", test.text) for test in trial_file.programs),
        ),
        script.project,
        script.prepare,
    )


def _kept(steps: Sequence[ScriptStep]) -> list[ScriptStep]:
    """The steps without those of ways that were left."""
    remaining, marks = list[ScriptStep](), dict[str, int]()
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
    starts = [start for start, step in enumerate(steps) if step.kind == "user"]
    for start, stop in zip(starts, [*starts[1:], len(steps)], strict=True):
        plan = [plan_step for step in steps[start + 1 : stop] for plan_step in _plan(step)]
        if plan:
            yield Turn(steps[start].text, tuple(plan))


def _plan(step: ScriptStep) -> Iterator[PlanStep]:
    calls = [
        Call(tool_call.name, {name: tool_call.arguments[name] for name in TOOLS[tool_call.name][1]})
        for tool_call in step.calls
    ]
    for number, call in enumerate(calls or [None]):
        yield PlanStep(call, "" if number else step.text)


def _open(step: PlanStep, value: _Value) -> PlanStep:
    """The step with a hole wherever it says the value."""
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(value.answer)}(?!\w|[.,]\d)")
    template = f"{{{value.hole.name}}}"
    texts = [step.words, *(step.call.arguments.values() if step.call else ())]
    if not any(map(pattern.search, texts)):
        return step
    arguments = (
        {name: pattern.sub(template, text) for name, text in step.call.arguments.items()}
        if step.call
        else {}
    )
    call = step.call and replace(step.call, arguments=arguments)
    return replace(
        step, call=call, words=pattern.sub(template, step.words), holes=(*step.holes, value.hole)
    )


def _texts(folder: Path) -> Mapping[str, str]:
    """The files of a folder, by path in it."""
    files = (
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    )
    return {str(file.relative_to(folder)): file.read_text("utf-8") for file in files}
