"""What Roo Code, Kilo Code and Cline keep of a task's requests, in `ui_messages.json` beside its
messages.

Source: RooCodeInc/Roo-Code, packages/core/src/message-utils/consolidateTokenUsage.ts. Each
`api_req_started` is written before its answer, and gets the figures when the answer has come. Roo's
input was Anthropic's or OpenAI's as it came, and is the whole prompt since November 2025.
"""

from workbench.base.errors import FormatError
from workbench.engine.transcript.log import Log
from workbench.engine.transcript.message import Json, Usage
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.neighbours import files_beside, value_in
from workbench.recordings.importers.reported_usage import TimedUsage, answers_of, with_usages
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import as_mapping, items_of, label

REQUEST_USAGE = UsageFields(
    "tokensIn", "tokensOut", "cacheReads", "cacheWrites", cache_in_input=True
)
_MESSAGES = "api_conversation_history"
_CLIENT_FILE = "ui_messages.json"


def with_requests(log: Log, source: SourceFile) -> Log:
    """The log in which each answer without a report has that of its request: the newest that began
    before it, and after the answer before it.
    """
    requests = _requests(source)
    usages: dict[str, Usage] = {}
    next_request = 0
    for answer in answers_of(log):
        newest: Usage | None = None
        while next_request < len(requests) and _began(requests[next_request], answer.time):
            if newest is not None:
                source.note("has a request whose answer is not here, left out", field=_CLIENT_FILE)
            newest = requests[next_request].usage
            next_request += 1
        if newest is not None and answer.usage is None:
            usages[answer.id] = newest
    if next_request < len(requests):
        source.note("has a request whose answer is not here, left out", field=_CLIENT_FILE)
    return with_usages(log, usages)


def _began(request: TimedUsage, answer_time: float | None) -> bool:
    return answer_time is not None and request.time <= answer_time


def _requests(source: SourceFile) -> list[TimedUsage]:
    """The requests with figures, in their order; none where there is no such file."""
    requests: list[TimedUsage] = []
    for item in items_of(_client_messages(source)):
        message = as_mapping(item)
        if label(message, "say") != "api_req_started":
            continue
        figures = as_mapping(decode_or(label(message, "text")))
        usage = source.usage(REQUEST_USAGE, figures)
        time = source.time(message, "ts")
        if usage is not None and time is not None:
            requests.append(TimedUsage(time, usage))
    return requests


def _client_messages(source: SourceFile) -> Json:
    """What the client shows its user, in the file beside a task's messages."""
    if source.stem != _MESSAGES:
        return None
    for path in files_beside(source, _CLIENT_FILE):
        try:
            return value_in(source, path)
        except FormatError as error:
            source.leave_unused(error)
    return None
