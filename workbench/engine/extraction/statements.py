"""Sentences that bind: what the user demands, what was decided, what is still to do."""

import re
from collections.abc import Iterator, Mapping

from workbench.engine.extraction.entities import Entity, Kind, plain
from workbench.engine.extraction.words import words
from workbench.engine.transcript.message import (
    AssistantMessage,
    Json,
    Message,
    Text,
    ToolCall,
    argument_texts,
    is_real_user,
)

LONGEST = 400
"""A sentence with more characters is a paste, not a statement."""
PARAGRAPH = 3_000
"""People write a paragraph in one line; a line with more characters is a paste."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"'`(*-])")
_MARK = re.compile(r"^(?:[-*+•>]\s+|\d{1,2}[.)]\s+|#+\s+)*(?:\[[ xX]\]\s+)?")
_CONSTRAINT = re.compile(
    r"\b(?:must(?:n't)?|never|always|do not|don't|dont|should(?:n't| not| always| never|"
    r" only)|can't|cannot|may not"
    r"|only (?:use|change|edit|touch|write|run|in|when|if|the)|no more than|at most|at least|make"
    r" sure|ensure|be sure"
    r"|avoid|without (?:\w+ing)|instead of|rather than|prefer|keep"
    r" (?:the|it|this|all|your)|stick to"
    r"|leave .{1,40} alone"
    r"|require[sd]?|forbidden|not allowed|has to|have to|need(?:s)? to"
    r" (?:be|stay|remain|keep|support|work))\b"
)
"""This and the next two are for a text in lower case, which is searched three times as fast."""
_DECISION = re.compile(
    r"\b(?:decided|decision|chose|chosen|(?:let's|lets|we'll|i'll|we will|i will|going to)"
    r" (?:use|go with|keep|switch"
    r"|stick|drop|skip|adopt)|go(?:ing)? with|opt(?:ed|ing)? for|switch(?:ed|ing)? to|settled"
    r" on|agreed|the approach"
    r" (?:is|will)|instead of|rather than|turned out|root cause|the (?:problem|issue|bug|cause)"
    r" (?:is|was)"
    r"|did(?:n't| not) work|does(?:n't| not) work|won't work)\b"
)
_PENDING = re.compile(
    r"(?:^\W*\[ \]\s)|\b(?:todo|fixme|still (?:need|have|to|missing|open|fail)|remain(?:s|ing)|not"
    r" yet|yet to"
    r"|next steps?"
    r"|follow[- ]up|left to do|to be done|pending|unfinished|in progress|later we|will need"
    r" to|needs? to be"
    r"|untested|(?:not|never) (?:been )?(?:tested|tried|checked|verified)|could(?:n't| not) (?:find"
    r" out|be checked)"
    r"|wait(?:s|ing)? for|until (?:he|she|they|somebody|someone)"
    r" (?:answer|decide|confirm|repl|send)\w*"
    r"|(?:i'll|i will|we'll) (?:ask|tell|send|bring|check with)|(?:list of open|open"
    r" (?:question|point|item|issue)))\b"
)
_OPEN_HEADING = re.compile(
    r"\n[^\w\n]*+(?=[lswtornpufb])(?:(?:left|still|what is left|what remains|things|work) to"
    r" do|to[- ]?dos?"
    r"|(?:still )?open(?: questions?| points?| items?| issues?| work)?|remaining(?: work| tasks?|"
    r" steps?)?"
    r"|next(?: steps?)?|pending(?: work| tasks?)?|not (?:yet )?(?:done|tested|finished)(?: here|"
    r" yet)?|unfinished"
    r"|follow[- ]ups?|outstanding|blocked)[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+(?!\[[xX]\])(?:\[ \]\s+)?(\S.*)")
_DONE = re.compile(
    r"^\W*\[[xX]\]\s|\b(?:done|finished|completed?|implemented|fixed|resolved|added|removed|renamed|updated|written"
    r"|merged|committed|deployed|now (?:pass(?:es)?|works?)|no longer"
    r" (?:open|needed|pending)|ticked off)\b",
    re.IGNORECASE,
)
_STILL_OPEN = re.compile(
    r"^\W*\[ \]\s|\b(?:todo|still|not"
    r" (?:yet|done|finished|fixed|tested|written)|remain\w*|pending|open|left to do"
    r"|next|unfinished|to be|needs? to|must|should|will|cannot|can't|until|before|once|when|if)\b",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"\b(?:never ?mind|forget (?:about )?|drop|skip|cancel|leave out|no need (?:to|for)|not"
    r" needed|don't need|no longer"
    r"|withdraw\w*|scrap|stop working on|you may now|is fine now)\b"
)
OPEN = frozenset({"pending", "in_progress", "in-progress", "todo", "open", "not_started"})
GIVEN_UP = frozenset({"cancelled", "canceled", "deleted", "skipped", "abandoned"})
_TASK_KEYS = ("content", "title", "text", "task", "step", "description", "subject")


def is_decision(text: str) -> bool:
    """Whether a line says what was chosen, or what was tried in vain."""
    if len(text) > LONGEST:
        return False
    return _DECISION.search(text.lower()) is not None


def is_constraint(sentence: str) -> bool:
    """Whether a person who writes this sentence sets a rule."""
    if not _CONSTRAINT.search(sentence.lower()):
        return False
    return len(words(sentence)) >= 2


def is_pending(text: str) -> bool:
    """Whether a sentence has one of the words with which prose says that something is open."""
    return _PENDING.search(text.lower()) is not None


def says_done(line: str) -> bool:
    """Whether a line says that something is finished, and leaves nothing of it open."""
    return _DONE.search(line) is not None and _STILL_OPEN.search(line) is None


def withdraws(sentence: str) -> bool:
    """Whether a person who writes this sentence takes something back."""
    return _WITHDRAWN.search(sentence.lower()) is not None


def statements(message: Message) -> tuple[Entity, ...]:
    """The statements in a message, each once, in order.

    Constraints are taken from what a person wrote, decisions from persons and assistants, pending
    work from both, from lists under a heading such as "Left to do", and from task lists in tool
    arguments. Tool results state nothing.
    """
    by_user = is_real_user(message)
    if not by_user and not isinstance(message, AssistantMessage):
        return ()
    entities: list[Entity] = []
    for block in message.blocks:
        if isinstance(block, Text):
            for sentence in sentences(block.text):
                entities += [Entity(kind, plain(sentence)) for kind in _kinds(sentence, by_user)]
            entities += map(_pending, _left_to_do(block.text))
        elif isinstance(block, ToolCall):
            for task, is_done in tasks(block.arguments):
                if not is_done:
                    entities.append(_pending(task))
            for text in argument_texts(block.arguments):
                entities += map(_pending, _left_to_do(text))
    return tuple(dict.fromkeys(entities))


def _pending(text: str) -> Entity:
    return Entity("pending", plain(text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of prose, without list marks, code fences and lines that are too long."""
    fenced = False
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and len(line) <= PARAGRAPH:
            box = "[ ] " if "[ ]" in line[:8] else ""
            prose = _MARK.sub("", line, count=1)
            for sentence in _SENTENCE.split(prose):
                if sentence and len(sentence) <= LONGEST:
                    yield box + sentence


