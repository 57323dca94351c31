"""A request as one plain text, for programs and people that take and give plain text."""

import hashlib
import json

from workbench.engine.models.billing import THOUGHT
from workbench.engine.models.conversation import sent_text
from workbench.engine.models.model import SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.models.written_calls import conversation_text

WORDS = 0.75
"""Of a token, about."""


def plain_text(request: SummaryRequest) -> str:
    """The system prompt, the prompt, and how long the answer may be, with an empty line between
    them.

    A conversation with tools takes the place of both prompts.
    """
    if request.chat:
        prompts = [conversation_text(request.chat, request.tools)]
    elif request.conversation:
        prompts = [sent_text(request)]
    else:
        prompts = [request.system.strip(), request.prompt.strip()]
    prompts.append(length_limit(request))
    text = "\n\n".join(filter(None, prompts))
    raw = f"{text}\n".encode("utf-8", "replace")  # half a character cannot be written
    return raw.decode()


def request_key(request: SummaryRequest, replicate: int = 0) -> str:
    """A name for all that is asked; another replicate asks the same text anew."""
    parts = [request.purpose, request.max_tokens, plain_text(request), replicate]
    request_text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(request_text.encode()).hexdigest()


def length_limit(request: SummaryRequest) -> str:
    """How long the answer may be, in a sentence; empty where there is no limit."""
    if request.max_tokens is None:
        return ""
    words = max(int(WORDS * request.max_tokens), 1)
    allowed = f"{request.max_tokens:,} tokens (about {words:,} words)"
    return f"The answer may have {allowed} at most; what is longer is cut off."


def within_limit(answer: str, request: SummaryRequest) -> tuple[str, bool]:
    """An answer without thoughts, no longer than its limit, and whether it was cut."""
    answer = answer.replace("\r\n", "\n")
    text = THOUGHT.sub("", answer).strip()
    if request.max_tokens is None:
        return text, False
    beginning = TiktokenCounter().beginning(text, request.max_tokens)
    return beginning, beginning != text
