"""`workbench` alone: the sessions that agents keep on this machine, and what to type next."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic

from workbench.base.formats import joined, some
from workbench.cli.next_steps import ADVICE, advice_on_files, say_commands, typed
from workbench.cli.output import say, table, write
from workbench.recordings.importers.agent_folders import (
    AGENT_FOLDERS,
    CLAUDE_CODE,
    CODEX,
    PI,
    SessionFiles,
    agents_here,
)
from workbench.recordings.importers.compaction_counts import (
    CompactionCount,
    count_compactions,
)

FOLLOWED = (CLAUDE_CODE, CODEX, PI)
"""The agents whose sessions `workbench watch` follows."""
COMPARE = "compare strategies on"
FIRST_FILES = 20
"""Files that a first comparison takes."""
UNITS = ("B", "KB", "MB", "GB", "TB")
PROMISE = "Nothing leaves this machine; files were opened only to count compactions."
COUNTING_SECONDS = 1.0
"""At most, for all agents together."""
NOT_MARKED = "–"
"""Stands for the compactions of an agent whose files do not mark them."""


def start() -> None:
    """Show whose sessions are on this machine, with their number, size, compactions and date, and
    what to type next.
    """
    agents = agents_here()
    if agents:
        say("Sessions on this machine:\n")
        sys.stdout.flush()  # in a pipe too, nobody waits without a line
        counts = _counts(agents)
        rows = [_row(files, count) for files, count in zip(agents, counts, strict=True)]
        say(table(rows))
        for sentence in _notes(agents, counts):
            write(sentence)
        say(f"\n{PROMISE} Try next:\n")
        say_commands(_next_commands(agents))
    else:
        names = ", ".join(dict.fromkeys(folder.agent for folder in AGENT_FOLDERS))
        write(f"No session was found in the folders of {names}.")
        say("\nTry next:\n")
        say_commands({"workbench compare": "compare strategies on the bundled sessions"})
    beside_work: list[str] = []
    for folder in AGENT_FOLDERS:
        if folder.is_beside_work:
            beside_work.append(folder.agent)
    if not any(files.folder.is_beside_work for files in agents):
        write(
            f"{joined(beside_work)} keep sessions in the folder of your project: type this command"
            " there to find them."
        )
    write(
        "Any file or folder of yours may stand in place of these; `workbench --help` lists all"
        " commands."
    )


def _counts(agents: Sequence[SessionFiles]) -> list[CompactionCount | None]:
    """The compactions of each agent, as far as the time reaches. Those with few bytes come first, so
    that the time that they leave is the others'.
    """
    deadline = monotonic() + COUNTING_SECONDS
    by_size = sorted(range(len(agents)), key=lambda index: agents[index].size)
    counts: list[CompactionCount | None] = [None] * len(agents)
    waiting = len(agents)
    for index in by_size:
        files = agents[index]
        share = (deadline - monotonic()) / waiting
        waiting -= 1
        counts[index] = count_compactions(files.folder.format, files.files, share)
    return counts


def _notes(
    agents: Sequence[SessionFiles], counts: Sequence[CompactionCount | None]
) -> Iterator[str]:
    """What the column of compactions leaves out, a sentence each."""
    for files, count in zip(agents, counts, strict=True):
        if count is not None and not count.is_complete:
            yield (
                f"{files.folder.agent}: at least {some(count.compactions, 'compaction')}; in a second"
                f" {count.files:,} of {some(count.all_files, 'file')} were read to the end, the newest"
                " first."
            )
    if None in counts:
        yield f"{NOT_MARKED}: not counted, since no line of its files is marked as a compaction."


def _row(files: SessionFiles, count: CompactionCount | None) -> dict[str, str]:
    return {
        "agent": files.folder.agent,
        "files": f"{files.count:,}",
        "size": _size(files.size),
        "compactions": _compactions(count),
        "newest": datetime.fromtimestamp(files.written).strftime("%Y-%m-%d %H:%M"),
        "where": typed(_where(files)),
    }


def _where(files: SessionFiles) -> Path:
    """The folder of an agent's sessions; where other things lie there too, the sessions."""
    return files.folder.path if files.folder.below else files.place


def _next_commands(agents: Sequence[SessionFiles]) -> dict[str, str]:
    """What to type next, each with what it does, in the order of the README."""
    newest = agents[0]
    commands = {f"workbench inspect {typed(newest.newest)}": "what the newest session holds"}
    for files in agents:
        if files.folder.agent in FOLLOWED:
            commands[f"workbench watch {typed(files.folder.path)}"] = (
                "follow the session that is written now"
            )
            break
    commands[advice_on_files(newest)] = ADVICE
    compare = f"workbench compare {typed(newest.place)}"
    if newest.count > FIRST_FILES:
        commands[f"{compare} --limit {FIRST_FILES}"] = f"{COMPARE} {FIRST_FILES} of them"
    elif newest.count > 1:
        commands[compare] = f"{COMPARE} them"
    else:
        commands[compare] = f"{COMPARE} it"
    return commands


def _compactions(count: CompactionCount | None) -> str:
    """Their number; with a `+` where not all files were read."""
    if count is None:
        return NOT_MARKED
    if count.is_complete:
        return f"{count.compactions:,}"
    return f"{count.compactions:,}+"


def _size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one."""
    size = float(count)
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.0f} {UNITS[-1]}"