def _left_to_do(text: str) -> Iterator[str]:
    """The items of the lists that stand under a heading for what is open."""
    if "\n" not in text:
        return
    text = "\n" + text
    for heading in _OPEN_HEADING.finditer(text):
        for line in text[heading.end() :].split("\n"):
            match = _ITEM.match(line)
            item = match.group(1) if match and len(line) <= LONGEST else ""
            if len(words(item)) >= 2:
                yield item
            elif line.strip():
                break


def tasks(arguments: Mapping[str, Json]) -> Iterator[tuple[str, bool]]:
    """Each item of a task list in a tool's arguments, and whether it is done."""
    for text, status in task_items(arguments):
        yield text, status not in OPEN


def task_items(arguments: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Each item of a task list in a tool's arguments, and its status in lower case."""
    for value in arguments.values():
        if not isinstance(value, list | tuple):
            continue
        for item in value:
            if not isinstance(item, Mapping):
                continue
            status, text = item.get("status"), _task_text(item)
            if isinstance(status, str) and text:
                yield text, status.lower()


def _task_text(item: Mapping[str, Json]) -> str:
    """What an item of a task list says; empty where it says nothing."""
    for key in _TASK_KEYS:
        text = item.get(key)
        if isinstance(text, str):
            return text
    return ""


def _kinds(sentence: str, by_user: bool) -> list[Kind]:
    """What a sentence states; only a person's states constraints."""
    lowered = sentence.lower()
    kinds: list[Kind] = []
    if by_user and _CONSTRAINT.search(lowered):
        kinds.append("constraint")
    if _DECISION.search(lowered):
        kinds.append("decision")
    if _PENDING.search(lowered):
        kinds.append("pending")
    if kinds and len(words(sentence)) < 2:
        return []
    return kinds
