"""The commands, and what becomes of an error: one sentence and an exit code, never a traceback."""

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any

import typer

from workbench import __version__
from workbench.base import errors
from workbench.base.errors import WorkbenchError
from workbench.cli.output import FAILED, OK, PENDING, UNUSABLE, complain, plain_warnings

# the click that typer uses: from some version on a copy inside typer, before that the installed package
ClickException: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

PLAIN = {"help_option_names": ["-h", "--help"]}
PASSING = {**PLAIN, "allow_extra_args": True, "ignore_unknown_options": True}
"""What `lab` does not know is for JupyterLab."""

COMMANDS = {
    "compare": "Compare strategies on recorded sessions; write a report.",
    "replay": "Look closely at one session under one strategy.",
    "simulate": "Follow recorded actions under strategies; count what must be looked up again.",
    "learn": "Learn from recordings which lines are needed later: weights for `learned`.",
    "inspect": "Show what recordings contain.",
    "watch": "Follow a session while its agent writes it: size, next compaction, what was lost.",
    "mcp": "Give a running agent back what its compactions took (an MCP server).",
    "hook": "Answer Claude Code's hooks before and after a compaction.",
    "list": "List strategies, stages, metrics, formats or models.",
    "report": "Render the report of a finished run again.",
    "sweep": "Replay sessions under every point of a grid of settings.",
    "advise": "Find the strategy and settings that fit your sessions; settings to paste.",
    "ablate": "Measure each stage's contribution (ablation).",
    "gate": "Stop a build when a strategy is worse than in an earlier run.",
    "diff": "Show what changed from one run to another, largest regressions first.",
    "validate": "Validate the metrics.",
    "validate readers": "Compare the metrics with what real readers answered from the same contexts.",
    "validate wordings": "Tell the same facts in other words; show what the metrics still see.",
    "validate answers": "Compare the metrics with graded answers that others collected.",
    "validate gamers": "Search contexts made to please the fitted reader that tell a reader little.",
    "validate behaviour": "Compare the metrics with what agents fetched again after their compactions.",
    "validate trials": "Compare metrics and judges with success and simulated detours, on tasks that run.",
    "validate detours": "Compare metrics and judges with simulated detours, on recordings.",
    "validate models": "Compare the models that read the exam with each other and with the lexical reader.",
    "validate errors": "Plant errors in summaries and count which of them the metrics find.",
    "validate needs": "Show which share of the exam's items readers call needed.",
    "trial": "Let an agent work on tasks that run, under each strategy.",
    "share": "Export a run without any session text.",
    "export": "Write a run's scores as logs of Inspect, or its tables as CSV.",
    "experiment": "Run the experiment notebook with parameters.",
    "lab": "Open JupyterLab at the course.",
    "view": "Open a local page over the runs of a folder: every context behind their figures.",
    "serve": "Serve a small real model on this machine.",
    "doctor": "Check this machine's set-up.",
}
"""Each command with its line of help; its function has its last word for a name and lies in the module of its first."""
PLACES = {
    "validate trials": ("orders", "trials"), "validate detours": ("orders", "detours"), "list": ("catalogue", "show"),
    "diff": ("gate", "diff"), "ablate": ("sweep", "ablate"), "report": ("compare", "report"),
    "export": ("compare", "export"), "share": ("compare", "share"), "experiment": ("notebooks", "experiment"),
    "lab": ("notebooks", "lab"),
}  # fmt: skip
"""Module and function of those that lie elsewhere."""
GROUPS = {
    "judge": "Measure with models as readers: let them answer from each context.",
    "dataset": "List, fetch, generate and record sessions.",
    "exam": "Write and show exams of the work: goal, state, decisions, next step.",
}
"""Groups of commands; each is the `app` of its module."""


def commands(wanted: str) -> typer.Typer:
    """All commands by name; only the one that is wanted is loaded, so that help and errors come at once."""
    app = typer.Typer(
        name="workbench",
        help="Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded sessions.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=PLAIN,
    )
    app.callback()(_program)
    for name, line in COMMANDS.items():
        module, function = PLACES.get(name) or (name.split()[0], name.split()[-1])
        run = getattr(import_module(f"workbench.cli.{module}"), function) if name == wanted else _not_loaded
        app.command(name, short_help=line, context_settings=PASSING if name == "lab" else PLAIN)(run)
    for name, line in GROUPS.items():
        inner = import_module(f"workbench.cli.{name}").app if name == wanted else typer.Typer()
        if name != wanted:
            inner.callback()(_not_loaded)
        app.add_typer(inner, name=name, short_help=line, no_args_is_help=True)
    return app


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"workbench {__version__}")
        raise typer.Exit


