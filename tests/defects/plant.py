"""Whether the short suite notices a mistake: plants thirty defects, one at a time, and runs the tests on each.

Usage: python tests/defects/plant.py [NAME ...] [--jobs N] [--check]

`defects.toml` lists them: in which file which text becomes which other text, what a user would suffer, and which tests
look there. Those tests must pass as they are; with the defect they run again, and the whole short suite where they
still pass. Works on a copy of the checkout. Ends with 1 where a defect was planted and no test failed. `--check` plants
nothing and runs nothing: it names the defects whose text is no longer found, as after a refactoring.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

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
        return "" if times == 1 else f"{self.name}: {self.file} holds its text {times} times, not once"

    def planted(self, folder: Path) -> str:
        """Plant it; gives the file's text as it was."""
        path = folder / self.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(sound.replace(self.before, self.after), encoding="utf-8")
        return sound


def defects() -> list[Defect]:
    """The list."""
    return [Defect(**row) for row in tomllib.loads(LIST.read_text(encoding="utf-8"))["defects"]]


def copied(folder: Path) -> Path:
    """A copy of the files that git knows, with the recordings beside it where this checkout has them."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "checkout" / name, follow_symlinks=False)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared.resolve(), target_is_directory=True)
    return folder / "checkout"


def failed(checkout: Path, tests: str, jobs: int) -> str:
    """The first test that fails, or nothing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", str(jobs), tests]
    run = subprocess.run(
        command, cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)}, capture_output=True, text=True
    )
    if run.returncode not in (0, 1, 2):
        raise RuntimeError(f"pytest {tests} ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    told = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (told or ["a test could not be collected"])[0] if run.returncode else ""


def main() -> int:
    """Plant each, and say which test failed first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="only name those whose text is no longer found")
    given = parser.parse_args()
    chosen = [one for one in defects() if not given.names or one.name in given.names]
    misplaced = [why for one in chosen if (why := one.misplaced())]
    if misplaced or given.check:
        print("\n".join(misplaced) or f"{len(chosen)} can be planted")
        return 1 if misplaced else 0
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        checkout = copied(Path(folder))
        for tests in sorted({one.tests for one in chosen}):
            if noticed := failed(checkout, tests, given.jobs):
                parser.error(f"{tests} fails before anything is planted: {noticed}")
        for one in chosen:
            sound = one.planted(checkout)
            noticed = failed(checkout, one.tests, given.jobs) or failed(checkout, "tests", given.jobs)
            (checkout / one.file).write_text(sound, encoding="utf-8")
            print(f"{'caught' if noticed else 'MISSED'}  {one.name}: {noticed or one.harm}", flush=True)
            missed += [] if noticed else [one.name]
    print(f"{len(chosen)} planted, {len(chosen) - len(missed)} caught, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
