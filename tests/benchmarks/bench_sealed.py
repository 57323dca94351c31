"""Tries what SECURITY.md promises: a row for each class, with how many were tried and how many
failed.

    python tests/benchmarks/bench_sealed.py [--short]

A class is either tests, counted one by one, or a benchmark, which counts as one and prints its own
figures above the table. Exits with 1 where any failed. `--short` damages 1,000 recordings and kills
five times.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = {
    "modules planted in the current folder": [
        "tests/cli/test_planted_modules.py",
    ],
    "pipes, bombs, encodings, cut files": [
        "tests/recordings/importers/test_opening.py",
    ],
    "records lost or changed without a word": [
        "tests/recordings/importers/test_nothing_lost.py",
        "tests/recordings/importers/test_mutations.py",
    ],
    "credentials and look-alikes, by kind": [
        "tests/engine/transcript/test_redaction_recall.py",
    ],
    "secrets as strangers write them": [
        "tests/engine/transcript/test_strangers.py",
    ],
    "what was masked or shared, in any form": [
        "tests/engine/transcript/test_redaction.py",
        "tests/evaluation/experiment/test_redact.py",
        "tests/evaluation/experiment/test_share.py",
        "tests/evaluation/experiment/test_leaks.py",
        "tests/evaluation/experiment/test_csv.py",
    ],
    "keys that a gateway repeats": [
        "tests/engine/models/test_keys.py",
        "tests/cli/test_keys_stay_out.py",
    ],
    "every command that reads sessions, masked": [
        "tests/cli/test_redact_everywhere.py",
    ],
    "who can read what is written": [
        "tests/cli/test_file_modes.py",
    ],
    "forged recordings": [
        "tests/evaluation/experiment/test_forged.py",
    ],
    "bills that cannot be true, damaged caches": [
        "tests/engine/models/test_billing.py",
        "tests/engine/models/test_ledger.py",
        "tests/engine/models/test_response_cache.py",
        "tests/evaluation/experiment/test_money.py",
    ],
    "names that would steer a terminal": [
        "tests/cli/test_output.py",
        "tests/evaluation/experiment/test_csv.py",
    ],
    "hostile reports and tables under the view": [
        "tests/browser/test_view.py",
        "tests/evaluation/experiment/test_bounded.py",
    ],
    "commands ended by SIGTERM": [
        "tests/cli/test_termination.py",
    ],
    "faults of providers": [
        "tests/engine/models/test_faults.py",
        "tests/evaluation/experiment/test_outages.py",
    ],
    "damaged tables and manifests": [
        "tests/evaluation/experiment/test_results.py",
        "tests/lab/sections/test_closed_loop.py",
    ],
    "workers, memory, clocks, two processes": [
        "tests/evaluation/experiment/test_workers.py",
        "tests/cli/test_app.py",
        "tests/evaluation/experiment/test_compare.py",
    ],
    "hostile agents in trials": [
        "tests/lab/trials/test_hostile_agents.py",
        "tests/lab/trials/test_sandbox.py",
    ],
    "dependencies, and the page about CI": [
        "tests/house/test_dependencies.py",
        "tests/docs/test_blocks.py::test_every_block_of_it_runs[in-ci]",
    ],
}


def tests(paths: list[str], whole: bool) -> tuple[int, int]:
    """How many tests ran, and how many failed or could not run."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.xml"
        env = {**os.environ, "WORKBENCH_TESTS": "full"} if whole else None
        command = [sys.executable, "-m", "pytest", "-n0", f"--junitxml={found}", *paths]
        subprocess.run(command, cwd=ROOT, env=env, check=False, stdout=sys.stderr)
        if not found.is_file():
            return 1, 1
        counts = dict(re.findall(r'(errors|failures|skipped|tests)="(\d+)"', found.read_text()))
    return int(counts["tests"]) - int(counts["skipped"]), int(counts["errors"]) + int(
        counts["failures"]
    )


def benchmark(name: str, *words: str) -> tuple[int, int]:
    """One, and whether it failed; it prints its own figures."""
    command = [sys.executable, f"tests/benchmarks/{name}.py", *words]
    return 1, int(subprocess.run(command, cwd=ROOT, check=False).returncode != 0)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--short", action="store_true")
    short = options.parse_args().short
    kills = "5" if short else "20"
    rows = {what: tests(paths, not short) for what, paths in TESTS.items()}
    rows["damaged recordings"] = benchmark("bench_damage", "--count", "1000" if short else "20000")
    rows["one odd value in a recording"] = benchmark(
        "bench_mutations", "--count", "10" if short else "60"
    )
    rows["runs killed"] = benchmark("bench_kill", "--kills", kills)
    rows["workers killed"] = benchmark("bench_kill", "--kills", kills, "--victim", "worker")
    rows["workers of a Dask cluster killed"] = benchmark(
        "bench_kill", "--kills", kills, "--victim", "worker", "--dask"
    )
    print(f"{'':40}{'tried':>8}{'failed':>8}")
    for what, (tried, failed) in rows.items():
        print(f"{what:40}{tried:8}{failed:8}")
    return int(any(failed for _, failed in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
