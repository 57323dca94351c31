"""Hermes, lean: a short tail, one detailed log, the user's words as they were, and an index of exact identifiers.

Restates the lean mode of Hermes Agent's context compressor (NousResearch/hermes-agent 0.19.0, `agent/
context_compressor.py`, and the pull requests #87326 and #95571 that made the mode and its default). Prompts are our own
words.

Where it differs from that source, and why:

- Pruning comes first, and where it is enough no summary is asked for; where it would gain less than a tenth it is left
  out. What it takes out can be read by its reference in the archive. The original prunes on the way to a summary,
  stops for good after two compactions that gained less than a tenth, and searches its own store of sessions.
- The one line that stands for an old result names tool, target, length and failure for every tool alike. The original
  has a form of its own for each of its tools.
- The user's older messages stay in their places, newest first up to 10,000 tokens; the original writes them into the
  summary.
- The anchor index stands below the summary, newest identifiers last, and is carried on from one to the next. It holds
  paths, addresses, hashes, long numbers, error lines; our patterns, not the original's.
- The first three messages stay at the first compaction only, as far as they take no more than a quarter of the room.
- Secrets are masked by the workbench where that is asked for, not here.
- When the model fails, a note of what was left out stands in, and the anchors stay. The original has a digest of up to
  8,000 characters and waits ten minutes.
- The newest user message and pinned messages stay, and no pair is parted.
- Approximate: the longest answer is not taken off the window in the threshold, since no recording says it. In a small
  window the tail is half of what may be kept and the summary a quarter; where the overhead leaves less than a quarter
  of the rest to messages, it is due at that quarter.
- Where a comparison sets the size of the context, at most half of it is kept and the rest is for the summary.
"""

from __future__ import annotations

from workbench.compaction.presets.hermes_lean.prune import HermesPrune
from workbench.compaction.presets.hermes_lean.summary import HermesSummary
from workbench.compaction.presets.hermes_lean.tail import HermesTrigger
from workbench.compaction.strategy import Preset, Strategy

HERMES_LEAN = Preset(
    "hermes_lean",
    Strategy("hermes_lean", (HermesPrune(), HermesSummary())),
    HermesTrigger(),
    source="NousResearch/hermes-agent 0.19.0 agent/context_compressor.py, #87326, #95571",
)
