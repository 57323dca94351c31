"""`workbench runs`: the list of runs, their names, tags and notes, and deleting them."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.base.remote import address_of, name_of
from workbench.cli.options import AsJson
from workbench.cli.output import UNUSABLE, complain, say, say_json, table
from workbench.evaluation.experiment.run_copies import fetched
from workbench.evaluation.experiment.run_notes import RunNotes, check_deletable, delete_run
from workbench.report.view.run_list import (
    NEWEST_FIRST,
    SORTS,
    RunFilters,
    RunRow,
    run_rows,
    sorted_rows,
)
from workbench.report.view.runs import runs

LIST = {
    "name": "name", "when (UTC)": "when", "recordings": "recordings", "sessions": "sessions:count",
    "strategies": "strategies", "decision": "answer", "cost": "usd:dollars", "tags": "tags", "state": "state",
}  # fmt: skip
AnyRun = Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")]


def show(
    folder: Annotated[Path, typer.Argument(help="A folder of runs.")] = Path("reports"),
    sort: Annotated[
        str,
        typer.Option("--sort", help=f"{', '.join(SORTS)}; a minus before it turns the order."),
    ] = NEWEST_FIRST,
    tag: Annotated[str, typer.Option("--tag", help="Runs with this tag.")] = "",
    state: Annotated[
        str, typer.Option("--state", help="finished, going on, stopped, shared copy or unreadable.")
    ] = "",
    strategy: Annotated[str, typer.Option("--strategy", help="Runs of this strategy.")] = "",
    search: Annotated[str, typer.Option("--search", help="Runs with this text.")] = "",
    as_json: AsJson = False,
) -> int:
    """List the runs of a folder: what each is called, read, cost and recommends.

    Examples:

      workbench runs list

      workbench runs list reports --sort=-usd --tag nightly
    """
    filters = RunFilters(search, tag, state, strategy)
    all_rows = run_rows(runs(fetched(folder)).values())
    fitting_rows = filter(filters.fits, all_rows)
    rows = sorted_rows(list(fitting_rows), sort)
    if as_json:
        say_json([row.record() for row in rows])
    elif not all_rows:
        say(f"There is no run in {name_of(folder)}; `workbench compare` writes one.")
    elif not rows:
        say(f"None of {some(len(all_rows), 'run')} fits.")
    else:
        say(table([_line(row) for row in rows], LIST))
    return 0


def _line(row: RunRow) -> dict[str, object]:
    """A row as a terminal shows it: the folder stands beside a name that a person gave."""
    name = row.name
    if name != row.run:
        name = f"{name} ({row.run})"
    when = row.created[:16].replace("T", " ")
    answer = row.answer.partition(":")[0]
    return {**row.record(), "name": name, "when": when, "answer": answer}


def rename(
    run: AnyRun,
    name: Annotated[str, typer.Argument(help="Its name; '' takes it away.")],
    as_json: AsJson = False,
) -> int:
    """Give a run a name, which stands beside its folder in lists and pages.

    Example:

      workbench runs name reports/compare-1a2b3c4d "new summary prompt"
    """
    return _describe(run, as_json, name=name)


def retag(
    run: AnyRun,
    tags: Annotated[list[str], typer.Argument(help="Tags to add.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take these tags away.")] = False,
    as_json: AsJson = False,
) -> int:
    """Add tags to a run, or take them away.

    Examples:

      workbench runs tag reports/compare-1a2b3c4d nightly prompt

      workbench runs tag reports/compare-1a2b3c4d nightly --remove
    """
    run_tags = list(RunNotes.of(_run(run)).tags)
    for tag in tags:
        if not remove:
            run_tags.append(tag)
        elif tag in run_tags:
            run_tags.remove(tag)
    return _describe(run, as_json, tags=run_tags)


def annotate(
    run: AnyRun,
    note: Annotated[str, typer.Argument(help="Any text; '' takes it away.")],
    as_json: AsJson = False,
) -> int:
    """Write a note to a run.

    Example:

      workbench runs note reports/compare-1a2b3c4d "with the paths kept, see issue 4"
    """
    return _describe(run, as_json, note=note)


def delete(
    folders: Annotated[list[Path], typer.Argument(help="Folders of runs.", metavar="RUN...")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> int:
    """Delete runs with all of their files, after a question. No other folder is ever deleted.

    Example:

      workbench runs delete reports/compare-1a2b3c4d
    """
    for folder in folders:
        if address_of(folder):
            raise SettingError(
                f"{address_of(folder)} lies in a store, and runs are deleted on this machine only;"
                " use the store's own tools"
            )
        check_deletable(folder)
    names = [str(folder) for folder in folders]
    if not yes and not _is_confirmed(f"Delete {', '.join(names)} with all files?"):
        complain("nothing was deleted")
        return UNUSABLE
    for folder in folders:
        delete_run(folder)
    if as_json:
        say_json({"deleted": names})
    else:
        say(f"{some(len(names), 'run is', 'runs are')} deleted.")
    return 0


def _is_confirmed(question: str) -> bool:
    """What the user answers; no where nobody can answer."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        return False


def _run(folder: Path) -> Path:
    """The folder of a run, or the copy of one that lies in a store.

    Raises:
        SettingError: it is none.
    """
    local = fetched(folder)
    entries = list(runs(local).values())
    if len(entries) != 1 or entries[0].path != local.resolve():
        place = name_of(folder)
        raise SettingError(f"{place} holds no run; `workbench runs list` shows those of a folder")
    return local


def _describe(run: Path, as_json: bool, **changes: str | list[str]) -> int:
    """Write a run's notes with another name, other tags or another note, and say what they are
    now; the exit code.
    """
    folder = _run(run)
    notes = RunNotes.of(folder).described(**changes)  # type: ignore[arg-type]  # by name
    notes.write(folder)
    described = {"name": notes.name, "tags": list(notes.tags), "note": notes.note}
    if as_json:
        say_json({"run": name_of(run), **described})
    else:
        say(f"{notes.name or folder.name}; tags: {', '.join(notes.tags) or 'none'}")
    return 0
