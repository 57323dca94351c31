"""A compaction that the agent's provider makes on its server, chosen like any other stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.engine.compaction.plan import Budget, Draft, Plan, Replace, behind_prompt
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.models.model import ServerService
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import cut_point_from
from workbench.engine.transcript.message import Message


def behind_the_prompt(
    context: Context,
    removed_indices: Sequence[int],
) -> int:
    """The index behind the system prompt, where providers want what they compacted."""
    return cut_point_from(context.cut_points, behind_prompt(context.messages, removed_indices))


SUMMARY = Summarize(presentation=Presentation(file_lists=""))


@dataclass(frozen=True, slots=True)
class ServerCompaction:
    """Asks the agent's own provider to compact what gives way, and sends back what it gives.

    In a live compactor the model sends the conversation itself to the provider, and what comes back
    (a signed summary, or encrypted items) is sent with each further request as it is. In a replay,
    and where the provider cannot, the model writes a summary of the same size in its place; the
    record of the compaction says so.

    Attributes:
        service: `compact_on_demand` and `compact_20260112` are Anthropic's, the latter from 50,000
            tokens on; `responses_compact` is OpenAI's.
        summary: what gives way, and the summary that stands for the server's.
    """

    service: ServerService = "compact_on_demand"
    summary: Summarize = SUMMARY
    name: str = "server_compaction"

    def plan(
        self,
        context: Context,
        budget: Budget,
        /,
    ) -> Plan | None:
        """The summary's plan, whose request is for the server."""
        presentation = replace(self.summary.presentation, place=behind_the_prompt)
        summary = replace(self.summary, presentation=presentation)
        plan = summary.plan(context, budget)
        if plan is None:
            return None
        edits: list[Replace] = []
        for edit in plan.edits:
            new_messages = tuple([self._for_server(new) for new in edit.by])
            edits.append(edit._replace(by=new_messages))
        return replace(plan, edits=tuple(edits))

    def _for_server(
        self,
        new: Draft | Message,
    ) -> Draft | Message:
        """The draft with requests for the server; a message as it is."""
        if not isinstance(new, Draft):
            return new
        requests = [replace(request, server=self.service) for request in new.requests]
        return replace(new, requests=tuple(requests))
