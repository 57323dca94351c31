"""The first minutes of newcomers, with a clock: from a clone to a setting that is pasted.

Usage: python reports/studies/first-minutes/walk.py RECORDINGS [--agents "Codex,pi"]
       [--homes FOLDER] [--clone REPOSITORY] [--out FOLDER] [--limit 600]

For each agent a home folder is made of recordings of RECORDINGS that it wrote, where it keeps
them; --homes takes home folders that are there, each called after its agent. In `work` in it a
newcomer types `workbench`, pastes the first command that it offers, then each that is offered
next, until it is said what to set; then pastes that where the text says. All runs in a pipe with
TERM=dumb. --clone clones a repository first and installs it by the README's first command;
else the workbench of this environment is walked.

Printed of each command: the clock, its seconds, its exit code, a silence of more than two
seconds, and a forecast that was off by more than half. The last lines are the table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic, strftime
from typing import IO

from homes import PLACES, new_home

LOOK = 0.2
"""Seconds between two looks at the processes of a command."""
TICKS = os.sysconf("SC_CLK_TCK")
SILENCE = 2.0
"""Seconds without a line that nobody should wait."""
FORESIGHT = 1.5
"""The factor by which a forecast may be wrong."""
OFFERED = re.compile(r"^  (\S*workbench .+)$", re.MULTILINE)
"""A command that a page offers."""
FORETOLD = re.compile(r"[Aa]bout (\d+) (second|minute|hour)s?( of a processor)?")
SECONDS = {"second": 1, "minute": 60, "hour": 3600}
SERVERS = re.compile(r"\S*workbench (watch|view)")
"""Commands that end when somebody ends them."""
SETTING = re.compile(
    r"^(?:To paste|(?P<condition>To try it|At that price), paste)\s+into\s+(?P<file>[^\s,]+),"
    r"(?P<place>.*?):\n\n(?P<text>.*?)(?:\n\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A setting that was measured: on which condition, its file, where in it, its text."""
