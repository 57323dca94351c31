"""Times whole audits of recorded sessions beside other programs that say what a compaction lost.

    python -m venv AUDITS && AUDITS/bin/pip install ctxdrift nauro-ballast==0.1.0.dev1 contextrot
    nice -n 10 python tests/benchmarks/bench_audits.py AUDITS/bin RECORDING...

Each program reads the same recording in a process of its own; printed are its CPU seconds, Python's
start included, and its memory. `ctxdrift` and `nauro-ballast match` look for words of a message
behind each recorded compaction. Ours are `exam`, which asks at each recorded compaction what the
work behind it needed, and a whole comparison of one strategy with its references. `tiktoken` counts
the same text, as a yardstick. A program that is not installed is left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
EXAM = """
import sys
import workbench as wb
from workbench.evaluation.experiment.prepared import exam, prepared
for session in wb.load(sys.argv[1], lenient=True):
    ready = prepared(session)
    for compaction in session.recorded:
        exam(ready, compaction.at)
"""
COMPARE = """
import sys
import workbench as wb
wb.compare(
    sys.argv[1], strategies=("truncate",), boundaries="recorded", out=sys.argv[2], quiet=True
)
"""
COUNT = """
import sys
import tiktoken
encoding = tiktoken.get_encoding("o200k_base")
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        encoding.encode_ordinary(line)
"""
LONGEST_SECONDS = 300


@dataclass(frozen=True)
class Audit:
    """One program on one recording; `note` says why it has no figures."""

    program: str
    seconds: float = 0.0
    megabytes: float = 0.0
    note: str = ""

    def line(self, fastest_peer: float) -> str:
        if self.note:
            return f"  {self.program:34} {self.note}"
        ratio = f"{self.seconds / fastest_peer:7.2f} x the fastest peer" if fastest_peer else ""
        return f"  {self.program:34} {self.seconds:7.2f} CPU s {self.megabytes:6.0f} MB {ratio}"


def commands(peers: Path, recording: Path, out: str) -> Iterator[tuple[str, list[str]]]:
    """Each program with the command that reads a recording."""
    ours = [sys.executable, "-c"]
    yield "tiktoken", [*ours, COUNT, str(recording)]
    yield "ours: exam", [*ours, EXAM, str(recording)]
    yield "ours: comparison", [*ours, COMPARE, str(recording), out]
    yield "ctxdrift", [str(peers / "ctxdrift"), "--format", "json", str(recording)]
    yield "nauro-ballast match", [str(peers / "nauro-ballast"), "match", str(recording)]


def timed(program: str, command: Sequence[str]) -> Audit:
    """CPU seconds and memory of a program."""
    if not Path(command[0]).exists():
        return Audit(program, note="not installed")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 2):  # the peers say with 1 and 2 what they found
        return Audit(program, note=f"ended with {code}")
    return Audit(program, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", type=Path)
    parser.add_argument("recordings", type=Path, nargs="+")
    options = parser.parse_args()
    for recording in options.recordings:
        print(f"{recording.name}, {recording.stat().st_size / 1e6:.1f} MB")
        audits: list[Audit] = []
        with TemporaryDirectory() as out:
            for program, command in commands(options.peers, recording, out):
                audits.append(timed(program, command))
        peers = [audit.seconds for audit in audits[3:] if not audit.note]
        for audit in audits:
            print(audit.line(min(peers, default=0.0)))


if __name__ == "__main__":
    main()
