"""What a comparison costs, beside tiktoken over the same text: long lines, many messages, ordinary
sessions.

    python tests/benchmarks/bench_cost.py [FILES ...] [--part lines|messages|sessions|again|first|long]
        [--shared FOLDER] [--seconds 300]

Each comparison is a process of its own, of four strategies in one worker, without a report; files
are compared with the simulation that `compare` makes by default, and without. Its time is that of
the processor, its memory the most that it held. `exam` is the dearest of a file's
four exams, in this process, after the session is read. What takes more than `--seconds` is ended
and counts as failed.

- lines: made-up sessions of which one line grows, up to 1 MB
- messages: made-up sessions of 1,000 to 50,000 messages
- sessions: the bundled ones, and FILES; `--shared` adds every recording of its `corpora` and
  `more-projects`
- again: the same session with another strategy, where the folder of results is kept; a worker's
  start; how many token counts repeat a text; what a session's counts, index and exams take of the
  comparison, which is what keeping them on disk could save
- first: how soon a comparison of FILES, else of the bundled sessions, shows a first figure in a
  pipe, and how long it is silent at most
- long: 100,000 messages in a window of 8,000 tokens

Exits with 1 where a bar is missed by the worst file: an exponent of 1.1 in messages and in the
length of a line; for a comparison 10 times tiktoken and 5 s, 300 MB and 20 times the file; 100 ms
for an exam; 4 GB for the long session; a first figure within 3 s, and no more than 12 s of silence in a
pipe, which gets a line every 10 s.

Measured on 2026-11-28, on two busy cores: of 25 files (the bundled sessions, and each seventh of
`--shared` by size that has a session) 16 missed their seconds, 4 their megabytes (by 11 at most), 2
the time of an exam. A comparison of 8 messages takes 2.6 s and 246 MB, so about half of the seconds
of a session of 100 KB are no work on its text. Since then a loss is judged once, nothing is looked up
in no lines, and pyarrow takes its memory from the system: 320 -> 301 MB for `poolside-requirements`,
319 -> 302 MB for 0.6 MB of Claude Code, 246 -> 236 MB for 8 messages. Then programs stopped looking
for garbage in what they load and at their end, and findings stopped keeping texts in pyarrow: 2.97 ->
2.12 s for 8 messages, .83 of the seconds of a bundled session, the same memory. At a load of 13 nine
of ten still missed their seconds, by .8 to 7.4.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from builders import remembering, rules
from workbench import Session, WorkbenchError, prepared, save
from workbench.engine.models.tokenizer import TiktokenCounter, loaded
from workbench.engine.transcript.message import counted_text
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.recordings.importers.importer import scan

PARTS = ("lines", "messages", "sessions", "again", "first", "long")
STRATEGIES = "truncate,summarize,pipeline,claude_code"
ANOTHER_STRATEGY = "observation_mask"
ENTRIES = (250, 1_000, 2_500, 5_000, 11_000)
"""Of the long line: 11,000 make 1 MB."""
MESSAGES = (1_000, 5_000, 20_000, 50_000)
EXAMINED = (0.35, 0.5, 0.65, 0.8)
"""Boundaries of exams, as shares of a session's messages."""
NOISE = 0.25
"""The share of a cost by which two runs may differ on a busy machine."""
RUNS_OF_LADDER = 2
"""Comparisons of each file of a ladder, of which the cheapest counts: a busy machine makes the
processor's time longer, never shorter, and one dear run of the smallest file bends the exponent.
"""
MOST_EXPONENT = 1.1
MOST_TIMES_TIKTOKEN = 10
MOST_SECONDS = 5.0
MOST_MEGABYTES = 300
MOST_TIMES_FILE = 20
MOST_EXAM_SECONDS = 0.1
MOST_LONG_MEGABYTES = 4_000
MOST_FIRST_SECONDS = 3.0
MOST_SILENCE = 12.0
FIRST_FIGURE = "preliminary: "
ROOT = Path(__file__).parents[2]
START = (sys.executable, "-c", "import workbench.evaluation.experiment.units")
"""What a worker does before its first task."""
MEASURE = """
import json, resource, subprocess, sys
seconds = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""
"""Runs a command, and prints its exit code, its seconds of the processor, and its memory in KB."""


@dataclass(frozen=True)
class Cost:
    """What a process took.

    Attributes:
        seconds: of the processor.
        megabytes: the most memory that it held.
        failure: why it has no figures; empty where it has.
    """

    seconds: float
    megabytes: float
    failure: str = ""


@dataclass(frozen=True)
class Figures:
    """One row of the table.

    Attributes:
        tiktoken: seconds of the processor for the same text.
        exam: seconds of the dearest exam.
        comparison: as `compare` makes it by default.
        unsimulated: the same without its simulation, which the bars did not foresee.
    """

    name: str
    megabytes: float
    tokens: int
    tiktoken: float
    exam: float
    comparison: Cost
    unsimulated: Cost

    @property
    def most_seconds(self) -> float:
        """The bar of a comparison's time."""
        return MOST_TIMES_TIKTOKEN * self.tiktoken + MOST_SECONDS

    @property
    def most_megabytes(self) -> float:
        """The bar of a comparison's memory."""
        return MOST_MEGABYTES + MOST_TIMES_FILE * self.megabytes

    @property
    def missed(self) -> list[str]:
        """The bars that it misses; `also unsimulated` where it does without a simulation too."""
        missed = self._missed_by(self.comparison)
        if self._missed_by(self.unsimulated):
            missed.append("also unsimulated")
        if self.exam > MOST_EXAM_SECONDS:
            missed.append("exam")
        return missed

    def _missed_by(self, cost: Cost) -> list[str]:
        """The bars that a comparison misses."""
        missed = []
        if cost.failure:
            missed.append(cost.failure)
        if cost.seconds > self.most_seconds:
            missed.append("seconds")
        if cost.megabytes > self.most_megabytes:
            missed.append("memory")
        return missed

    def __str__(self) -> str:
        cost = self.comparison
        plain = self.unsimulated
        times = cost.seconds / max(self.tiktoken, 1e-3)
        return (
            f"{self.name[-44:]:44} {self.megabytes:6.2f} MB {self.tokens:10,} tokens"
            f"  tiktoken {self.tiktoken:6.3f} s  exam {1e3 * self.exam:7.0f} ms"
            f"  compare {cost.seconds:6.1f} s = {times:6.0f} x, {cost.megabytes:5.0f} MB"
            f"  unsimulated {plain.seconds:6.1f} s, {plain.megabytes:5.0f} MB"
            f"  bar {self.most_seconds:5.1f} s, {self.most_megabytes:5.0f} MB"
            f"  {', '.join(self.missed)}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--seconds", type=int, default=300)
    options = parser.parse_args()
    parts = options.part or PARTS
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        compared(
            session_of(8, root), "truncate", 300
        )  # all that a comparison loads is compiled once
        if "lines" in parts:
            missed += ladder(one_line_files(root), "the length of a line", options.seconds)
        if "messages" in parts:
            missed += ladder(files_of_messages(root), "messages", options.seconds)
        if "sessions" in parts:
            files = [*bundled_files(), *options.files, *shared_files(options.shared)]
            rows = [row for path in files if (row := figures(path, options.seconds)) is not None]
            missed += worst(rows)
        if "again" in parts:
            again(root)
        if "first" in parts:
            missed += first_figure(options.files or bundled_files(), root)
        if "long" in parts:
            missed += long_session(root, options.seconds)
    for text in missed:
        print(f"missed: {text}")
    return int(bool(missed))