PRELIMINARY = "preliminary: "
"""What a first figure begins with."""
BY_HAND = re.compile(r"\bYou\s+set\s+it\s+by\s+(.*?):\n\n(.*?)\n", re.DOTALL)
ANSWERS = re.compile(
    r"^(Set nothing|Nothing to paste|To paste, for)\b.*?[.:]\n", re.MULTILINE | re.DOTALL
)
NO_ANSWER = "no answer"
GOALS = ("list", "figure", "answer", "preliminary", "setting", "processor")
"""What is timed: the last is the processor's time for all of it."""
INSTALL = re.compile(r"`(python3 -m venv .*?)`", re.DOTALL)
"""The README's first command."""


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@dataclass
class Step:
    """A command that was typed, and what came of it."""

    command: str
    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of all its processes."""
    silence: float = 0.0
    code: int | None = None
    text: str = ""
    predicted: float | None = None
    """Seconds."""
    taken: float = 0.0
    """Seconds from the forecast to the end; of a processor all of them."""
    lines: list[tuple[float, str]] = field(default_factory=list)

    @property
    def first_figure(self) -> float | None:
        """Seconds after which a preliminary figure was shown; None where none was."""
        for second, text in self.lines:
            if PRELIMINARY in text:
                return second
        return None

    @property
    def factor(self) -> float | None:
        """How far the forecast was off."""
        if self.predicted is None:
            return None
        longer = max(self.predicted, self.taken)
        shorter = min(self.predicted, self.taken)
        return longer / max(shorter, 0.1)


@dataclass
class Walk:
    """Seconds from the first command to what a newcomer wants, and what it was."""

    agent: str
    seconds: dict[str, float] = field(default_factory=dict)
    outcome: str = NO_ANSWER
    stops: list[str] = field(default_factory=list)

    def reached(self, goal: str, clock: float) -> None:
        """The first time counts."""
        self.seconds.setdefault(goal, clock)


def typed(command: str, home: Path, program: Path, limit: float) -> Step:
    """Type a command in a pipe, and watch the clock."""
    environment = {
        "HOME": str(home),
        "PATH": f"{program.parent}:/usr/bin:/bin",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
    }
    step = Step(command)
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=home / "work",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    ended = Event()
    of_processes: dict[tuple[str, str], float] = {}
    watching = Thread(target=watch_processor, args=(process.pid, of_processes, ended))
    watching.start()
    assert process.stdout is not None
    pieces: Queue[bytes] = Queue()
    Thread(target=read_into, args=(pieces, process.stdout), daemon=True).start()
    began = last = monotonic()
    while True:
        try:
            piece = pieces.get(timeout=max(began + limit - monotonic(), 0))
        except Empty:
            os.killpg(process.pid, signal.SIGKILL)
            break
        now = monotonic()
        step.silence = max(step.silence, now - last)
        step.lines.append((now - began, piece.decode(errors="replace")))
        last = now
        if not piece:
            break
    step.seconds = monotonic() - began
    step.code = process.wait()
    ended.set()
    watching.join()
    step.processor = sum(of_processes.values())
    step.text = "".join(text for _, text in step.lines)
    read_forecast(step)
    return step


def watch_processor(session: int, of_processes: dict[tuple[str, str], float], ended: Event) -> None:
    """Read the processor's seconds of all processes of a session until it has ended. The system's own
    sum lacks workers that the command did not start itself.

    Args:
        session: its leader's number.
        of_processes: the seconds by a process's number and start.
        ended: is set at the end.
    """
    while not ended.wait(LOOK):
        for file in Path("/proc").glob("[0-9]*/stat"):
            try:
                _, _, words = file.read_text().rpartition(")")
            except OSError:
                continue
            fields = words.split()
            if int(fields[3]) == session:
                ticks = int(fields[11]) + int(fields[12])
                of_processes[file.parent.name, fields[19]] = ticks / TICKS


def read_into(pieces: Queue[bytes], stream: IO[bytes]) -> None:
    """Pass on what is printed, and nothing at its end."""
    while True:
        piece = os.read(stream.fileno(), 1 << 16)
        pieces.put(piece)
        if not piece:
            return


def read_forecast(step: Step) -> None:
    """Take the first time that the command predicted of itself."""
    if "--dry-run" in step.command:
        return
    for second, text in step.lines:
        forecast = FORETOLD.search(text)
        if forecast is not None:
            step.predicted = float(forecast[1]) * SECONDS[forecast[2]]
            step.taken = step.processor if forecast[3] else step.seconds - second
            return


def steps(home: Path, program: Path, limit: float) -> Iterator[Step]:
    """What a newcomer types who pastes what is offered and was not typed yet."""
    pasted = set[str]()
    waiting = ["workbench"]
    left = limit
    while waiting and left > 0:
        command = waiting.pop(0)
        pasted.add(command)
        step = typed(command, home, program, left)
        left -= step.seconds
        yield step
        if SETTING.search(step.text) or ANSWERS.search(step.text):
            return
        offered = [line.strip() for line in OFFERED.findall(step.text)]
        new_commands = []
        for line in offered:
            if line not in pasted and not SERVERS.match(line):
                new_commands.append(line)
        waiting = new_commands + [line for line in waiting if line not in new_commands]


def walked(agent: str, home: Path, program: Path, limit: float, out: Path | None) -> Walk:
    """Walk one newcomer's way, and print each step of it."""
    walk = Walk(agent)
    clock = 0.0
    processor = 0.0
    pages = []
    text = ""
    for step in steps(home, program, limit):
        if step.first_figure is not None:
            walk.reached("preliminary", clock + step.first_figure)
        clock += step.seconds
        processor += step.processor
        text = step.text
        pages.append(f"$ {step.command}\n{text}\n[{step.seconds:.1f} s]\n")
        say(
            f"  {strftime('%T')}  {clock:6.1f} s  {step.seconds:6.1f} s"
            f"  {step.processor:5.1f} of a processor  {step.command}"
        )
        for fault in faults(step):
            walk.stops.append(fault)
            say(f"      {fault}")
        if step.command == "workbench":
            walk.reached("list", clock)
        elif " inspect " in step.command and "What filled the context" in text:
            walk.reached("figure", clock)
        elif " compare " in step.command and step.code == 0:
            walk.reached("answer", clock)
    walk.seconds["processor"] = processor
    walk.outcome = outcome(text, home)
    if walk.outcome != NO_ANSWER:
        walk.reached("setting", clock)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{agent}.txt").write_text("\n".join(pages), encoding="utf-8")
    return walk


