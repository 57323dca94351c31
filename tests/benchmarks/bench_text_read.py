"""What of each recording's text is read.

    python tests/benchmarks/bench_text_read.py [PATHS...]

A row a file: its format, sessions (those of sub-agents among them), tokens on their main paths, the share of the file's
text that stands in them, the share that stands in notes alone, and the largest unread fields or the reason why nothing
was read. Without paths it takes the corpora, the further projects and the samples of ../shared. Below stands what the
review found before.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from workbench.importers.importer import scan
from workbench.models.tokenizer import TiktokenCounter

SHARED = Path(__file__).parents[3] / "shared"
FOLDERS = ("wanted-formats", "more-projects", "corpora")


BEFORE = """before: an Amp thread read as anthropic_messages, 404 of 3,900 tokens, without a word;
Claude Code after a compaction with preserved messages 17,000 of 297,000 tokens; SpecStory 42 to 79 % and Copilot
18 and 40 % of the tokens in branches that were not scored; aider 9 to 50 % missing, opencoder's history 1,379 tokens
of 1.1 MB (8 kB of it are talk); Cursor, Amp, Factory Droid, Continue, Windsurf and VS Code Copilot chats not read"""


def main(paths: list[str]) -> None:
    """Print the table, and what it comes to."""
    count, shares = TiktokenCounter(), []
    print(f"{'file':<52} {'format':<18} {'sessions':>8} {'tokens':>9} {'read':>7} {'notes':>7}  unread, or why not")
    for loaded in scan(paths or [str(SHARED / name) for name in FOLDERS], lenient=True):
        if not loaded.sessions:
            print(f"{loaded.path[-52:]:<52} {'-':<18} {str(loaded.error).partition(': ')[2][:120]}")
            continue
        origin = loaded.sessions[0].origin
        tokens = sum(sum(count.sizes(session.messages)) for session in loaded.sessions)
        shares += [origin.text_read] if origin.text_read is not None else []
        read = "-" if origin.text_read is None else f"{origin.text_read:.1%}"
        said = next((one for one in origin.skipped if "of the file's text" in one), "").partition("field: ")[2]
        print(
            f"{loaded.path[-52:]:<52} {origin.format:<18} {len(loaded.sessions):>8} {tokens:>9,} {read:>7} "
            f"{origin.text_noted:>7.1%}  {said}"
        )
    print(f"{len(shares)} files: median share read {median(shares):.1%}, {sum(s < 0.8 for s in shares)} below 80 %")
    print(BEFORE)


if __name__ == "__main__":
    main(sys.argv[1:])