def one_line_files(root: Path) -> Iterator[Path]:
    """Sessions in which one result is one line; the line grows from file to file."""
    for entries in ENTRIES:
        path = root / f"one-line-{entries}.json"
        path.write_text(json.dumps(one_line(entries)))
        yield path


def one_line(entries: int) -> list[dict[str, object]]:
    """A conversation that reads a report of one line with so many entries, and then 30 files."""
    rng = random.Random(3)
    files = [f"lib/unit_{number}/check_{number}.py" for number in range(60)]
    report = []
    for _ in range(entries):
        outcome = rng.choice(("passed", "failed"))
        file = rng.choice(files)
        report.append(
            {
                "file": file,
                "outcome": outcome,
                "tries": rng.randint(0, 3),
                "size": rng.randint(2_000, 2_070),
            }
        )
    messages: list[dict[str, object]] = [
        {
            "role": "user",
            "content": "The report of the night is red. Mend it, and never edit the lock.",
        }
    ]
    messages += call(0, "bash", {"command": "cat report.json"}, json.dumps(report))
    for number, file in enumerate(files[1:31], start=1):
        text = f"# {file}\nSIZE = {2_000 + number}\nTRIES = {number % 4}  # outcome failed\n" * 5
        messages += call(number, "read_file", {"path": file}, text)
        answer = f"{file} has the size {2_000 + number} with outcome failed, tries {number % 4}."
        messages.append({"role": "assistant", "content": answer})
        messages.append({"role": "user", "content": f"Go on with unit {number + 1}."})
    return messages


def call(number: int, tool: str, arguments: object, result: str) -> list[dict[str, object]]:
    """A call of a tool, and its result."""
    name = f"c{number}"
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": name, "type": "function", "function": function}]
    return [
        {"role": "assistant", "content": f"Step {number}.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": name, "content": result},
    ]


def files_of_messages(root: Path) -> Iterator[Path]:
    """Sessions of more and more messages."""
    for count in MESSAGES:
        yield session_of(count, root)


