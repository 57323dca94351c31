"""What a compactor says of the error that answers a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from live.talk import Record, answered, asked, back, used

from workbench import Compactor, Settings
from workbench.engine.transcript.message import Message, plain_text
from workbench.live.events import ErrorJudged

UNKNOWN_WINDOW = 10**9
"""Tokens that no request has: such a window explains no error."""
EARLIER = "A larger request."
QUESTION = "The request."
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
UNSIGNED = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
ANSWERED = (answered("Done."), asked("?"))
TEXT = {"type": "text", "text": QUESTION}
CUT_OFF = {"id": "c4", "type": "function", "function": {"name": "read", "arguments": '{"path'}}
BROKEN: Mapping[str, list[Record]] = {
    "orphan result": [answered("Yes."), back("c0", "lost"), *ANSWERED],
    "missing result": [used("c1"), asked("?")],
    "duplicate": [used("c2"), back("c2", "found"), back("c2", "found"), *ANSWERED],
    "duplicate id": 2 * [used("c3"), back("c3", "found"), *ANSWERED],
    "empty text": [answered(" "), asked("?")],
    "role order": [asked("?"), asked("?")],
    "unsigned thought": [UNSIGNED, asked("?")],
    "late system": [{"role": "system", "content": "Be brief."}, *ANSWERED],
    "broken arguments": [{**answered(""), "tool_calls": [CUT_OFF]}, back("c4", "?"), *ANSWERED],
    "empty result": [used("c5"), back("c5", ""), *ANSWERED],
    "typed content": [{"role": "user", "content": [TEXT]}, *ANSWERED],
    "extra field": [{**answered("Done."), "reasoning": "hm", "refusal": None}, asked("?")],
    "prefill": [answered("Sure:")],
}
"""What follows the question in a history with each defect that a compactor sees by itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that is refused, as its host knows it; the default says nothing of an error.

    Attributes:
        tokens: by the host's count.
        window: tokens.
        accepted: tokens of an earlier request that was answered.
        pictures: in it.
        defects: what is broken in its history; unseen ones are left to the words of the error.
    """

    tokens: int = 0
    window: int = UNKNOWN_WINDOW
    accepted: int = 0
    pictures: int = 1
    defects: tuple[str, ...] = ()

    @property
    def messages(self) -> list[Record]:
        """Its messages, in the format of OpenAI or of Anthropic."""
        messages = [asked(QUESTION)]
        if self.pictures:
            messages = [{"role": "user", "content": [TEXT] + self.pictures * [PICTURE]}]
        for defect in self.defects:
            messages += BROKEN.get(defect, [])
        return messages

    def size(self, message: Message) -> int:
        """Tokens of a message; those of the question are all."""
        sizes = {QUESTION: self.tokens, EARLIER: self.accepted}
        return sizes.get(plain_text(message).strip(), 0)


class Refusal(Exception):
    """As a client raises it, with the status of the response."""

    def __init__(self, text: str, status: int | None) -> None:
        self.status_code = status
        super().__init__(text)


WITHOUT_RETRY = Settings(retries=0, last_resort=False)


def judged(
    error: str | Exception | Mapping[str, object],
    status: int | None = None,
    request: Request = Request(),
) -> ErrorJudged:
    """What a compactor says of an error."""
    live = Compactor(
        "none",
        window=request.window,
        count=request.size,
        settings=WITHOUT_RETRY,
        format="anthropic" if "unsigned thought" in request.defects else None,
    )
    if request.accepted:
        live.before_request([asked(EARLIER)])
        live.report_usage({"prompt_tokens": request.accepted})
    live.before_request(request.messages)
    live.on_error(Refusal(error, status) if isinstance(error, str) else error)
    [event] = [event for event in live.events if isinstance(event, ErrorJudged)]
    return event


def overflow_in_answer(
    read: int, stop: str, window: int, *, wrote: int = 0, read_before: int = 0, grown: int = 0
) -> ErrorJudged | None:
    """The overflow that a compactor sees in an answer that came without an error.

    Args:
        read, wrote: tokens that the provider reports.
        stop: why it ended.
        window: tokens.
        read_before: tokens that it reported of the request before; 0 where there was none.
        grown: tokens that were added since.
    """
    request = Request(grown, window, accepted=read_before, pictures=0)
    live = Compactor("none", window=window, count=request.size, settings=WITHOUT_RETRY)
    messages: list[Record] = []
    if read_before:
        messages = [asked(EARLIER)]
        live.before_request(messages)
        live.report_usage({"prompt_tokens": read_before})
    live.before_request([*messages, *request.messages])
    live.report_usage({"prompt_tokens": read, "completion_tokens": wrote}, stop=stop)
    return next((event for event in live.events if isinstance(event, ErrorJudged)), None)
