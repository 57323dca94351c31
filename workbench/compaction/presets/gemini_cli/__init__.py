"""Gemini CLI: at half of the window, old tool output is cut to its last lines and the oldest 70 % become a snapshot.

Restates the chat compression of Google's Gemini CLI (google-gemini/gemini-cli, read at 2026-08-21), in
`packages/core/src/` the folder `context/` and `prompts/snippets.ts`. Its newer pipeline (65,000 retained, 150,000 at
most) and its masking of tool outputs are not restated. Prompts are our own words.

Where it differs from that source, and why:

- The second call, in which the model checks its own snapshot, is not made: here all questions of a step are put at
  once.
- No model answers "understood" behind the snapshot, since nobody said it. The original adds such a message.
- A snapshot has headings; the original asks for XML elements and lets the model think in a scratchpad first.
- Tool output that is cut can be read again by its reference in the archive; the original writes it to a file.
- A snapshot that would be larger than what it replaces is not asked for; the original asks, throws it away, and from
  then on only truncates.
- The newest user message stays where the cut goes through its turn, pinned messages stay, and no pair is parted.
- Approximate: what was sent is measured as the session's provider counts, characters by the texts themselves and not
  by the JSON around them.
- A snapshot takes at most a quarter of the room under the target; the original leaves its length to the model.
- Where the overhead leaves less than a quarter of the rest to messages, it is due at that quarter.
- Like the original it finds no cut inside a single long turn. Where a comparison sets the size of the context it cuts
  there too; at most three quarters of the room are then kept.
"""

from __future__ import annotations

from workbench.compaction.presets.gemini_cli.snapshot import GeminiCompact, GeminiTrigger
from workbench.compaction.strategy import Preset, Strategy

GEMINI_CLI = Preset(
    "gemini_cli",
    Strategy("gemini_cli", (GeminiCompact(),)),
    GeminiTrigger(),
    source="google-gemini/gemini-cli 2026-08-21 packages/core/src/context, prompts/snippets.ts",
)
