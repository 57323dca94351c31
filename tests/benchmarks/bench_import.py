"""How fast recordings are read and what memory that takes, each in a process of its own.

Usage: python tests/benchmarks/bench_import.py [FILE_OR_FOLDER ...] [--made MEGABYTES]

Prints for each file: megabytes, seconds of one core's work (not of the clock), megabytes a second,
how long `json.loads` alone takes for the same lines, and the growth of resident memory over the
file's size. Without paths it takes the JSON-lines files of ../shared/corpora and one made-up
session of 64 MB. Asked for: 30 MB/s on one core, memory at most 4 times the file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
MEGABYTE = 1_000_000


def measured(path: Path) -> dict[str, float]:
    """Read one file here and now: this runs in a process of its own."""
    from workbench import load
    from workbench.recordings.importers.importer import scan

    with tempfile.TemporaryDirectory() as folder:
        # what is done once a process: imports, a look for installed importers
        load(made(Path(folder), 0))
        other = Path(folder) / "other.jsonl"
        other.write_text('{"nobody": "knows"}\n{"this": "format"}\n')
        for _ in scan(other):  # every importer has looked at it, and made its patterns
            pass
    size = path.stat().st_size
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.process_time()
    sessions = load(path, lenient=True)
    seconds = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    began = time.process_time()
    with path.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if line.startswith("{"):
                try:
                    json.loads(line)
                except ValueError:
                    continue
    return {
        "mb": size / MEGABYTE,
        "seconds": seconds,
        "json": time.process_time() - began,
        "memory": grown / size,
        "entries": sum(len(session.log) for session in sessions),
    }


def made(folder: Path, megabytes: int) -> Path:
    """A Claude Code session of that size: turns of a call, its result of about 4 KB and the
    client's copy of it.
    """
    path = folder / "made.jsonl"
    body = "\n".join(f"{i:6}\tvalue_{i} = compute({i}, name='part_{i}')  # kept" for i in range(80))
    common = {
        "isSidechain": False,
        "sessionId": "s",
        "cwd": "/home/me/shop",
        "timestamp": "2026-01-01T10:00:00Z",
    }
    parent, n = None, 0
    with path.open("w", encoding="utf-8") as stream:
        while stream.tell() < max(megabytes * MEGABYTE, 1):
            usage = {
                "input_tokens": 3,
                "cache_read_input_tokens": 100 * n,
                "cache_creation_input_tokens": 9,
            }
            call = {
                "type": "tool_use",
                "id": f"t{n}",
                "name": "Read",
                "input": {"file_path": f"src/part_{n}.py"},
            }
            answer = {
                "id": f"m{n}",
                "role": "assistant",
                "model": "big",
                "content": [call],
                "usage": usage,
            }
            result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": body}
            for line in (
                {
                    "type": "assistant",
                    "uuid": f"a{n}",
                    "parentUuid": parent,
                    **common,
                    "message": answer,
                },
                {
                    "type": "user",
                    "uuid": f"u{n}",
                    "parentUuid": f"a{n}",
                    **common,
                    "message": {"role": "user", "content": [result]},
                    "toolUseResult": {"type": "text", "file": {"content": body, "numLines": 80}},
                },
            ):
                stream.write(json.dumps(line) + "\n")
            parent, n = f"u{n}", n + 1
    return path


def main() -> None:
    """Measure what is asked for and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument(
        "--made", type=int, default=64, help="megabytes of the made-up session; 0 for none"
    )
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.paths[0])))
        return
    files = [
        f
        for p in given.paths or [CORPORA]
        for f in (sorted(p.rglob("*.jsonl")) if p.is_dir() else [p])
    ]
    print(f"{'file':48} {'MB':>7} {'s':>7} {'MB/s':>7} {'json s':>7} {'memory':>7} {'entries':>8}")
    total = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        files += [made(Path(folder), given.made)] if given.made else []
        for path in files:
            if path.stat().st_size < MEGABYTE / 2:
                continue
            out = subprocess.run(
                [sys.executable, __file__, str(path), "--one"],
                cwd=ROOT,
                env={"PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=True,
            )
            row = json.loads(out.stdout)
            total = [total[0] + row["mb"], total[1] + row["seconds"]]
            print(
                f"{str(path)[-48:]:48} {row['mb']:7.1f} {row['seconds']:7.2f}"
                f" {row['mb'] / row['seconds']:7.1f} {row['json']:7.2f} {row['memory']:6.1f}x"
                f" {row['entries']:8.0f}"
            )
    print(f"{'all':48} {total[0]:7.1f} {total[1]:7.2f} {total[0] / total[1]:7.1f}")


if __name__ == "__main__":
    main()
