"""The commands, and what becomes of an error: one sentence and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from workbench.cli import (
    ablating,
    behaving,
    checking,
    comparing,
    datasets,
    doctor,
    experimenting,
    exporting,
    gating,
    inspecting,
    lab,
    listing,
    probing,
    replaying,
    serving,
    sharing,
    surprising,
    sweeping,
    varying,
)
from workbench.cli.hints import hint
from workbench.cli.words import complain, told_plainly
from workbench.errors import LeftOut, WorkbenchError

# typer carries a click of its own from some version on, and uses the installed one before: these are whichever it uses
ClickException: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

OK, FAILED_REPLAY, UNUSABLE = 0, 1, 2

app = typer.Typer(
    name="workbench",
    help="Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded sessions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare", short_help="Compare strategies on recorded sessions; write a report.")(comparing.compare)
app.command("replay", short_help="Look closely at one session under one strategy.")(replaying.replay)
app.command("inspect", short_help="Say what recordings hold.")(inspecting.inspect)
app.command("list", short_help="List strategies, stages, metrics, formats or models.")(listing.show)
app.command("report", short_help="Render the report of a finished run again.")(comparing.report)
app.command("share", short_help="Copy a run without a word of its recordings.")(sharing.share)
app.command("sweep", short_help="Replay sessions under every point of a grid of settings.")(sweeping.sweep)
app.command("leave-one-out", short_help="Say what each stage of a strategy is good for.")(ablating.leave_one_out)
app.command("selfcheck", short_help="Check that the measure measures.")(checking.selfcheck)
app.command("gate", short_help="Stop a build when a strategy has become worse than in an earlier run.")(gating.gate)
app.command("diff", short_help="Show what changed from one run to another, largest regressions first.")(gating.diff)
app.command("probe", short_help="Ask a model questions about each strategy's context.")(probing.probe)
app.command("variance", short_help="Say where the noise of a score comes from: sessions, questions or models.")(
    varying.variance
)
app.command("behave", short_help="Try whether a model obeys and acts alike with each strategy's context.")(
    behaving.behave
)
app.command("export", short_help="Write a run's scores as logs of Inspect, or its tables as CSV.")(exporting.export)
app.command("surprisal", short_help="Say what a small real model finds surprising without the rest.")(
    surprising.surprisal
)
app.command("serve", short_help="Serve a small real model on this machine.")(serving.serve)
app.command("experiment", short_help="Run the experiment notebook with parameters.")(experimenting.experiment)
app.command("record", short_help="Play a scripted task with real tools; write its session.")(datasets.record)
app.command("lab", short_help="Open JupyterLab at the course.", context_settings=lab.PASSING)(lab.lab)
app.command("doctor", short_help="Say what this machine has of what is needed.")(doctor.doctor)
app.add_typer(
    datasets.datasets, name="datasets", short_help="List, fetch, check and make sessions.", no_args_is_help=True
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after `workbench`; those of the process if none are given.

    Returns:
        0; 1 if a replay of a run failed; 2 for input that cannot be used.
    """
    try:
        words = experimenting.joined(list(sys.argv[1:] if arguments is None else arguments))
        with told_plainly(LeftOut):
            result = app(words, standalone_mode=False)
    except ClickException as error:
        told = error.format_message()  # type: ignore[attr-defined]  # every exception of click has it
        if type(error).__name__ == "NoArgsIsHelpError":
            complain(told)
        else:
            complain(f"workbench: {' '.join(told.split()).rstrip('.')}", hint=_where(error))
        return UNUSABLE
    except WorkbenchError as error:
        complain(f"workbench: {error}", hint=hint(error))
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
        return FAILED_REPLAY
    return int(result or OK)


def _where(error: Exception) -> str:
    """The command whose help says what is accepted."""
    command = getattr(getattr(error, "ctx", None), "command_path", "") or "workbench"
    return f"`{command} --help` shows what is accepted"
