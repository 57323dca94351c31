"""The commands, and what becomes of an error: one sentence and an exit code, never a traceback."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from workbench import __version__
from workbench.base import errors
from workbench.base.errors import WorkbenchError, error_text, missing_extra
from workbench.base.garbage import look_from_now
from workbench.cli.commands import COMMANDS, GROUPS, Command, command_called, moved_to, with_default
from workbench.cli.help_pages import CommandGroup, CommandWithOptions, with_further_options
from workbench.cli.next_steps import say_next, typed_line
from workbench.cli.output import (
    FAILED,
    OK,
    PENDING,
    UNUSABLE,
    NothingToRun,
    complain,
    leave_output,
    naming_output,
    plain_warnings,
)
from workbench.cli.start import start

# the click that typer uses: from some version on a copy inside typer, before that the installed
# package
ClickException: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

PLAIN = {"help_option_names": ["-h", "--help"]}
PASSING = {**PLAIN, "allow_extra_args": True, "ignore_unknown_options": True}
COURSE = "lab course"
"""The command that passes on what it does not know, to JupyterLab."""

ABOUT = (
    "Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded"
    " sessions."
)


def commands(called: str) -> typer.Typer:
    """All commands by name; only the one that is called is loaded, so that help and errors come
    at once.
    """
    app = _empty_group(context_settings=PLAIN, help=ABOUT, no_args_is_help=False)
    app.callback(invoke_without_command=True)(_program)
    groups = {"": app}
    for group in GROUPS:
        parent, name = _split(group.path)
        inner = _empty_group(help=group.help)
        inner.callback()(_not_loaded)
        groups[parent].add_typer(
            inner, name=name, short_help=group.help, rich_help_panel=group.panel
        )
        groups[group.path] = inner
    for command in COMMANDS:
        parent, name = _split(command.path)
        add = groups[parent].command(
            name,
            cls=CommandWithOptions,
            short_help=command.help,
            context_settings=PASSING if command.path == COURSE else PLAIN,
            rich_help_panel=command.panel,
        )
        if command.path == called:
            add(with_further_options(_function(command)))
        else:
            add(_not_loaded)
    return app


def _empty_group(**settings: Any) -> typer.Typer:  # noqa: ANN401 - settings of typer's
    settings.setdefault("no_args_is_help", True)
    return typer.Typer(
        name="workbench",
        cls=CommandGroup,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        **settings,
    )


def _split(path: str) -> tuple[str, str]:
    """The group of a path, and its last word."""
    group, _, name = path.rpartition(" ")
    return group, name


def _function(command: Command) -> Callable[..., int]:
    module, _, name = command.place.partition(":")
    function: Callable[..., int] = getattr(import_module(f"workbench.cli.{module}"), name)
    return function


def _say_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"workbench {__version__}")
        raise typer.Exit


VERSION = typer.Option("--version", help="Show the version.", callback=_say_version, is_eager=True)


def _program(context: typer.Context, version: Annotated[bool, VERSION] = False) -> None:
    """What may stand before a command, and what is done without one."""
    if context.invoked_subcommand is None:
        start()


def _not_loaded() -> None:
    """Stands for a command that is not called."""


DRY_RUN = "--dry-run"
INTERRUPTED = 128 + signal.SIGINT
"""The exit code of a command that Ctrl-C ended, as shells have it."""
UNREAD = 128 + 13
"""The exit code where nobody reads the output any more (`| head`), as shells have it: SIGPIPE is 13."""
NO_MEMORY = ("failed to map segment", "can't start new thread", "Cannot allocate memory")
"""What else an error may say that is for want of memory."""
MORE_MEMORY = (
    "free some, raise `ulimit -v` if it is set, or take fewer --jobs; finished work is kept"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code, see the table in docs/runs.md."""
    is_program = arguments is None
    words = _present(list(sys.argv[1:] if arguments is None else arguments))
    called = command_called(words or _words_to_complete())
    try:
        app = commands(called)
        if is_program:
            look_from_now()
        if called == "lab experiment":
            words = import_module("workbench.cli.notebooks").joined(words)
        with plain_warnings(errors.LeftOut, errors.MemoryShort, errors.DamagedFile):
            return _code_of(app, words)
    except ClickException as error:
        message = _misuse(error)
        if type(error).__name__ == "NoArgsIsHelpError":
            return _stopped(message)
        context = getattr(error, "ctx", None)
        command = getattr(context, "command_path", "") or "workbench"
        sentence = " ".join(message.split()).rstrip(".")
        accepted = f"`{command} --help` shows what is accepted"
        return _stopped(f"workbench: {sentence}", hint=accepted)
    except WorkbenchError as error:
        code = PENDING if isinstance(error, errors.Unanswered) else UNUSABLE
        return _stopped(f"workbench: {error}", code, hint(error))
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except OSError as error:
        return _stopped(f"workbench: {error.filename or 'a file'}: {error.strerror or error}")
    # what is not installed, or our own bug: one sentence, and the traceback on demand
    except Exception as error:
        if isinstance(error, ModuleNotFoundError):
            missing = missing_extra(f"`workbench {called}`", error)
            if isinstance(missing, WorkbenchError):
                return _lacking(called, missing)
        if os.environ.get("WORKBENCH_DEBUG"):
            raise
        if isinstance(error, MemoryError) or any(sign in str(error) for sign in NO_MEMORY):
            return _stopped("workbench: memory ran out; " + MORE_MEMORY)
        description = error_text(error)
        advice = "WORKBENCH_DEBUG=1 shows where; finished work is kept"
        return _stopped(f"workbench: a bug in workbench ({description}); {advice}", FAILED)


