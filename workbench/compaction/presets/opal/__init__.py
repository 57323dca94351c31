"""Opal: a summary at 80 % of the window that keeps the newest quarter, with long turns summarised apart.

Restates the compaction of Opal as its document `docs/compaction.md` describes it, and where that is silent as its
source behaves: matteing/opal at 36f655c5cfe0d903bbe7419feaad990b0b7989a9 (2026-03-08), in `opal/lib/opal/` the files
`session/{compaction,session}.ex`, `agent/{usage_tracker,overflow,token,retry}.ex`, `provider/registry.ex`,
`rpc/server.ex`. Besides what `presets` says of all restated systems, it differs from that source:

- Where a turn has no user message left, the source starts the kept part at a tool result and mends pairs when it
  sends. A newest user message whose turn is split goes into its summary.
- An earlier summary is sent once, in its tags, not also as the transcript's first line, and no cut lies before it.
  Nothing but an earlier summary is not summarised again; where a split turn follows it directly there is one update.
- When the model fails, the earlier summary's text stays above the truncation note. The source replaces it by the
  note, and with a split turn and no provider it crashes.
- The file lists in the text are those of the summary's metadata, also after a fallback. The source leaves the text to
  the model and lists only the newest batch in a fallback. It knows three tools.
- Pictures are counted; the source has none. Client-made user messages do not begin a turn.
- `replace_path_segment` appends to the log: originals and side branches stay readable. The source deletes rows.
- After an overflow there is one compaction and one retry until the next good answer. The source has no end.
- A silent overflow is compacted before the next turn, as documented. The source repeats the answered turn.
- A request states no length, as in the source, but where the summary could be larger than what it replaces.
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