VERSION = typer.Option("--version", help="Show the version.", callback=_say_version, is_eager=True)


def _program(version: Annotated[bool, VERSION] = False) -> None:
    """What may stand before a command."""


def _not_loaded() -> None:
    """Stands for a command that is not wanted."""


NO_MEMORY = ("failed to map segment", "can't start new thread", "Cannot allocate memory")
"""What else an error may say that is for want of memory."""
MORE_MEMORY = "free some, raise `ulimit -v` if it is set, or take fewer --jobs; finished work is kept"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code, see the table in docs/runs.md."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if " ".join(words[:2]) in COMMANDS:
        words[:2] = [" ".join(words[:2])]
    typed = os.environ.get("_TYPER_COMPLETE_ARGS", os.environ.get("COMP_WORDS", "")).split()[1:]  # a shell completes
    wanted = next((word for word in words or typed if not word.startswith("-")), "")
    try:
        app = commands(wanted)
        if wanted == "experiment":
            words = import_module("workbench.cli.notebooks").joined(words)
        with plain_warnings(errors.LeftOut, errors.MemoryShort, errors.DamagedFile):
            return int(app(words, standalone_mode=False) or OK)
    except ClickException as error:
        message = _misuse(error)
        if type(error).__name__ == "NoArgsIsHelpError":
            return _stopped(message)
        command = getattr(getattr(error, "ctx", None), "command_path", "") or "workbench"
        accepted = f"`{command} --help` shows what is accepted"
        return _stopped(f"workbench: {' '.join(message.split()).rstrip('.')}", hint=accepted)
    except WorkbenchError as error:
        code = PENDING if isinstance(error, errors.Unanswered) else UNUSABLE
        return _stopped(f"workbench: {error}", code, hint(error))
    except (KeyboardInterrupt, typer.Abort):
        again = "finished work is kept, and the same command continues from there"
        return _stopped(f"workbench: interrupted; {again}", 130)
    except OSError as error:
        return _stopped(f"workbench: {error.filename or 'a file'}: {error.strerror or error}")
    except Exception as error:  # our own bug: one sentence, and the traceback on demand
        if os.environ.get("WORKBENCH_DEBUG"):
            raise
        if isinstance(error, MemoryError) or any(sign in str(error) for sign in NO_MEMORY):
            return _stopped("workbench: memory ran out; " + MORE_MEMORY)
        what = f"{type(error).__name__}: {error}"
        where = "WORKBENCH_DEBUG=1 shows where; finished work is kept"
        return _stopped(f"workbench: a bug in workbench ({what}); {where}", FAILED)


def _misuse(error: Any) -> str:  # noqa: ANN401 - an exception of the click that typer uses
    """What is wrong with the words of a command; in our own words where typer asked pydantic to read a value."""
    refused: list[Any] = getattr(error.__cause__, "errors", list)()
    if not refused:
        return str(error.format_message())
    error.message = errors.refusal(refused[0])
    return str(error.format_message()).replace("Invalid value", f"Invalid value {refused[0]['input']!r}", 1)


def _stopped(message: str, code: int = UNUSABLE, hint: str = "") -> int:
    complain(message, hint=hint)
    return code


LISTED = {"preset": "strategies", "stage": "stages", "metric": "metrics", "model": "models", "format": "formats"}
"""What `workbench list` calls each kind of part."""
HINTS: dict[type[WorkbenchError], str] = {
    errors.FormatError: "`workbench list formats` shows what can be read; `inspect --lenient` skips damaged lines",
    errors.SetupError: "`workbench doctor` shows what is installed, and which keys are set",
    errors.ModelError: "finished work is kept: the same command continues; `--model extractive` needs no model",
    errors.Unanswered: "finished work is kept, and the same command asks again",
    errors.SettingError: "`--help` after the command shows what it takes, with examples",
}


def hint(error: WorkbenchError) -> str:
    """One sentence that says what to do next; empty where the error says all there is."""
    if isinstance(error, errors.UnknownName):
        near = [f"did you mean {one}?" for one in get_close_matches(error.name, error.known, n=1)]
        listed = [f"`workbench list {LISTED[error.kind]}` says what each is"] if error.kind in LISTED else []
        return " ".join(near + listed)
    return next((text for kind, text in HINTS.items() if isinstance(error, kind)), "")
