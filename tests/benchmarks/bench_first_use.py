"""Seconds to the first figure, to the verdict and to the page with a folder of sessions, before and
now.

Usage: python tests/benchmarks/bench_first_use.py RECORDINGS [--before COMMIT] [--rounds 1] [--
OPTIONS OF COMPARE]

Runs `workbench compare RECORDINGS`, each time in a fresh process and a fresh folder, by turns with
the code of an earlier commit (out of this repository, with the packages that are installed here)
and with this one's, and prints the median seconds from the start of the command, and the ratios of
the two:

- figure: the first line that holds a share, on either stream
- numbers: the last number is there: the run's manifest
- verdict: the first line on standard output
- page: `report.html` is whole
- end: the command has ended
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread
from time import time
from typing import IO

ROOT = Path(__file__).parents[2]
STAGES = ("figure", "numbers", "verdict", "page", "end")
SHARE = re.compile(r"\d ?%(?!\|)")
"""A share, not the length of a progress bar."""
BEFORE = "16ede0a~1"
"""The last commit before the answer came first."""


def waited(code: Path, recordings: list[str], options: list[str]) -> dict[str, float]:
    """Seconds to each stage with the code in a folder."""
    seen: dict[str, float] = {}

    def read(stream: IO[str], name: str) -> None:
        for line in stream:
            if name == "out" and line.strip():
                seen.setdefault("verdict", time())
            if SHARE.search(line):
                seen.setdefault("figure", time())

    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [
            sys.executable,
            "-m",
            "workbench",
            "compare",
            *recordings,
            "--out",
            str(run),
            *options,
        ]
        began = time()
        process = subprocess.Popen(
            command,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(code), "PYTHONUNBUFFERED": "1"},
        )
        streams = (process.stdout, "out"), (process.stderr, "err")
        readers = [Thread(target=read, args=(stream, name)) for stream, name in streams if stream]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        if process.wait():
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        seen["end"] = time()
        seen |= {
            stage: (run / file).stat().st_mtime
            for stage, file in (("numbers", "manifest.json"), ("page", "report.html"))
        }
    return {stage: seen[stage] - began for stage in STAGES}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--rounds", type=int, default=1)
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    asked, options = parser.parse_args(words[:cut]), words[cut + 1 :]
    recordings = [str(Path(recording).resolve()) for recording in asked.recordings]
    with TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["git", "archive", asked.before], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        places = {asked.before: Path(folder), "now": ROOT}
        found: dict[str, list[dict[str, float]]] = {name: [] for name in places}
        for _ in range(asked.rounds):
            for name, place in places.items():
                found[name].append(waited(place, recordings, options))
    medians = {
        name: {stage: median(one[stage] for one in rows) for stage in STAGES}
        for name, rows in found.items()
    }
    print(f"{'':<12}" + "".join(f"{stage:>10}" for stage in STAGES) + f"{'page after numbers':>22}")
    for name, row in medians.items():
        print(
            f"{name:<12}"
            + "".join(f"{row[stage]:10.1f}" for stage in STAGES)
            + f"{row['page'] - row['numbers']:22.1f}"
        )
    before, now = medians.values()
    print(
        f"{'now/before':<12}" + "".join(f"{now[stage] / before[stage]:10.2f}" for stage in STAGES)
    )


if __name__ == "__main__":
    main()
