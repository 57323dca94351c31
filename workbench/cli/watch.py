"""`workbench watch`: follow the session that an agent is writing."""

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.base.errors import FormatError, MissingPath
from workbench.base.formats import some
from workbench.base.typed_value import check_window
from workbench.cli.options import takes
from workbench.cli.output import as_json as to_json
from workbench.cli.output import complain, harmless, printable, say
from workbench.evaluation.analysis.composition import SURPLUS, UNEXPLAINED
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.watching.follow import AGENTS, NOT_RECOGNISED, Followed, Happening
from workbench.evaluation.watching.needed import Lost, compactions, likely_needed
from workbench.evaluation.watching.state import SessionMeter, SessionState

if TYPE_CHECKING:
    from rich.console import RenderableType

POLL = 0.5
"""Seconds between two looks at the file."""
BAR = 30
"""Characters of the bar that shows how full the context is."""
MOST_PARTS = 10
"""Parts of the context that are shown."""


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to show: the state of the session, and what its last compaction lost."""

    state: SessionState
    lost: list[Lost]


@dataclass(frozen=True, slots=True)
class Event:
    """What befell the file, in a word for programs and a sentence for people."""

    event: str
    file: str
    message: str


@takes(Masking)
def watch(
    spec: Masking,
    target: Annotated[
        Path,
        typer.Argument(
            help="A session file of Claude Code, Codex or pi; a folder: its newest.", metavar="FILE"
        ),
    ],
    window: Annotated[
        int | None,
        typer.Option("--window", "-w", help="The model's window in tokens. None: as recorded."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print the state and end.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line, at each change.")
    ] = False,
) -> int:
    """Follow a session while its agent writes it: size, what fills it, when the next compaction is
    due.

    After a compaction it names what was lost that the agent is likely to need. Where the file is
    emptied, removed or replaced it says so, and goes on. Ctrl-C ends it.

    Example:

      workbench watch ~/.claude/projects/my-project
    """
    _refuse_missing(target)
    check_window(window, optional=True)
    followed, meter = Followed(target, spec.redaction), SessionMeter(window)
    changes = _shown(followed, meter, once)
    newest: Look | None = None
    try:
        if once or as_json or not sys.stdout.isatty():
            for part in changes:
                if isinstance(part, Look):
                    newest = part
                _say_part(part, followed, once=once, as_json=as_json)
        else:
            newest = _live(changes)
    except KeyboardInterrupt:
        newest = newest or _now(followed, meter)
    if newest is not None and not as_json and not once:
        _say_end(newest.state)
    return 0


def _say_part(part: Look | Event, followed: Followed, *, once: bool, as_json: bool) -> None:
    """Print a state or an event as it is asked for."""
    if as_json:
        _say_as_json(followed, part)
    elif isinstance(part, Event):
        say(part.message)
    elif once:
        say("\n".join(lines(part.state, part.lost)))
    else:
        say(_line(part))
    sys.stdout.flush()


def _say_as_json(followed: Followed, part: Look | Event) -> None:
    if isinstance(part, Event):
        say(to_json(asdict(part)))
        return
    document = {
        "event": "state",
        "file": str(followed.path),
        **asdict(part.state),
        "lost": [asdict(entity) for entity in part.lost],
    }
    say(to_json(document))


def _say_end(state: SessionState) -> None:
    requests = some(state.requests, "request")
    compactions = some(state.compactions, "compaction")
    say(
        f"{printable(state.session)}: {requests}, {compactions}, {state.tokens:,} tokens at the end"
    )


def _refuse_missing(target: Path) -> None:
    """Refuse a folder that is not there; a file may be written later, if its folder is there."""
    may_come = bool(target.suffix) and target.parent.is_dir()
    if not (target.exists() or may_come):
        raise MissingPath(target)


def _shown(followed: Followed, meter: SessionMeter, once: bool) -> Iterator[Look | Event]:
    """What there is to show, at each change of the file; ends after the first where it is asked
    for `once`.
    """
    has_waited = False
    compaction_count = 0
    lost: list[Lost] = []
    while True:
        is_longer, event = _updated(followed)
        if event is not None and not once:
            compaction_count = 0
            lost = []
            yield event
        if is_longer or (once and followed.lines):
            session = followed.session()
            assert session is not None
            session_compactions = compactions(session)
            if len(session_compactions) != compaction_count:
                compaction_count = len(session_compactions)
                lost = []
                if session_compactions:
                    lost = likely_needed(session_compactions[-1], session.cwd)
            yield Look(meter.state(session, followed.format), lost)
        elif once:
            reason = f"there is no session of {', '.join(AGENTS)} here that could be read yet"
            if followed.is_unrecognised:
                reason = NOT_RECOGNISED
            raise FormatError(reason, where=str(followed.path or followed.target))
        elif not has_waited and not followed.lines:
            _say_waiting(followed)
        has_waited = True
        if once:
            return
        time.sleep(POLL)


def _updated(followed: Followed) -> tuple[bool, Event | None]:
    """Whether the file has become longer, and what else befell it.

    Raises:
        FormatError: it cannot be read, and never could.
    """
    reason = ""
    is_longer = False
    try:
        is_longer = followed.update()
    except FormatError as error:
        if not followed.was_read:
            raise
        reason = str(error)
    happening = followed.happening
    if happening is None:
        return is_longer, None
    file = str(followed.path or followed.target)
    message = f"{file} {happening.value}"
    if happening is Happening.UNREADABLE:
        message = f"{reason}; {happening.value}"
    event = Event(happening.name.lower(), file, message)
    return is_longer, event


def _say_waiting(followed: Followed) -> None:
    """Say that there is no session yet."""
    target = str(followed.target)
    if followed.is_unrecognised:
        target += f" ({NOT_RECOGNISED})"
    complain(f"workbench: waiting for a session in {target}; Ctrl-C ends it")


def _now(followed: Followed, meter: SessionMeter) -> Look | None:
    session = followed.session()
    if session is None:
        return None
    return Look(meter.state(session, followed.format), [])


def _live(changes: Iterator[Look | Event]) -> Look | None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    newest: Look | None = None
    with Live(console=Console(), auto_refresh=False) as display:
        try:
            for part in changes:
                if isinstance(part, Event):
                    display.console.print(Text(harmless(part.message)))
                    continue
                newest = part
                text = harmless("\n".join(lines(newest.state, newest.lost)))
                body: RenderableType = Text(text, no_wrap=True, overflow="ellipsis")
                display.update(body, refresh=True)
        except KeyboardInterrupt:
            pass
    return newest


def _line(look: Look) -> str:
    """One change in one line, for logs."""
    state = look.state
    line = f"request {state.requests}: {state.tokens:,} of {state.limit:,} tokens ({_due(state)})"
    if look.lost:
        names = [printable(entity.text) for entity in look.lost[:5]]
        line += f"; lost: {', '.join(names)}"
    return line


def lines(state: SessionState, lost: list[Lost]) -> list[str]:
    """The whole state, in lines that fit 80 columns."""
    share = 1.0
    if state.limit > 0:
        share = min(state.tokens / state.limit, 1.0)
    filled = round(BAR * share)
    bar = "█" * filled + "░" * (BAR - filled)
    growth = "unknown" if state.growth is None else f"{state.growth:,.0f} tokens a request"
    requests = some(state.requests, "request")
    compactions = some(state.compactions, "compaction")
    text_lines = [
        f"{printable(state.session)[:40]}: {requests}, {compactions}",
        f"size     {bar} {share:.0%}  {state.tokens:,} tokens ({state.size_from})",
        f"due at   {state.limit:,} tokens, from {state.limit_from}",
        f"next     {_due(state)}",
        f"growth   {growth}",
    ]
    for reports in state.reports_left_out:
        text_lines.append(f"left out, since it cannot be true: {reports}"[:79])
    text_lines += _parts_lines(state)
    if lost:
        text_lines.append("lost in the last compaction, and likely to be needed:")
    for entity in lost:
        line = f"  {entity.id}  {entity.kind:<10}  {printable(entity.text)}"
        text_lines.append(line[:79])
    return text_lines


def _parts_lines(state: SessionState) -> list[str]:
    """A line for each of the first parts of the context that hold anything."""
    total = max(sum(state.parts.values()), 1)
    part_lines = []
    for part, size in state.parts.items():
        who = part
        if part == UNEXPLAINED and size < 0:
            who = SURPLUS
        part_lines.append(f"  {size / total:>4.0%} {size:>9,}  {printable(who)[:50]}")
    return part_lines[:MOST_PARTS]


def _due(state: SessionState) -> str:
    if state.tokens >= state.limit:
        return "a compaction is due now"
    if state.requests_left is None:
        return "not known before a second request"
    minutes = "" if state.minutes_left is None else f", {state.minutes_left:.0f} minutes"
    return f"a compaction is due in about {some(state.requests_left, 'request')}{minutes}"
