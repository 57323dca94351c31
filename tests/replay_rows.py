"""What `workbench replay` tells of the user's rules at one compaction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from command import answer

from builders import called, result, said, told
from workbench import Session, save
from workbench.engine.transcript.message import Message


def work(first: int, last: int) -> list[Message]:
    """Calls with long results that say nothing in particular."""
    messages: list[Message] = []
    for number in range(first, last):
        messages.append(called("read", f"c{number}", path=f"part_{number}"))
        messages.append(result("plain words of a part " * 60, f"c{number}"))
    return messages


def rules_after(
    folder: Path,
    summary: str,
    said_first: Sequence[Message],
    *,
    kept: Sequence[Message] = (),
    later: Sequence[Message] = (),
    strategy: str = "summarize",
    grader: str = "",
) -> list[dict[str, Any]]:
    """The rows of the rules at one compaction.

    Args:
        folder: for the recording.
        summary: what stands in the place of the older messages; without commas.
        said_first: goes into the summary.
        kept: said shortly before the compaction, so that it stays whole.
        later: said after it.
        strategy: that compacts.
        grader: a model's one answer; empty asks none.
    """
    before = [*said_first, *work(0, 6), told("All read.", "read"), said("Go on", "more")]
    before += [*work(6, 9), *kept]
    path = folder / "session.jsonl"
    save(Session.of([*before, told("Done so.", "end"), *later], id="one"), path)
    words = ["-s", strategy, "-w", 4_000, "-m", f"scripted:{summary}", "--by-hand", len(before)]
    if grader:
        words += ["--grader", f"scripted:{grader}"]
    rows: list[dict[str, Any]] = answer("replay", path, *words)["rules"]
    return [row for row in rows if row["number"] == 0]
