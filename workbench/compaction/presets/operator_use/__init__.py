"""Operator-Use: a summary after a turn that leaves less than a reserve, appended to the log as an entry.

Restates the compaction of Operator-Use as its document `docs/compaction.md` describes it, and where that is silent as
its source behaves: CursorTouch/Operator-Use, the document at f6993f9ab77a18e76b056c7b3aacea2b8d4044fe,
`operator_use/compaction/strategy/utils.py` at d0da87a65be2afd73182057edd5cc515300801c4, `.../strategy/types.py` and
`.../strategy/summarization/service.py` at adac0ad16d80036a5bf2fba123ee6eccc22ca8a8, `program/session/manager.py` at
10a3f41c324a3a6745d694f46f102bddee0143cf, `operator_use/agent/service.py` (one stored version). Besides what `presets`
says of all restated systems, it differs from that source:

- `reserve_tokens` is 8,192 and `keep_recent_tokens` 16,384, as documented. The source read has 16,384 and 20,000.
- A preparation is None where everything fits or no place to cut is left, as documented. The source prepares an empty
  list and asks a model about nothing.
- `tokens_before` is the size of the context as it is sent. The source adds up the whole path with all that earlier
  compactions had taken out.
- The trigger counts the cached parts of a prompt too. The source leaves them out and fires late.
- A split turn with nothing but an earlier summary before it makes one update of it. The source drops the summary.
- Where what is summarised is a few words, or the room is very small, the words themselves stand in for a model that
  fails; elsewhere an error is passed on, and an empty answer is one. The source appends an empty summary.
- An earlier summary's file lists are not shown to the model, since code writes them again below the new one.
- The source stores with each call whether its tool reads or writes files.
- Custom messages are client-made user messages, branch summaries are summaries that replace nothing; both are counted
  while a cut is sought.
- The items of a todo tool are not appended: no recording says which they were.
- A request states no length, as in the source, but where the summary could be larger than what it replaces.
- The two requests of a split turn go at once to a model that bears it, and one after the other to any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.compaction.presets.operator_use.compact import (
    OPERATOR_SUMMARY,
    OperatorCut,
    OperatorSettings,
    OperatorTrigger,
)
from workbench.compaction.presets.token_counters import operator_tokens
from workbench.compaction.strategy import Preset, Strategy


def operator_use(settings: Callable[[], OperatorSettings] = OperatorSettings) -> Preset:
    """The preset with settings that are read anew at each check and each compaction."""
    return Preset(
        "operator_use",
        Strategy("operator_use", (replace(OPERATOR_SUMMARY, cut=OperatorCut(settings)),)),
        OperatorTrigger(settings),
        count=operator_tokens,
        moments=("after_turn",),
        source="CursorTouch/Operator-Use docs/compaction.md f6993f9a, compaction/strategy d0da87a6 and adac0ad1",
    )


OPERATOR_USE = operator_use()
