"""Tasks that run: files, a user who speaks in turns, what a plan does in each, and what must
hold in the end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from workbench.base.errors import WorkbenchError
from workbench.recordings.datasets.workspace import HOME, Workspace

HoleKind: TypeAlias = Literal["path", "number", "id", "identifier", "decision"]
CheckKind: TypeAlias = Literal["file", "test", "answer", "prohibition", "once"]

PACKED = ".packed"
"""The file of a project in which an archive of it is put."""
UNPACK = (
    f"base64 -d {PACKED} | tar --extract --gzip --no-same-owner --directory {HOME}/ && rm -f"
    f" {PACKED}"
)


class WorkspaceEnded(WorkbenchError):
    """The workspace of a trial was ended before its time; the text says why."""


class ProjectTools(Protocol):
    """What can be done in a project: `Workspace` does it here, `HelperWorkspace` lets a helper
    process do it.
    """

    def use(self, tool: str, arguments: Mapping[str, Any], /) -> tuple[str, bool]:
        """What a tool gives, and whether it failed."""
        ...

    def put(self, files: Mapping[str, str], /) -> None:
        """Write files, by path."""
        ...

    def text(self, path: str, /) -> str | None:
        """What stands in a file; None where there is no such file, or one that is too long to be
        graded.
        """
        ...

    def check(self, program: str, /) -> str:
        """What a Python program says that fails in the project; empty where it exits with 0."""
        ...

    def settle(self) -> None:
        """End what commands left running."""
        ...


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
        look_up: the call that tells it again; None where no call can, since the user said it or it
            was told but once.
        default: what an agent does that knows nothing of it, never right; empty where there is
            nothing natural to do.
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
class PlayedStep:
    """What the plan did before the agent began: words, a call, or both, and what the call gave."""

    call: Call | None
    words: str
    result: str


@dataclass(frozen=True)
class PlayedTurn:
    """What the user said before the agent began, and what the plan did about it."""

    user: str
    steps: tuple[PlayedStep, ...]


@dataclass(frozen=True)
class TaskCheck:
    """What must hold after a trial; see `grading.grade`.

    Attributes:
        kind: `file` (the file has the line `text` once, and no other line that begins like it up to
            `=`), `test` (`text` is a Python program that runs in the workspace and exits with 0),
            `answer` (the last line `answer: ...` of the turn is `text`), `prohibition` (`path` is
            as it was, and no call holds `text`), `once` (the file has the line `text` exactly
            once).
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
    """A piece of work with a plan that solves it; the same family, seed and length give the same
    task.

    Attributes:
        files: by path, what the workspace holds in the beginning.
        project: the name of the folder in which the agent works; empty for that of the family.
        prepare: shell commands that run in it before the conversation.
        beginning: turns that the plan has worked, so that the agent goes on from there with
            `turns`.
        packed: the project as the beginning left it, an archive in letters; empty without a
            beginning.
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
    beginning: tuple[PlayedTurn, ...] = ()
    packed: str = ""

    @property
    def holes(self) -> tuple[Hole, ...]:
        """All values that the plan needs, in order."""
        return tuple(hole for turn in self.turns for step in turn.steps for hole in step.holes)

    @property
    def folder(self) -> str:
        """The name of the folder in which the agent works."""
        return self.project or self.family.replace("_", "-")

    def workspace(self, root: Path) -> Workspace:
        """The project in an empty folder, for a plan that is trusted."""
        workspace = Workspace(root, self.folder)
        self.set_up(workspace)
        return workspace

    def set_up(self, project: ProjectTools) -> None:
        """Make an empty project what it is when the agent begins."""
        if self.packed:
            project.put({PACKED: self.packed})
            project.use("bash", {"command": UNPACK})
            return
        project.put(self.files)
        for command in self.prepare:
            project.use("bash", {"command": command})
