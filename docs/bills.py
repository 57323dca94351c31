"""The measured part of docs/cost.md: how near predicted requests and bills come to the usage that recordings report.

`python docs/bills.py bills PATHS...` measures it, keeps a row a session in docs/rows and writes the page; without
paths, and with `--check`, as `docs/validity.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

from rows import Frames, Part, run

from workbench.importers.importer import scan
from workbench.metrics.costs.pricing import pricing
from workbench.metrics.costs.reconciliation import SIZES, UNWRITTEN, USD, reconcile
from workbench.models.tokenizer import TiktokenCounter
from workbench.replay.sizing import Sizing

PAGE = Path(__file__).parent / "cost.md"
CLOSE, MOST = 0.02, 0.03
REASONS = {
    "missed at a user's message": "misses where a user's message comes last, with no other change on record",
    "missed after a pause": "misses while tools ran for a minute and more (within the promised time)",
    "missed for no reason on record": "misses for no reason on record",
    "missed after a change of the prompt": "misses after a change of the prompt",
    "found after its promised time": "finds after the promised time",
    "found from an earlier session": "what an earlier session had written",
    "found otherwise": "other finds",
    UNWRITTEN: "cache writes that no report names",
}
"""Why a cache read is not as the rules have it, as the page says it."""


def measured(paths: Sequence[str], _: bool) -> Frames:
    """A row a session with usage: its requests' median errors, its reported dollars, and the error's by reason."""
    count = TiktokenCounter()
    rows = []
    for session in (session for loaded in scan(list(paths), lenient=True) for session in loaded.sessions):
        done = reconcile(session, Sizing.of(session, count.sizes(session.messages), count), pricing(session))
        if len(done.predicted):
            errors = {name: done.error(name) for name in ("prompt", "read", "usd")}
            of = {"session": session.id, "format": session.origin.format, "reported": done.reported[:, USD].sum()}
            rows.append({**of, **errors, **dict.fromkeys((*REASONS, SIZES), 0.0), **done.reasons})
    return {"": pd.DataFrame(rows)}


def bills(rows: pd.DataFrame) -> Iterator[str]:
    """What the page says of them."""
    close = {name: (rows[name] <= CLOSE).sum() for name in ("prompt", "read")}
    middle = {name: _percent(rows[name].median()) for name in ("prompt", "read", "usd")}
    said, errors = rows["reported"], rows[[*REASONS, SIZES]].sum(axis=1)
    yield f"Over {len(rows)} sessions in {rows['format'].nunique()} formats, the median session's error is"
    yield f"{middle['prompt']} for prompt tokens ({close['prompt']} sessions within 2 %), {middle['read']} for"
    yield f"cache reads ({close['read']} within 2 %) and {middle['usd']} for the dollars of a request. Writing costs"
    yield "twelve times as much as reading, so a few hundred tokens matter."
    yield ""
    yield "The bill of a *whole* session is much less certain. By the rules it is off by"
    yield f"{_middle(errors / said)} in the median, and by {_sum(errors, said)} for all dollars together;"
    yield f"{(abs(errors / said) > MOST).sum()} bills are off by more than 3 %. Nearly all of that is the provider's"
    yield "cache, which no replay can know. Of all dollars:"
    yield ""
    yield from (f"- {title}: {_sum(rows[name], said)}" for name, title in REASONS.items())
    yield f"- {SIZES}: {_sum(rows[SIZES], said)}"
    yield ""
    yield "With the cache reads that were reported in these requests, the median bill is off by"
    left = rows[[SIZES, UNWRITTEN]].sum(axis=1)
    yield f"{_middle(left / said)}, and all dollars together by {_sum(left, said)}."


def _percent(value: float, sign: str = "") -> str:
    found = f"{value:{sign}.1%}".replace("%", " %")
    return found[1:] if found in ("-0.0 %", "+0.0 %") else found


def _middle(values: pd.Series) -> str:
    return _percent(values.abs().median())


def _sum(usd: pd.Series, said: pd.Series) -> str:
    return _percent(usd.sum() / said.sum(), "+")


if __name__ == "__main__":
    sys.exit(run({"bills": Part(measure=measured, tell=bills)}, PAGE, sys.argv[1:]))
