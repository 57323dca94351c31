"""DDx agent: a summary behind the newest messages, and what the user said before the cut sent again beside it.

Restates the Go package `compaction` of the DDx agent (later Fizeau) as its published documentation describes it, and
where that is silent as its source behaves: DocumentDrivenDX/agent at tag v0.3.14,
79068d928a5aa654c567a784ae1ad71ed11f1d20 (package `compaction`), and on master at
f6324565449001fff7a661c3bc020d0397fced40 (`internal/compaction`). Besides what `presets` says of all restated systems,
it differs from that source:

- Calls stand in one line with their results, as documented. The source writes results on lines of their own, and a
  message's calls before its words.
- The newest prompt does not stop the cut where tools answered after it, wherever it stands in the run. The source makes
  this exception only for the very first message, and a long later turn ends in an error.
- The newest user message is never cut short, and pinned messages count as part of the prefix.
- An earlier summary is replaced wherever it stands. The source keeps one that lies behind the cut beside the new one.
- A message is known as a summary by the exact words around it, or by its type. The source takes any long user message
  that mentions the tag for one.
- An empty answer becomes the documented fallback. A summariser's error is passed on, except where so little room is
  left for its text that it could not have said anything.
- The files are those of all calls in the context and in earlier summaries, in the order of first sight.
- The body of a summary is cut between characters, not inside one.
- One request a compaction: the cut is chosen by the room that it leaves, and the text is cut to that room. The source
  asks again at the next cut where the result is still too large, which its own cutting rules out.
- Pictures are counted; the source declares a size for them and does not use it.
- Client-made user messages are not sent again with what the user said.
- A reserve that fills a small window is given up and a kept part larger than the window is halved to it, as the
  original's service does.
- Promised by the original's design notes only, and not built here either: a split turn's own summary, provider usage
  in the trigger, trimming of the summariser's input.
- A size that a comparison sets and that cannot be reached gives the smallest that can, not an error.
"""

from __future__ import annotations

from workbench.compaction.presets.ddx_agent.compact import DdxCompact
from workbench.compaction.presets.ddx_agent.cut import Config, DdxTrigger
from workbench.compaction.presets.token_counters import ddx_tokens
from workbench.compaction.strategy import Preset, Strategy


def ddx_agent(config: Config | None = None) -> Preset:
    """The preset with these settings; with the original's own where none are given."""
    chosen = config or Config()
    return Preset(
        "ddx_agent",
        Strategy("ddx_agent", (DdxCompact(chosen),)),
        DdxTrigger(chosen),
        count=ddx_tokens,
        moments=("before_request", "after_tools"),
        source="DocumentDrivenDX/agent v0.3.14 79068d92 compaction, master f6324565 internal/compaction",
    )


DDX_AGENT = ddx_agent()
