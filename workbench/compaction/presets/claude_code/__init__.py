"""Claude Code: one summary of everything at the window less 33,000 tokens, and the files read last sent again.

Restates the full compaction and the time-based micro-compaction of Anthropic's Claude Code as third parties read them
in its shipped bundles and as the package compact-middleware (PyPI) ports them; Anthropic publishes neither. Take all of
it as approximate. The API-side `cache_edits` variant, session memory and partial compaction are not restated. Prompts
are our own words.

Where it differs from those sources, and why:

- The newest user message stays word for word beside the summary, and pinned messages stay. The original keeps nothing.
- A file is sent again as its last read showed it, unless it was changed after that: a replay has no disk. The original
  reads up to five files anew, also after changes. Skills, plans, todos and hooks' messages are not known here.
- Files take at most a third of the room and the summary at most a quarter; in a window of 200,000 that is more than
  their own bounds.
- The micro-compaction looks at recorded times, and only when a compaction is due. The original looks at every request.
- Its draft of an analysis is not asked for, since it would be thrown away.
- An earlier summary is given to the model as what is to be carried on. The original shows it as a message like others.
- Where a transcript exceeds the window its oldest part is left out; the original does so after a refusal, three times.
- When the model fails, a note of what was left out stands in. The original gives up after three failures.
- The model's longest answer, up to 20,000 tokens of the reserve, is taken to be a quarter of a small window at most.
- Where less than a quarter of a small window would be left for messages, it is due at that quarter.
"""

from __future__ import annotations

from workbench.compaction.presets.claude_code.compact import ClaudeCompact, ClaudeTrigger
from workbench.compaction.presets.claude_code.idle import IdleMicrocompact
from workbench.compaction.strategy import Preset, Strategy

CLAUDE_CODE = Preset(
    "claude_code",
    Strategy("claude_code", (IdleMicrocompact(), ClaudeCompact())),
    ClaudeTrigger(),
    source="Claude Code, third-party analyses of its bundles; compact-middleware (PyPI)",
)
