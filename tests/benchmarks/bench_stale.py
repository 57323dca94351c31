"""What edits make stored replays stale, and how long it takes to find out.

Usage: python tests/benchmarks/bench_stale.py

For each room of the package, in a copy: whether a comment in all of its files, and whether one more
constant in all of them, changes the version of the code behind replays under `summarize`. Below,
seconds of the processor in a fresh process: for the first version in a folder, and for one in a
folder where an earlier process found out about modules.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import workbench as wb
from workbench.evaluation.experiment.code_versions import PartsUsed
from workbench.evaluation.experiment.package_code import PackageCode
from workbench.evaluation.experiment.replay_work import MASKS, READS_SESSIONS, REPLAY_BEGINS

PACKAGE = Path(wb.__file__).parent
COMMENT = "\n# a comment\n"
CONSTANT = "\nANOTHER_CONSTANT = 7\n"
TIMED = """
import sys
from pathlib import Path
from time import process_time
import workbench.evaluation.experiment.compare
from workbench.engine.compaction.presets import preset
from workbench.evaluation.experiment.replay_work import code_of_replays
parts = {"summarize": preset("summarize")}
begin = process_time()
code_of_replays(None, parts, Path(sys.argv[1]))
print(f"{process_time() - begin:.3f}")
"""


def version(code: PackageCode) -> str:
    """The version of the code behind a replay under `summarize`."""
    used = PartsUsed()
    used.add(wb.preset("summarize"))
    return code.version(
        [*REPLAY_BEGINS, *sorted(used.modules)], (*READS_SESSIONS, *MASKS), used.words
    )


def version_after(addition: str, room: Path, unedited: PackageCode) -> str:
    """The version where all files of a room have a further text at their end."""
    files = {file: file.read_text("utf-8") for file in room.rglob("*.py")}
    for file, text in files.items():
        file.write_text(text + addition, "utf-8")
    edited = PackageCode(unedited.root, stored=dict(unedited.modules))
    changed = version(edited)
    for file, text in files.items():
        file.write_text(text, "utf-8")
    return changed


def main() -> int:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "workbench"
        shutil.copytree(PACKAGE, root, ignore=shutil.ignore_patterns("__pycache__", "templates"))
        unedited = PackageCode(root)
        usual = version(unedited)
        stale_by_comment = []
        print(f"{'room':<12} {'a comment':<12} a constant")
        for room in sorted(path.parent for path in root.glob("*/__init__.py")):
            by_comment = version_after(COMMENT, room, unedited) != usual
            by_constant = version_after(CONSTANT, room, unedited) != usual
            if by_comment:
                stale_by_comment.append(room.name)
            words = ["stale" if is_stale else "valid" for is_stale in (by_comment, by_constant)]
            print(f"{room.name:<12} {words[0]:<12} {words[1]}")
        print(f"rooms whose comment makes replays stale: {len(stale_by_comment)}")
    with TemporaryDirectory() as folder:
        for label in ("first in a folder", "later in it"):
            timed = subprocess.run(
                [sys.executable, "-c", TIMED, folder], check=True, capture_output=True, text=True
            )
            print(f"{label}: {timed.stdout.strip()} s")
    return min(len(stale_by_comment), 1)


if __name__ == "__main__":
    sys.exit(main())
