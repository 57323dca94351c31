"""What sentences and calls tell a register: reversed decisions, what runs, deleted files."""

import re
from collections.abc import Iterable

from workbench.engine.compaction.clip import head
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.extraction.words import words
from workbench.engine.transcript.files import tool_name
from workbench.engine.transcript.message import Json, ToolCall

LINE_CHARS = 240
"""The longest that a line of a register is."""
ALIKE = 0.6
"""The part of the words of an item that a line has which closes or withdraws it."""

_TURNED = re.compile(
    r"\b(?:change of plan|on second thought|decided (?:against|not to)|gave up on"
    r"|(?:we|i)(?:['’]ve| have)? (?:(?:switched|went|gone) (?:back"
    r" )?(?:to|from)|reverted|abandoned|dropped))\b"
)
"""What only a reversed decision says: told as a fact, of what was done."""
_UNSURE = re.compile(r"\?|\b(?:if|whether|could|would|should|might|may|not (?:sure|clear))\b")
_CORRECTED = re.compile(
    r"\b(?:now|instead|actually|also|please|change|make|use|add|fix|write|build|implement|create|remove)\b"
)
_SPAWN = frozenset(
    {"task", "agent", "spawn_agent", "delegate_task", "run_subagent", "dispatch_agent"}
)
_STOP = re.compile(r"kill|stop|close|terminate|cancel", re.IGNORECASE)
_ENDED = re.compile(
    r"\b(?:completed|exited|exit code|finished|killed|failed|terminated)\b", re.IGNORECASE
)
_DELETED = re.compile(r"(?:^|[;&|]\s*)rm\s+(?:-\w+\s+)*([^\s;&|]+)")
_PATCH_DELETED = re.compile(r"^\*\*\* Delete File: (.+)$", re.MULTILINE)
_BACKGROUND_ID = re.compile(r"\b(?:ID|id)\W+([\w-]+)")
_PURPOSE_KEYS = ("description", "command", "prompt")
"""Arguments that say what a sub-agent or a background command is for."""


def corrects_goal(lowered: str) -> bool:
    """Whether a person's sentence, in lower case, asks for something new."""
    return _CORRECTED.search(lowered) is not None


def may_reverse(text: str) -> bool:
    """Whether some sentence of a text may tell that a decision was reversed."""
    return _TURNED.search(text.lower()) is not None


def tells_reversal(lowered: str) -> bool:
    """Whether a sentence of prose, in lower case, tells as a fact that a decision was reversed."""
    is_prose = len(lowered) <= LINE_CHARS and not lowered.startswith("|")
    if not is_prose or _TURNED.search(lowered) is None:
        return False
    return _UNSURE.search(lowered) is None


def speaks_of(sentence: str, item: str) -> bool:
    """Whether a sentence has enough words of an item to speak of it."""
    item_words = words(item)
    sentence_words = set(words(sentence))
    if not item_words:
        return False
    shared_count = sum([word in sentence_words for word in item_words])
    least_count = min(2, len(item_words))
    return shared_count >= max(ALIKE * len(item_words), least_count)


def as_line(text: str) -> str:
    """A text as one line of a register."""
    return head(" ".join(harmless(text).split()), LINE_CHARS)


def in_background(call: ToolCall) -> bool:
    """Whether a call starts something and does not wait for it."""
    return call.arguments.get("run_in_background") is True


def starts_work(call: ToolCall) -> bool:
    """Whether a call starts a sub-agent or a background command."""
    return in_background(call) or tool_name(call.name) in _SPAWN


def purpose(call: ToolCall) -> str:
    """What a call says that its sub-agent or command is for."""
    return first_text([call.arguments.get(key) for key in _PURPOSE_KEYS])


def background_id(text: str) -> str:
    """The id under which a result says that something runs; empty without one."""
    match = _BACKGROUND_ID.search(text)
    return "" if match is None else match.group(1)


def may_end_work(call: ToolCall, text: str) -> bool:
    """Whether a call stops what runs, or its result says that it has ended."""
    if _STOP.search(tool_name(call.name)):
        return True
    return _ENDED.search(text[:400]) is not None


def deleted_paths(call: ToolCall) -> list[str]:
    """The paths that a patch or a command in a call deletes."""
    paths: list[str] = []
    for value in call.arguments.values():
        if isinstance(value, str) and "*** Delete File: " in value:
            paths += _PATCH_DELETED.findall(value)
    command = call.arguments.get("command")
    if isinstance(command, str) and "rm " in command:
        paths += _DELETED.findall(command)
    return paths


def first_text(values: Iterable[Json]) -> str:
    """The first of these values that is a text; empty without any."""
    for value in values:
        if isinstance(value, str):
            return value
    return ""
