"""Tasks that run: files, a user who speaks in turns, what a plan does in each, and what must hold in the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from workbench.datasets.workspace import Workspace

HoleKind: TypeAlias = Literal["path", "number", "id", "identifier", "decision"]
CheckKind: TypeAlias = Literal["file", "test", "answer", "prohibition", "once"]


@dataclass(frozen=True)
class Call:
    """One call of a tool of `datasets/workspace.py`; in a plan its arguments may hold `{hole}`."""

    tool: str
    arguments: Mapping[str, str]


@dataclass(frozen=True)
class Hole:
    """A value that an agent must know when it acts.

    Attributes:
        name: as the step's templates have it between braces.
        cue: what it asks its context, in words, without the answer.
        look_alikes: wrong values, each of which the history or the files hold as well.
        look_up: the call that tells it again; None where no call can, since the user said it or it was told but once.
        default: what an agent does that knows nothing of it, never right; empty where there is nothing natural to do.
    """

    name: str
    kind: HoleKind
    cue: str
    answer: str
    look_alikes: tuple[str, ...]
    look_up: Call | None = None
    default: str = ""


@dataclass(frozen=True)
class PlanStep:
    """What the plan does next: words, a call, or both, with the values that they need."""

    call: Call | None = None
    words: str = ""
    holes: tuple[Hole, ...] = ()


@dataclass(frozen=True)
class Turn:
    """What the user says, and what the plan does about it."""

    user: str
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True)
class TaskCheck:
    """What must hold after a trial; see `grading.grade`.

    Attributes:
        kind: `file` (the file has the line `text` once, and no other line that begins like it up to `=`), `test`
            (`text` is a Python program that runs in the workspace and exits with 0), `answer` (the last line
            `answer: ...` of the turn is `text`), `prohibition` (`path` is as it was, and no call holds `text`), `once`
            (the file has the line `text` exactly once).
        path: a file of the project.
        turn: the number of the turn that is to answer, from 0.
    """

    name: str
    kind: CheckKind
    text: str = ""
    path: str = ""
    turn: int = -1


@dataclass(frozen=True)
class TrialTask:
    """A piece of work with a plan that solves it; the same family, seed and length give the same task.

    Attributes:
        files: by path, what the workspace holds in the beginning.
        project: the name of the folder in which the agent works; empty for that of the family.
        prepare: shell commands that run in it before the conversation.
    """

    name: str
    family: str
    seed: int
    system: str
    files: Mapping[str, str]
    turns: tuple[Turn, ...]
    checks: tuple[TaskCheck, ...]
    project: str = ""
    prepare: tuple[str, ...] = ()

    @property
    def holes(self) -> tuple[Hole, ...]:
        """All values that the plan needs, in order."""
        return tuple(hole for turn in self.turns for step in turn.steps for hole in step.holes)

    def workspace(self, root: Path) -> Workspace:
        """The project in an empty folder."""
        workspace = Workspace(root, self.project or self.family.replace("_", "-"))
        for path, text in self.files.items():
            place = workspace.cwd / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        for command in self.prepare:
            workspace.use("bash", {"command": command})
        return workspace
