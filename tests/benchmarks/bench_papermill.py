"""Ten experiment notebooks at once; one kernel is killed on the way, and the same command goes on from there.

`python tests/benchmarks/bench_papermill.py [FOLDER]` prints what became of each of the ten, and the seconds.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WINDOWS = range(12_000, 32_000, 2_000)


def command(out: Path) -> list[str]:
    words = [sys.executable, "-m", "workbench", "experiment", "-g", "window", ",".join(map(str, WINDOWS))]
    fixed = {"limit": "1", "strategies": "truncate,summarize", "shares": "0.2"}
    words += [word for name, value in fixed.items() for word in ("-p", name, value)]
    return [*words, "--jobs", str(len(WINDOWS)), "--out", str(out), "--json"]


def kernels(parent: int) -> list[int]:
    """The kernels that this process started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().decode(errors="replace")
            mother = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
        if mother == parent and "ipykernel_launcher" in words:
            found.append(int(path.name))
    return found


def ran(out: Path, *, killing: bool = False) -> list[dict[str, Any]]:
    started, most = time.monotonic(), 0
    with subprocess.Popen(command(out), stdout=subprocess.PIPE, text=True) as process:
        while killing and process.poll() is None:
            here = kernels(process.pid)
            most = max(most, len(here))
            if most == len(WINDOWS) and here and len(list(out.glob("*/experiment.ipynb"))) == len(WINDOWS):
                os.kill(here[0], signal.SIGKILL)
                print(f"{most} kernels at once; one of them was killed")
                break
            time.sleep(0.02)
        assert process.stdout is not None
        rows: list[dict[str, Any]] = json.loads(process.stdout.read())
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("done", "kept", "failed")}
    print(f"{counts}, exit code {process.returncode}, {time.monotonic() - started:.0f} s")
    for row in rows:
        if row["outcome"] == "failed":
            print(f"  {row['folder']}: {row['reason']}")
    return rows


def main(out: Path) -> None:
    """Print what the first run and the second leave."""
    first = ran(out, killing=True)
    marked = [row for row in first if row["outcome"] == "failed"]
    for row in marked:
        page = (Path(row["folder"]) / "experiment.ipynb").read_text(encoding="utf-8")
        print("  its notebook is kept, the error marked:", "papermill-error-cell-tag" in page)
    second = ran(out)
    whole = [row for row in second if (Path(row["folder"]) / "report.html").is_file()]
    print(f"{len(whole)} of {len(second)} have their report; {len({row['folder'] for row in second})} folders")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "runs")