def faults(step: Step) -> Iterator[str]:
    """What a newcomer would stop at."""
    if step.silence > SILENCE:
        yield f"silent for {step.silence:.1f} s"
    if step.code:
        yield f"ends with {step.code}"
    if step.factor is not None and step.factor > FORESIGHT:
        yield f"{step.predicted:.0f} s predicted, {step.taken:.0f} s taken"


def outcome(text: str, home: Path) -> str:
    """What was said to set, once it is pasted."""
    setting = SETTING.search(text)
    if setting is not None:
        pasted = pasted_into(home / setting["file"].removeprefix("~/"), setting["text"])
        condition = setting["condition"]
        return f"{condition.lower()}: {pasted}" if condition else pasted
    by_hand = BY_HAND.search(text)
    if by_hand is not None:
        return f"by hand: {by_hand[2]} ({' '.join(by_hand[1].split())})"
    answer = ANSWERS.search(text)
    return " ".join(answer[0].split()) if answer is not None else NO_ANSWER


def pasted_into(file: Path, setting: str) -> str:
    """Paste a setting into a file that holds others, and read the file as its agent would."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".toml":
        file.write_text(f'{setting}\n[projects."/home/me/app"]\ntrust_level = "trusted"\n')
        added = tomllib.loads(file.read_text())
        del added["projects"]
    else:
        keys = setting.strip().removeprefix("{").removesuffix("}").strip()
        file.write_text(f'{{\n  "theme": "dark",\n  {keys}\n}}\n')
        added = json.loads(file.read_text())
        del added["theme"]
    return f"pasted into {file.name}: {json.dumps(added)}"


def installed(repository: str, folder: Path) -> Path:
    """Clone a repository, install it as its README says, and print the clock; the program."""
    began = monotonic()
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", repository, str(clone)], check=True)
    say(f"{strftime('%T')}  {monotonic() - began:6.1f} s  git clone")
    command = INSTALL.search((clone / "README.md").read_text(encoding="utf-8"))
    assert command is not None
    line = " ".join(command[1].split())
    subprocess.run(["bash", "-c", line], cwd=clone, check=True, stdout=sys.stderr)
    say(f"{strftime('%T')}  {monotonic() - began:6.1f} s  {line}")
    return clone / ".venv/bin/workbench"


def main() -> None:
    """Walk each newcomer's way, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--agents", default=",".join(PLACES))
    parser.add_argument("--homes", type=Path, help="home folders that are there")
    parser.add_argument("--clone", help="a repository to clone and install first")
    parser.add_argument("--out", type=Path, help="keeps what was printed")
    parser.add_argument("--limit", type=float, default=600)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        program = Path(shutil.which("workbench", path=str(Path(sys.executable).parent)) or "")
        if options.clone:
            program = installed(options.clone, Path(folder))
        if options.homes:
            folders = options.homes.resolve().iterdir()
            homes = sorted(home for home in folders if home.is_dir())
        else:
            recordings = options.recordings.resolve()
            agents = options.agents.split(",")
            homes = [new_home(Path(folder), agent, recordings) for agent in agents]
        walks = []
        for home in homes:
            say(f"\n{home.name}")
            walks.append(walked(home.name, home, program, options.limit, options.out))
    say(f"\n| agent | {' | '.join(GOALS)} | what it was |\n|---|{'--:|' * len(GOALS)}---|")
    for walk in walks:
        say(row(walk))


def row(walk: Walk) -> str:
    """A walk as a row of the table, in seconds since its first command."""
    cells = []
    for goal in GOALS:
        cells.append(f"{walk.seconds[goal]:.0f}" if goal in walk.seconds else "–")
    return f"| {walk.agent} | {' | '.join(cells)} | {walk.outcome} |"


if __name__ == "__main__":
    main()