def _code_of(app: Callable[..., int | None], words: Sequence[str]) -> int:
    """The exit code of a command; a dry run also says how to do what it predicted.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it, which typer makes a code of.
    """
    try:
        outcome = app(words, prog_name="workbench", standalone_mode=False)
        with naming_output():
            sys.stdout.flush()
    except NothingToRun:
        return OK
    except BrokenPipeError:
        leave_output()
        return UNREAD
    except SystemExit as end:  # typer ends so, with 1, where nobody reads any more
        if isinstance(end.__context__, BrokenPipeError):
            return UNREAD
        raise
    if outcome == INTERRUPTED:
        raise KeyboardInterrupt
    code = outcome or OK
    if code == OK and DRY_RUN in words and "--json" not in words:
        line = [word for word in words if word != DRY_RUN]
        say_next({typed_line(["workbench", *line]): "do what was predicted"})
    return code


def _words_to_complete() -> list[str]:
    """The words typed so far, where a shell asks for completions."""
    line = os.environ.get("_TYPER_COMPLETE_ARGS", os.environ.get("COMP_WORDS", ""))
    return line.split()[1:]


def _present(words: list[str]) -> list[str]:
    """The words of a command line as its command is spelt today."""
    group = moved_to(words)
    if group:
        complain(f"`workbench {words[0]}` is now `workbench {group} {words[0]}`")
        words = [group, *words]
    return with_default(words)


def _misuse(error: Any) -> str:  # noqa: ANN401 - an exception of the click that typer uses
    """What is wrong with the words of a command; in our own words where typer asked pydantic to
    read a value.
    """
    refusals: list[Any] = getattr(error.__cause__, "errors", list)()
    if not refusals:
        return str(error.format_message())
    refused = refusals[0]
    error.message = errors.refusal(refused)
    message = str(error.format_message())
    return message.replace("Invalid value", f"Invalid value {refused['input']!r}", 1)


def _lacking(called: str, missing: WorkbenchError) -> int:
    """Say which package a command lacks; the hint names the doctor, unless that lacks it."""
    message = f"workbench: {missing}"
    if called == "doctor":
        return _stopped(message)
    return _stopped(message, hint=hint(missing))


def _interrupted() -> int:
    """Say what Ctrl-C leaves."""
    again = "finished work is kept, and the same command continues from there"
    return _stopped(f"workbench: interrupted; {again}", INTERRUPTED)


def _stopped(message: str, code: int = UNUSABLE, hint: str = "") -> int:
    complain(message, hint=hint)
    return code


LISTED = {
    "preset": "strategies",
    "stage": "stages",
    "metric": "metrics",
    "model": "models",
    "format": "formats",
}
"""What `workbench list` calls each kind of part."""
HINTS: dict[type[WorkbenchError], str] = {
    errors.MissingPath: "`workbench` alone lists the sessions that agents keep on this machine",
    errors.FormatError: (
        "`workbench list formats` shows what can be read; `inspect --lenient` skips damaged lines"
    ),
    errors.SetupError: "`workbench doctor` shows what is installed, and which keys are set",
    errors.ModelError: (
        "finished work is kept: the same command continues; `--model extractive` needs no model"
    ),
    errors.Unanswered: "finished work is kept, and the same command asks again",
    errors.SettingError: "`--help` after the command shows what it takes, with examples",
}


def hint(error: WorkbenchError) -> str:
    """One sentence that says what to do next; empty where the error says all there is."""
    if isinstance(error, errors.UnknownName):
        if error.kind in LISTED:
            return f"`workbench list {LISTED[error.kind]}` says what each is"
        return ""
    if isinstance(error, errors.MissingPath) and _is_strategy(error.path):
        return f"{error.path} is a strategy: `--strategies` takes names between commas"
    for kind, text in HINTS.items():
        if isinstance(error, kind):
            return text
    return ""


def _is_strategy(name: str) -> bool:
    """Whether a name that stands where a file should is a preset's."""
    from workbench.engine.compaction.presets import KNOWN

    return name in KNOWN
