"""Lets the agent's own provider compact, where a stage asks for that."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.base.errors import ModelError
from workbench.engine.models.model import Completion, ServerRequest, ServerService, SummaryRequest
from workbench.engine.models.splitting import SplittingModel
from workbench.live.gauge import Gauge
from workbench.live.meter import Meter

FORMAT_OF: dict[ServerService, str] = {
    "compact_on_demand": "anthropic",
    "compact_20260112": "anthropic",
    "responses_compact": "responses",
}
"""The form of the messages in which each service's compaction is sent back."""
LEAST_TOKENS: dict[ServerService, int] = {"compact_20260112": 50_000}
"""Tokens of a conversation below which a service compacts nothing."""
Writer: TypeAlias = SplittingModel | Meter


@dataclass(frozen=True, slots=True)
class ServerModel:
    """The model of a compactor, which has requests for a server done there where that is possible.

    Attributes:
        model: writes all other summaries, and those that the server does not give.
        meter: the model inside it, whose answers are paid.
        gauge: of the compactor, whose messages are sent.
    """

    model: Writer
    meter: Meter
    gauge: Gauge

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return self.model.name

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The server's compaction, or the model's summary and why it is in its place.

        Raises:
            ModelError: neither came.
        """
        if not request.server:
            return self.model.complete(request)
        try:
            return self.meter.compact_on_server(self._server_request(request, request.server))
        except ModelError as error:
            reason = str(error)
        completion = self.model.complete(replace(request, server=""))
        methods = [completion.method, f"in the place of {request.server}: {reason}"]
        return replace(completion, method=", ".join(filter(None, methods)))

    def _server_request(self, request: SummaryRequest, service: ServerService) -> ServerRequest:
        """The conversation up to the newest message that gives way, as it is sent now.

        Raises:
            ModelError: the service does not suit the conversation.
        """
        memory = self.gauge.memory
        format = memory.reader.present_format
        if format != FORMAT_OF[service]:
            raise ModelError(f"{service} takes no messages in the format {format}")
        tokens = sum(map(request.count, request.messages))
        if tokens < LEAST_TOKENS.get(service, 0):
            raise ModelError(
                f"{service} compacts from {LEAST_TOKENS[service]:,} tokens on; these are {tokens:,}"
            )
        system, tools = self.gauge.declared
        return ServerRequest(
            service=service,
            messages=memory.sent_through({message.id for message in request.messages}),
            system=system,
            tools=tools,
            instructions=request.instructions,
        )
