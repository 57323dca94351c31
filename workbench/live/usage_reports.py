"""What a provider reports of requests, taken in or ignored."""

from workbench.engine.models.provider_errors import Diagnosis
from workbench.engine.transcript.message import Json, Usage
from workbench.live.callbacks import Host
from workbench.live.events import UsageIgnored
from workbench.live.gauge import Gauge
from workbench.live.usage import cleared_by, usage_of

FAR_LARGER = 10
"""So many times the window and the request a report is no measurement; no system prompt is as
large.
"""


class UsageReports:
    """Takes in reports about the newest request; an event says which were ignored, and why."""

    def __init__(self, gauge: Gauge, host: Host) -> None:
        self._gauge = gauge
        self._tell = host.tell
        self._usage_of = host.guarded("report_usage", usage_of, lambda _: None, lambda _: True)
        self._cleared_by = host.guarded("report_usage", cleared_by, lambda _: 0, lambda _: True)

    def take(
        self, usage: Json, stop: str, model: str, context_management: Json
    ) -> Diagnosis | None:
        """Take in one report; its arguments are those of `Compactor.report_usage`.

        Returns:
            The overflow that it shows, or None.
        """
        gauge = self._gauge
        objection = gauge.stale(model)
        if objection:
            self._tell(UsageIgnored(objection))
            return None
        reported = self._usage_of(usage)
        cleared = self._cleared_by(context_management)
        if reported is not None:
            objection = _implausible(reported, gauge)
        elif usage:
            objection = "it names no tokens of a prompt"
        if objection:
            self._tell(UsageIgnored(objection))
            return None
        diagnosis = gauge.judge(reported, str(stop), cleared)
        is_overflow = diagnosis is not None
        if reported is not None:
            gauge.take(reported, cleared=cleared, overflow=is_overflow)
        return diagnosis


def _implausible(usage: Usage, gauge: Gauge) -> str:
    """Why a report can be no measurement of the newest request, in words; empty where it may be
    one.
    """
    if min(usage.input, usage.cache_read, usage.cache_write, usage.output) < 0:
        return "the report has a negative number of tokens"
    tokens = 0
    if gauge.request is not None:
        tokens = gauge.request.tokens + gauge.request.added
    window = gauge.window
    if usage.prompt > FAR_LARGER * max(window, tokens):
        return f"the report has {usage.prompt:,} tokens, for a request of about {tokens:,} in {window:,}"
    return ""
