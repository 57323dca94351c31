"""What of each recording's text is read.

    python tests/benchmarks/bench_text_read.py [PATHS...]

A row a file: its format, sessions (those of sub-agents among them), tokens on their main paths,
those that stood in a session before, the share of the file's text that stands in them, the share
that stands in notes alone, and the largest unread fields or the reason why nothing was read.
Without paths it takes the corpora, the further projects and the samples of ../shared. *Before* is
counted by the old rules where they are simple: what a sub-agent said was in no session, and eight
formats were not read. The rest is quoted below the table.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import median

from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.recordings.importers.importer import scan

SHARED = Path(__file__).parents[3] / "shared"
FOLDERS = ("wanted-formats", "more-projects", "corpora")


NEW = {
    "amp",
    "continue",
    "cursor",
    "droid",
    "windsurf",
    "vscode_chat",
    "opencode_database",
    "openai_responses",
}
"""Formats that were not read."""
OLDER = "00-look-at-the-python-files-in-models.md"
"""A file of a format that was read, in an older form that was not: SpecStory's markdown."""
SUB_AGENT = re.compile(r"-agent\d+$")
QUOTED = """before, quoted from the review in issue 15 (commit 44f24d2), not measured here: an Amp thread was read as
anthropic_messages, 404 of 3,900 tokens; Claude Code after a compaction with preserved messages 17,000 of 297,000; aider
9 to 50 % missing; opencoder's history 1,379 tokens of 1.1 MB, as now: 8 kB of it are talk, the rest is what aider
printed of requests that failed, which is in notes"""


def main(paths: list[str]) -> None:
    """Print the table, and what it comes to."""
    count, shares = TiktokenCounter(), []
    print(
        f"{'file':<52} {'format':<18} {'sessions':>8} {'tokens':>9} {'before':>9} {'read':>7}"
        f" {'notes':>7}  unread, or why not"
    )
    for loaded in scan(paths or [str(SHARED / name) for name in FOLDERS], lenient=True):
        if not loaded.sessions:
            print(f"{loaded.path[-52:]:<52} {'-':<18} {str(loaded.error).partition(': ')[2][:120]}")
            continue
        origin = loaded.sessions[0].origin
        tokens = sum(sum(count.sizes(session.messages)) for session in loaded.sessions)
        was_read = origin.format not in NEW and not loaded.path.endswith(OLDER)
        main_paths = [one for one in loaded.sessions if was_read and not SUB_AGENT.search(one.id)]
        before = sum(sum(count.sizes(session.messages)) for session in main_paths)
        shares += [origin.text_read] if origin.text_read is not None else []
        read = "-" if origin.text_read is None else f"{origin.text_read:.1%}"
        said = next((one for one in origin.skipped if "of the file's text" in one), "").partition(
            "field: "
        )[2]
        print(
            f"{loaded.path[-52:]:<52} {origin.format:<18} {len(loaded.sessions):>8} {tokens:>9,}"
            f" {before:>9,} {read:>7} {origin.text_noted:>7.1%}  {said}"
        )
    print(
        f"{len(shares)} files: median share read {median(shares):.1%},"
        f" {sum(s < 0.8 for s in shares)} below 80 %"
    )
    print(QUOTED)


if __name__ == "__main__":
    main(sys.argv[1:])
