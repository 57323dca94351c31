"""The commands, and what becomes of an error: one sentence and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from workbench.cli import comparing, datasets, experimenting, inspecting, listing, replaying, sharing
from workbench.cli.words import complain
from workbench.errors import WorkbenchError

# typer carries a click of its own from some version on, and uses the installed one before: these are whichever it uses
ClickException: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

OK, FAILED_CELL, UNUSABLE = 0, 1, 2

app = typer.Typer(
    name="workbench",
    help="Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded sessions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare")(comparing.compare)
app.command("replay")(replaying.replay)
app.command("inspect")(inspecting.inspect)
app.command("list")(listing.show)
app.command("report")(comparing.report)
app.command("share")(sharing.share)
app.command("experiment")(experimenting.experiment)
app.command("record")(datasets.record)
app.add_typer(datasets.datasets, name="datasets", no_args_is_help=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after `workbench`; those of the process if none are given.

    Returns:
        0; 1 if a cell of a run failed; 2 for input that cannot be used.
    """
    try:
        result = app(list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
    except ClickException as error:
        words = error.format_message()  # type: ignore[attr-defined]  # every exception of click has it
        if type(error).__name__ == "NoArgsIsHelpError":
            complain(words)
        else:
            complain(f"workbench: {' '.join(words.split()).rstrip('.')}; `workbench --help` shows what is accepted")
        return UNUSABLE
    except WorkbenchError as error:
        complain(f"workbench: {error}")
        return UNUSABLE
    except (KeyboardInterrupt, typer.Abort):
        complain("workbench: interrupted; what was finished is kept, and the same command goes on from there")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        complain(f"workbench: {error.filename or 'a file'}: {error.strerror or error}")
        return UNUSABLE
    except Exception as error:  # our own bug: one sentence for the user, the whole for whoever asks for it
        if os.environ.get("WORKBENCH_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        complain(f"workbench: a bug of ours ({what}); WORKBENCH_DEBUG=1 shows where, and what was finished is kept")
        return FAILED_CELL
    return int(result or OK)
