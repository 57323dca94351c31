"""Clear tool uses: all but the newest three tool results become a marker once a request exceeds
100,000 tokens.

Restates Anthropic's server-side edit `clear_tool_uses_20250919` as its documentation and the types
of its Python SDK describe it, and LangChain's `ContextEditingMiddleware` with `ClearToolUsesEdit`
(langchain 1.4.7), which is the same on the client. Inspect's `CompactionEdit` (inspect-ai 0.3.285)
is its kin. No model is asked.

Besides the general differences (`presets`):

- `clear_at_least` is all or nothing, as Anthropic documents it: nothing is touched where less can
  be saved. LangChain clears one result after the other until it has saved enough, and counts
  everything again each time.
- A result is cleared only where the marker is smaller, and pinned results and those of calls in
  pinned messages stay.
- `clear_tool_inputs` is not restated: by default the arguments of cleared calls stay.
- The marker is our own sentence; the result keeps its id, its tool's name and whether it failed.
- Anthropic's server leaves the client's history whole and edits each request anew. Here the edited
  history is what is kept, which comes to the same requests.
- Approximate: the threshold is absolute in the original. In a window of less than 200,000 tokens it
  is half of the window, since it would otherwise never be due before the window is full.
"""

from dataclasses import dataclass
from typing import ClassVar

from workbench.engine.compaction.clip import NewResult, rewritten
from workbench.engine.compaction.plan import Budget, Plan, saved_tokens
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.transcript.context import Context

CLEARED = "[tool result cleared to save room]"


@dataclass(frozen=True, slots=True)
class ClearToolUses:
    """Replaces all tool results but the newest by a marker.

    Attributes:
        keep: how many results stay.
        clear_at_least: tokens; where less would be saved nothing is touched.
        exclude_tools: names of tools whose results stay, and are not counted among the kept.
    """

    keep: int = 3
    clear_at_least: int = 0
    exclude_tools: tuple[str, ...] = ()
    name: ClassVar[str] = "clear_tool_uses"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The markers; None where too little is saved."""
        messages = context.messages
        results: list[int] = []
        for i, message in enumerate(messages):
            if message.role == "tool" and message.name not in self.exclude_tools:
                results.append(i)
        old_results = results[: max(len(results) - self.keep, 0)]
        cleared: list[NewResult] = []
        for i in old_results:
            caller = context.callers.get(i)
            if caller is None or not messages[caller].pinned:
                cleared.append(NewResult(i, CLEARED))
        plan = rewritten(context, cleared)
        if plan is None or saved_tokens(context, plan.edits) < self.clear_at_least:
            return None
        return plan


CLEAR_TOOL_USES = Preset(
    "clear_tool_uses",
    Strategy("clear_tool_uses", (ClearToolUses(),)),
    AtLimit(share=0.5, most=100_000, above=True),
    source=(
        "Anthropic clear_tool_uses_20250919 (documentation, SDK types); langchain 1.4.7"
        " ContextEditingMiddleware"
    ),
)
