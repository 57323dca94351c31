"""What one context says of things that have a state: files, replaced values, announced work, doubtful values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from workbench.metrics.index import Index
from workbench.metrics.view import View
from workbench.ragged import kept_mask

What: TypeAlias = Literal["file", "value", "open work", "done work", "doubt"]
States: TypeAlias = Mapping[tuple[What, str], int]
"""How many things of a sort are in a state; sorts that the history has none of are left out."""


def states(index: Index, at: int, seen: View, summarized_at: Mapping[int, int]) -> States:
    """Count the states of all things of `messages[:at]` in one context.

    Args:
        index: the session.
        at: the boundary.
        seen: the context.
        summarized_at: for each summary, by its `id()`, the boundary at which it was written.

    Returns:
        `file`: `correct`, `stale`, `lost` (`state/artifacts.py`). `value`: `latest`, `both`, `stale`, `none`
        (`state/superseded.py`). `open work`: `stated`, `missing`; `done work`: `settled`, `resurrected`
        (`state/work.py`). `doubt`: `kept`, `dropped`: whether what the history only hedged or denied is still unsure
        where it is named.
    """
    mask = kept_mask(seen.kept, index.inverted_index.n)
    written = [summarized_at.get(name, at) - 1 for name in seen.written]
    newest = [wrote if origin is None else origin for wrote, origin in zip(written, seen.from_message, strict=True)]
    work = index.work.states(at, mask, seen.texts)
    dropped, unsure = index.support.doubted(at, seen.generated) if seen.generated else (0, 0)
    sorts: dict[What, Mapping[str, int]] = {
        "file": index.artifacts.states(at, mask, seen.texts, newest),
        "value": index.changes.states(at, mask, seen.texts),
        "open work": {name: work[name] for name in ("stated", "missing")},
        "done work": {name: work[name] for name in ("settled", "resurrected")},
        "doubt": {"kept": unsure - dropped, "dropped": dropped},
    }
    return {(what, state): n for what, counts in sorts.items() if any(counts.values()) for state, n in counts.items()}
