"""`workbench lab dataset`: sessions that ship, that can be made, and that can be fetched."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Literal

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.base.private_files import make_private_folder, write_private
from workbench.cli.options import AsJson
from workbench.cli.output import complain, say, say_json, table
from workbench.engine.transcript.session import Session
from workbench.recordings.datasets.bundled import bundled_files, card
from workbench.recordings.datasets.catalogue import HOST, PublicRecording, find, recordings
from workbench.recordings.datasets.catalogue import fetch as fetched
from workbench.recordings.datasets.generator import generate as generated
from workbench.recordings.datasets.recorder import read_task
from workbench.recordings.datasets.recorder import record as recorded
from workbench.recordings.importers.native import save

FOLDER = Path("datasets") / "fetched"
"""Where fetched recordings go by default: in the working folder, never in a home directory."""
Out = Annotated[Path, typer.Option("--out", "-o", help="The file to write; `.gz` is packed.")]


def show(as_json: AsJson = False) -> int:
    """List the bundled sessions and the public recordings of the catalogue, by source.

    Example:

      workbench lab dataset list
    """
    rows = []
    for description in map(card, bundled_files()):
        row = {
            "name": description["name"],
            "where": "bundled",
            "tokens": f"{description['tokens']:,}",
            "licence": description["licence"],
            "what it is": description["title"],
        }
        rows.append(row)
    for name, group in groupby(recordings(), attrgetter("source")):
        files = list(group)
        first_file = files[0]
        megabytes = sum(file.size for file in files) / 1e6
        size = f"{some(len(files), 'file')}, {megabytes:.1f} MB"
        row = {
            "name": name,
            "where": first_file.set,
            "tokens": "",
            "licence": first_file.licence,
            "what it is": f"{first_file.what}, {first_file.repository}, {size}",
        }
        rows.append(row)
    if as_json:
        say_json(rows)
    else:
        say(table(rows))
    return 0


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Public sources or whole sets, see `workbench lab dataset list`."),
    ] = None,
    fetches_all: Annotated[
        bool, typer.Option("--all", help="All of them: what the figures in docs are made from.")
    ] = False,
    folder: Annotated[Path, typer.Option("--folder", help="Where to keep them.")] = FOLDER,
    host: Annotated[str, typer.Option("--host", help="Fetch them from a mirror.")] = HOST,
    as_json: AsJson = False,
) -> int:
    """Fetch public recordings over HTTPS, and check each by its hash. A recording that is there is
    not fetched again.

    Examples:

      workbench lab dataset fetch pi-mono agentv

      workbench lab dataset fetch --all
    """
    if bool(names) == fetches_all:
        raise SettingError(
            "name what to fetch, or all with `--all`: `workbench lab dataset list` shows the names"
        )
    to_fetch = _named_recordings(names) if names else recordings()
    files, missing = [], {}
    for recording, file in fetched(to_fetch, folder, host):
        if isinstance(file, Path):
            files.append(str(file))
        else:
            missing[recording.name] = str(file)
    if as_json:
        say_json({"files": files, "missing": missing})
    else:
        say("\n".join(files))
        for name, reason in missing.items():
            complain(f"workbench: {name} is missing: {reason}")
    return int(bool(missing))


def _named_recordings(names: Sequence[str]) -> list[PublicRecording]:
    """The recordings of these sources or sets."""
    named: list[PublicRecording] = []
    for name in names:
        named += find(name)
    return named


def generate(
    out: Out,
    tokens: Annotated[
        int, typer.Option("--tokens", min=1000, help="About how long, in tokens.")
    ] = 100_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")] = 0,
    profile: Annotated[
        Literal["coding", "support", "research"],
        typer.Option("--profile", help="How the work sounds."),
    ] = "coding",
    facts: Annotated[
        Path | None, typer.Option("--facts", help="Write down what was planted, as JSON lines.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Write a generated session of any size with planted facts whose later uses are known.

    Example:

      workbench lab dataset generate --tokens 1000000 --seed 7 --profile coding --out big.jsonl
    """
    generated_session = generated(tokens, seed, profile)
    if facts is not None:
        lines = [json.dumps(asdict(fact)) + "\n" for fact in generated_session.facts]
        write_private(facts, "".join(lines))
    return _save(generated_session.session, out, as_json, facts=len(generated_session.facts))


def record(
    task: Annotated[
        Path, typer.Argument(help="A folder with task.toml, system.md, script.md and files/.")
    ],
    out: Out,
    seconds: Annotated[
        float, typer.Option("--timeout", min=1, help="What one tool call may take.")
    ] = 120.0,
    as_json: AsJson = False,
) -> int:
    """Play a scripted task with real tools in a temporary folder, and write the session.

    The script's commands really run on this machine: record only tasks whose author you trust.

    Example:

      workbench lab dataset record datasets/tasks/stockroom-holds --out session.jsonl
    """
    session = recorded(read_task(task), seconds)
    return _save(session, out, as_json, requests=len(session.requests))


def _save(session: Session, out: Path, as_json: bool, **counts: int) -> int:
    """Write the session, and say how much it holds."""
    make_private_folder(out.parent)
    save(session, out)
    if out.suffix == ".gz":
        write_private(out, gzip.compress(out.read_bytes(), mtime=0))
    counts = {"messages": len(session.messages), **counts}
    if as_json:
        say_json({"file": str(out), **counts})
    else:
        say(f"{out}: {', '.join(f'{n} {name}' for name, n in counts.items())}")
    return 0
