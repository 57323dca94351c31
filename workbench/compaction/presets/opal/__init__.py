"""Opal: a summary at 80 % of the window that keeps the newest quarter, with long turns summarised apart.

Restates the compaction of Opal as its document `docs/compaction.md` describes it, and where that is silent as its
source behaves: matteing/opal at 36f655c5cfe0d903bbe7419feaad990b0b7989a9 (2026-03-08), in `opal/lib/opal/` the files
`session/compaction.ex`, `session/session.ex`, `agent/usage_tracker.ex`, `agent/overflow.ex`, `agent/token.ex`,
`agent/retry.ex`, `provider/registry.ex`, `rpc/server.ex`. Prompts are our own words.

Where it differs from that source, and why:

- A cut never parts a call from its result: it moves to the next place that does not. The source starts the kept part
  at a tool result where a turn has no user message left, and mends pairs when it sends.
- The newest user message stays word for word when its turn is split, and pinned messages stay where they are. The
  source knows no pins, and the message goes into the summary.
- An earlier summary is sent once, in its tags, not also as the first line of the transcript; wherever it stands among
  the summarised messages it is carried on, and no cut lies before it. Nothing but an earlier summary before the cut
  is not summarised again, and where a split turn follows it directly there is one update instead of a second heading.
- When the model fails, the earlier summary's text stays above the truncation note. The source replaces it by the
  note, and with a split turn and no provider it crashes.
- The file lists in the text are written from the same record as the summary's metadata, also after a fallback, so
  that the two agree. The source leaves the text to the model and lists only the newest batch in a fallback.
- Which tools read and write files is judged by the names and path arguments of many agents, not only of Opal's three;
  calls that failed are left out.
- Pictures are counted; the source has none. Client-made user messages do not begin a turn.
- `replace_path_segment` appends to the log: originals and side branches stay readable. The source deletes rows.
- After an overflow there is one compaction and one retry until the next good answer. The source has no end.
- A silent overflow is compacted before the next turn, as documented. The source repeats the turn although it was
  answered.
- A request states no length, as in the source, but where the summary could be larger than what it replaces.
- Where a comparison sets the size of the context, at most half of it is kept and the rest is for the summary.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.compaction.presets.opal.compact import OPAL_SUMMARY, truncation
from workbench.compaction.presets.opal.session import OpalTrigger
from workbench.compaction.presets.token_counters import opal_tokens
from workbench.compaction.span_selection import SummaryInput, SummaryTask
from workbench.compaction.strategy import Preset, Strategy

OPAL = Preset(
    "opal",
    Strategy("opal", (OPAL_SUMMARY,)),
    OpalTrigger(),
    count=opal_tokens,
    source="matteing/opal 36f655c5 opal/lib/opal/session/compaction.ex, agent/{usage_tracker,overflow,token}.ex",
)


def nothing(task: SummaryTask) -> SummaryInput:
    """No model reads anything."""
    return SummaryInput((), ())


OPAL_TRUNCATE = replace(
    OPAL,
    name="opal_truncate",
    strategy=Strategy("opal_truncate", (replace(OPAL_SUMMARY, reads=nothing, unread=truncation),)),
)
"""What Opal does where it has no model: the older messages give way to a count of them and the file lists."""
