"""Whether the short suite notices a mistake: plants some thirty defects, one at a time, and runs
the tests on each.

Usage: python tests/defects/plant.py [NAME ...] [--jobs N] [--check]

`defects.toml` lists them: in which file which text becomes which other text, what a user would
suffer, and which tests look there. Those tests must pass as they are; with the defect they run
again, and the whole short suite where they still pass. Works on copies of the checkout, one a job.
Ends with 1 where a defect was planted and no test failed. `--check` plants nothing and runs
nothing: it names the defects whose text is no longer found, as after a refactoring.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("defects.toml")


@dataclass(frozen=True, slots=True)
class Defect:
    """A mistake that somebody could make.

    Attributes:
        name: short, unique.
        file: from the top of the checkout.
        before: a text that stands in the file once.
        after: what it becomes.
        harm: what a user would see.
        tests: the folder or file of tests that look there.
    """

    name: str
    file: str
    before: str
    after: str
    harm: str
    tests: str

    def misplaced(self, folder: Path = ROOT) -> str:
        """Why it cannot be planted, or nothing."""
        if gone := [name for name in (self.file, self.tests) if not (folder / name).exists()]:
            return f"{self.name}: there is no {gone[0]}"
        times = (folder / self.file).read_text(encoding="utf-8").count(self.before)
        return (
            "" if times == 1 else f"{self.name}: {self.file} holds its text {times} times, not once"
        )

    @contextmanager
    def planted(self, folder: Path) -> Iterator[None]:
        """Plant it in a checkout, and take it out again."""
        path = folder / self.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(sound.replace(self.before, self.after), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(sound, encoding="utf-8")


def defects() -> list[Defect]:
    """The list."""
    return [Defect(**row) for row in tomllib.loads(LIST.read_text(encoding="utf-8"))["defects"]]


def copied(folder: Path) -> Path:
    """A copy of the files that git knows, with the recordings beside it where this checkout has
    them.
    """
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "checkout" / name, follow_symlinks=False)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared.resolve(), target_is_directory=True)
    return folder / "checkout"


def failed(checkout: Path, tests: str, jobs: int = 0) -> str:
    """The first test that fails, or nothing; raises `RuntimeError` where the tests could not
    run.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        str(jobs),
        tests,
    ]
    run = subprocess.run(
        [*command, "--ignore=tests/defects"],  # they find every planted defect: its text is gone
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
    )
    lines = [
        line
        for line in run.stdout.splitlines()
        if line.startswith(("FAILED", "ERROR")) and "::" in line
    ]
    if run.returncode not in (0, 1) or bool(lines) != bool(run.returncode):
        raise RuntimeError(
            f"pytest {tests} ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
        )
    return lines[0] if lines else ""


class Checkouts:
    """Copies of the checkout, each used by one job at a time."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.jobs = jobs
        self.free: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            self.free.put(copied(folder / str(number)))

    @contextmanager
    def one(self) -> Iterator[Path]:
        """A copy that nobody else uses meanwhile."""
        checkout = self.free.get()
        try:
            yield checkout
        finally:
            self.free.put(checkout)

    def sound(self, tests: str) -> str:
        """The first of these tests that fails without a defect, or nothing."""
        with self.one() as checkout:
            return failed(checkout, tests)

    def caught(self, defect: Defect) -> str:
        """The first of its own tests that fails with the defect, or nothing."""
        with self.one() as checkout, defect.planted(checkout):
            return failed(checkout, defect.tests)

    def caught_elsewhere(self, defect: Defect) -> str:
        """The first test of the whole short suite that fails with the defect, or nothing."""
        with self.one() as checkout, defect.planted(checkout):
            return failed(checkout, "tests", self.jobs)


def plant(chosen: list[Defect], checkouts: Checkouts) -> Iterator[tuple[Defect, str]]:
    """Each defect with the first test that fails, or nothing; several at a time with the tests
    that look there.
    """
    with ThreadPoolExecutor(checkouts.jobs) as pool:
        places = sorted({one.tests for one in chosen})
        for tests, noticed in zip(places, pool.map(checkouts.sound, places), strict=True):
            if noticed:
                raise SystemExit(f"{tests} fails before anything is planted: {noticed}")
        unseen = []
        for one, noticed in zip(chosen, pool.map(checkouts.caught, chosen), strict=True):
            if noticed:
                yield one, noticed
            else:
                unseen.append(one)
    for one in unseen:
        yield one, checkouts.caught_elsewhere(one)


def main() -> int:
    """Plant each, and say which test failed first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time; default: 2")
    parser.add_argument(
        "--check", action="store_true", help="only name those whose text is no longer found"
    )
    given = parser.parse_args()
    known = defects()
    if unknown := set(given.names) - {one.name for one in known}:
        parser.error(f"no defect is named {', '.join(sorted(unknown))}; {LIST.name} lists them")
    chosen = [one for one in known if not given.names or one.name in given.names]
    misplaced = [why for one in chosen if (why := one.misplaced())]
    if misplaced or given.check:
        print("\n".join(misplaced) or f"{len(chosen)} can be planted")
        return 1 if misplaced else 0
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for one, noticed in plant(chosen, Checkouts(Path(folder), given.jobs)):
            print(
                f"{'caught' if noticed else 'MISSED'}  {one.name}: {noticed or one.harm}",
                flush=True,
            )
            missed += not noticed
    print(f"caught {len(chosen) - missed} of {len(chosen)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
