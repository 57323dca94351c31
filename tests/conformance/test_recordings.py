"""The restated systems over real recordings: nothing breaks, and the newest user message is
always there.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from workbench import Prepared, Summary, load, prepared, replay
from workbench.engine.transcript.context import last_user

FILES = ("pi-mono/before-compaction.jsonl", "oh-my-posh/f776f2bf-23df-4ccd-808c-738ef763c1c6.jsonl")


@cache
def ready(path: Path) -> Prepared:
    (session,) = load(str(path))
    return prepared(session, 30_000)


@pytest.mark.parametrize("name", ["opal", "operator_use", "ddx_agent"])
@pytest.mark.parametrize("file", FILES)
def test_a_recording_replays_without_a_violation(corpora: Path, file: str, name: str) -> None:
    done = replay(ready(corpora / file), name, window=30_000)
    assert done.compactions
    for compaction in done.compactions:
        assert not compaction.violations
        newest = last_user(compaction.before.messages)
        assert (
            newest is not None and compaction.before.messages[newest] in compaction.after.messages
        )
        assert sum(isinstance(message, Summary) for message in compaction.after.messages) == 1