def session_of(messages: int, root: Path) -> Path:
    """A made-up session of so many messages."""
    path = root / f"messages-{messages}.jsonl"
    save(Session.of([rules("be brief"), *remembering(messages // 4)], id="made"), path)
    return path


def bundled_files() -> list[Path]:
    return sorted((ROOT / "datasets" / "recorded").glob("*/session.jsonl.gz"))


def shared_files(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    files: list[Path] = []
    for part in ("corpora", "more-projects"):
        files += [path for path in sorted((folder / part).rglob("*")) if path.is_file()]
    return files


def ladder(paths: Iterator[Path], what: str, seconds: int) -> list[str]:
    """The bars that files of growing size miss, their exponent among them."""
    rows = []
    for path in paths:
        row = figures(path, seconds, RUNS_OF_LADDER)
        if row is not None:
            rows.append(row)
    exponents = {
        "a comparison's time": exponent(rows, [row.comparison.seconds for row in rows]),
        "an exam's time": exponent(rows, [row.exam for row in rows]),
    }
    missed = worst(rows)
    for cost, value in exponents.items():
        print(f"exponent of {cost} in {what}: {value:.2f}")
        if value > MOST_EXPONENT:
            missed.append(f"{cost} grows with {what} to the power of {value:.2f}")
    return missed


def exponent(rows: Sequence[Figures], costs: Sequence[float]) -> float:
    """The power of the size with which a cost grows beyond what the smallest file costs, fitted
    where that is more than noise; 0 where it never is.
    """
    points = []
    for row, cost in zip(rows[1:], costs[1:], strict=True):
        added = cost - costs[0]
        if added > NOISE * costs[0]:
            points.append((math.log(row.tokens - rows[0].tokens), math.log(added)))
    if len(points) < 2:
        return 0.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def worst(rows: Sequence[Figures]) -> list[str]:
    """What the files miss, the worst of each kind with its name; and print the worst."""
    missed = [f"{row.name}: {', '.join(row.missed)}" for row in rows if row.missed]
    if rows:
        dearest = max(rows, key=lambda row: row.comparison.seconds / max(row.tiktoken, 1e-3))
        print(
            f"of {len(rows)} files {len(missed)} miss a bar; the dearest for its text: {dearest.name}"
        )
    return missed


def figures(path: Path, seconds: int, runs: int = 1) -> Figures | None:
    """The row of a file, with the cheapest of some comparisons; None where it holds no session."""
    try:
        loaded_files = list(scan([path], lenient=True))
    except WorkbenchError:
        return None
    sessions = [session for file in loaded_files for session in file.sessions if session.requests]
    if not sessions:
        return None
    texts = [counted_text(message) for session in sessions for message in session.messages]
    encoding = loaded()
    begun = process_time()
    token_count = sum(len(encoding.encode(text, disallowed_special=())) for text in texts)
    tiktoken_seconds = process_time() - begun
    exam_seconds = max(exam_cost(session, seconds) for session in sessions[:3])
    comparisons = [compared(path, STRATEGIES, seconds) for _ in range(runs)]
    unsimulated = [compared(path, STRATEGIES, seconds, simulate=False) for _ in range(runs)]
    row = Figures(
        str(path),
        sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6,
        token_count,
        tiktoken_seconds,
        exam_seconds,
        min(comparisons, key=lambda cost: cost.seconds),
        min(unsimulated, key=lambda cost: cost.seconds),
    )
    print(row, flush=True)
    return row


def exam_cost(session: Session, seconds: int) -> float:
    """The seconds of the dearest exam of a session."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of the processor
    exams = Exams.of(prepared(session).index)
    dearest = 0.0
    try:
        for share in EXAMINED:
            begun = process_time()
            exams.at(int(len(session.messages) * share))
            dearest = max(dearest, process_time() - begun)
    except TimeoutError:
        return float(seconds)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return dearest


def compared(
    path: Path,
    strategies: str,
    seconds: int,
    out: Path | None = None,
    window: int = 0,
    *,
    simulate: bool = True,
) -> Cost:
    """What the comparison of a file takes, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["compare", str(path), "-s", strategies, "--out", str(out or Path(folder) / "run")]
        words += ["--jobs", "1", "--no-report", "--quiet"]
        if not simulate:
            words.append("--no-simulate")
        if window:
            words += ["--window", str(window), "--shares", "0.2", "--boundaries", "0.5"]
        return cost_of([sys.executable, "-m", "workbench", *words], seconds)


def cost_of(command: Sequence[str], seconds: int) -> Cost:
    """What a command takes; it is ended where it takes more than so many seconds."""
    # a small process starts it: what this one holds would count as the command's memory
    start = (sys.executable, "-c", MEASURE, str(seconds), *command)
    process = subprocess.run(
        start, env=environment(), check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    code, cpu_seconds, kilobytes = json.loads(process.stdout)
    failure = ""
    if code < 0:
        failure = f"not ended in {seconds} s"
    elif code:
        failure = f"exit code {code}"
    return Cost(cpu_seconds, kilobytes / 1e3, failure)


def environment() -> dict[str, str]:
    """That of a command whose modules are compiled once."""
    compiled = Path(tempfile.gettempdir()) / f"bench-cost-{key(str(ROOT))}"
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(compiled),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def again(root: Path) -> None:
    """Print what a second run with another strategy costs, a worker's start, and how many token
    counts repeat a text.
    """
    path = session_of(5_000, root)
    run = root / "run"
    first = compared(path, STRATEGIES, 600, run)
    alone = compared(path, ANOTHER_STRATEGY, 600)
    second = compared(path, f"{STRATEGIES},{ANOTHER_STRATEGY}", 600, run)
    print(
        f"four strategies {first.seconds:.1f} s; another one alone {alone.seconds:.1f} s; another"
        f" one in the same folder {second.seconds:.1f} s"
    )
    start = cost_of(START, 60)
    print(f"a worker's start {start.seconds:.1f} s")
    tell_session_parts(path, first.seconds)
    counts = counted_in(path)
    print(f"of {counts[0]:,} token counts of the comparison {counts[1]:,} repeat a text")


def tell_session_parts(path: Path, comparison_seconds: float) -> None:
    """Print what belongs to a session, and which part of its comparison that takes."""
    session = next(scan([path])).sessions[0]
    begun = process_time()
    ready = prepared(session)
    prepared_seconds = process_time() - begun
    begun = process_time()
    exams = Exams.of(ready.index)
    for share in EXAMINED:
        exams.at(int(len(session.messages) * share))
    exam_seconds = process_time() - begun
    part = (prepared_seconds + exam_seconds) / max(comparison_seconds, 1e-3)
    print(
        f"counts and index {prepared_seconds:.2f} s, four exams {exam_seconds:.2f} s: {part:.0%} of the"
        " comparison of four strategies"
    )


def first_figure(files: Sequence[Path], root: Path) -> list[str]:
    """The bars of the first figure that a comparison misses, beside what it takes of the processor
    until then.
    """
    command = [sys.executable, "-m", "workbench", "compare", *map(str, files), "-s", STRATEGIES]
    command += ["--out", str(root / "first"), "--no-report"]
    cost_of((sys.executable, "-c", "import workbench.cli.compare"), 120)  # compiles its modules
    begun = last_line = monotonic()
    first_seconds = first_cpu_seconds = longest = 0.0
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            now = monotonic()
            longest = max(longest, now - last_line)
            last_line = now
            if FIRST_FIGURE in line and not first_seconds:
                first_seconds = now - begun
                first_cpu_seconds = cpu_seconds_of(process.pid)
    print(
        f"first figure after {first_seconds:.1f} s of the clock and {first_cpu_seconds:.1f} s of the"
        f" processor, all after {monotonic() - begun:.1f} s; silent for {longest:.1f} s at most"
    )
    missed = []
    if not 0 < first_seconds <= MOST_FIRST_SECONDS:
        missed.append(f"the first figure came after {first_seconds:.1f} s")
    if longest > MOST_SILENCE:
        missed.append(f"nothing was said for {longest:.1f} s")
    return missed


def cpu_seconds_of(pid: int) -> float:
    """Seconds of the processor that a process has taken, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def counted_in(path: Path) -> tuple[int, int]:
    """How many texts a comparison counts, and how many of them again."""
    from workbench import compare

    asked: list[str] = []
    count_text = TiktokenCounter.count_text

    def noted(self: TiktokenCounter, text: str) -> int:
        asked.append(text)
        return count_text(self, text)

    TiktokenCounter.count_text = noted  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            compare([path], strategies=STRATEGIES.split(","), jobs=1, quiet=True, out=out)
    finally:
        TiktokenCounter.count_text = count_text  # type: ignore[method-assign]
    return len(asked), len(asked) - len(set(asked))


def long_session(root: Path, seconds: int) -> list[str]:
    """The bar that a comparison of 100,000 messages in a small window misses."""
    path = session_of(100_000, root)
    cost = compared(path, "truncate,summarize", max(seconds, 900), window=8_000)
    print(
        f"100,000 messages in a window of 8,000: {cost.seconds:.0f} s, {cost.megabytes:.0f} MB"
        f" {cost.failure}"
    )
    if cost.failure or cost.megabytes > MOST_LONG_MEGABYTES:
        return [f"100,000 messages took {cost.megabytes:.0f} MB {cost.failure}"]
    return []


if __name__ == "__main__":
    sys.exit(main())
