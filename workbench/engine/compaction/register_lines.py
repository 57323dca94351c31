"""What a register says: the goal, rules, plan, decisions, files, running work and skills, found
by code.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from workbench.engine.compaction.clip import head
from workbench.engine.compaction.plan import REGISTER
from workbench.engine.compaction.prompt_template import harmless
from workbench.engine.extraction.paths import normal_path
from workbench.engine.extraction.statements import (
    GIVEN_UP,
    OPEN,
    is_constraint,
    says_done,
    sentences,
    task_items,
    withdraws,
)
from workbench.engine.extraction.words import words
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.files import tool_name, touched
from workbench.engine.transcript.message import (
    AssistantMessage,
    Json,
    Message,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    is_real_user,
    plain_text,
)

LEAD = "<register>\nKept by the client: requests, rules and work as they stand now.\n"
TAIL = "</register>"
SECTIONS = (
    "Goal", "Rules of the user", "Open work", "Finished work", "Decisions reversed", "Files created", "Files edited",
    "Files read", "Files deleted", "Running", "Skills",
)  # fmt: skip
"""The register's sections, in their order."""
GOAL, RULES, OPEN_WORK, DONE, TURNED, *FILES = SECTIONS[:9]
SAID = (*SECTIONS[:5], "Skills")
"""The sections whose lines are gathered as they are said."""
EXPENDABLE = ("Files read", "Finished work", "Files created", "Files edited", "Skills")
"""The sections that are shortened before all others, the first of them first."""
MOST = {
    "Goal": 6,
    "Rules of the user": 12,
    "Finished work": 8,
    "Decisions reversed": 6,
    "Files read": 12,
    "Running": 8,
}
"""Lines of a section, at most; `USUAL` for others. The newest stay."""
USUAL, LINE = 12, 240
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
_CREATES = re.compile(r"write|create", re.IGNORECASE)
_BACKGROUND_ID = re.compile(r"\b(?:ID|id)\W+([\w-]+)")
_TASK_KEYS = ("description", "command", "prompt")
"""Arguments that say what a sub-agent or a background command is for."""


def is_register(message: Message) -> bool:
    """Whether the message is a register, also one that a host sent back as a user message."""
    return (
        message.role == "user"
        and plain_text(message).startswith(LEAD)
        and plain_text(message).endswith(TAIL)
    )


def parsed(text: str) -> dict[str, list[str]]:
    """The lines of a register by section."""
    lines_by_section: dict[str, list[str]] = {}
    section = ""
    for line in text.removeprefix(LEAD).removesuffix(TAIL).splitlines():
        if line.startswith("- ") and section:
            lines_by_section.setdefault(section, []).append(line[2:])
        elif line.rstrip(":") in SECTIONS:
            section = line.rstrip(":")
    return lines_by_section


def written(
    lines_by_section: Mapping[str, Sequence[str]],
    max_tokens: int,
    context: Context,
) -> UserMessage | None:
    """The block of these lines in at most so many tokens: the newest of each section stay; None
    where none fits.
    """
    shown_lines: dict[str, list[str]] = {}
    for name in SECTIONS:
        max_lines = MOST.get(name, USUAL)
        shown_lines[name] = _newest_of(lines_by_section.get(name, ()), max_lines, name)
    while any(shown_lines.values()):
        block = _block(shown_lines)
        if context.count(block) <= max_tokens:
            return block
        _shorten(shown_lines)
    return None


def _block(lines_by_section: Mapping[str, Sequence[str]]) -> UserMessage:
    """The register as a message. Its id follows from what it says."""
    parts = [LEAD]
    for name, lines in lines_by_section.items():
        if lines:
            parts.append(f"{name}:\n")
            parts += [f"- {line}\n" for line in lines]
    text = "".join(parts) + TAIL
    seal = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return UserMessage(
        id=f"register-{seal}",
        blocks=(Text(text),),
        name=REGISTER,
        synthetic=True,
        pinned=True,
    )


def _shorten(lines_by_section: dict[str, list[str]]) -> None:
    """Leave out a quarter of one section, the oldest lines: of one that can be missed while such
    a section has lines, then of the longest; the first goal stays longest.
    """
    section = max(lines_by_section, key=lambda name: len(lines_by_section[name]))
    for expendable in EXPENDABLE:
        if lines_by_section[expendable]:
            section = expendable
            break
    lines = lines_by_section[section]
    start = 1 if section == GOAL and len(lines) > 1 else 0
    del lines[start : start + max(len(lines) // 4, 1)]


def _newest_of(lines: Sequence[str], max_lines: int, section: str) -> list[str]:
    """The newest lines; of the goal also the first, which the later ones correct."""
    if len(lines) <= max_lines:
        return list(lines)
    if section == GOAL:
        return [lines[0], *lines[1 - max_lines :]]
    return list(lines[-max_lines:])


def entries(messages: Sequence[Message]) -> dict[str, list[str]]:
    """The register's lines by section, oldest first, as these messages have them."""
    state = _State()
    for message in messages:
        state.take(message)
    return state.lines()


class _State:
    """What a conversation amounts to, message by message."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, None]] = {name: {} for name in SAID}
        self.files: dict[str, str] = {}
        self.running: dict[str, str] = {}
        self.calls: dict[str, ToolCall] = {}

    def take(self, message: Message) -> None:
        """Go on with a message."""
        if is_register(message):
            self._again(parsed(plain_text(message)))
        elif message.role == "user" and is_real_user(message):
            self._user(message)
        elif message.role == "assistant":
            self._answer(message)
        elif message.role == "tool":
            call = self.calls.pop(message.call_id, None)
            if call is not None:
                self._result(call, message)

    def lines(self) -> dict[str, list[str]]:
        """By section."""
        lines_by_section = {name: list(lines) for name, lines in self.said.items()}
        for path, section in self.files.items():
            lines_by_section.setdefault(section, []).append(path)
        lines_by_section["Running"] = list(self.running.values())
        return lines_by_section

    def _again(self, lines_by_section: Mapping[str, Sequence[str]]) -> None:
        """Take in an earlier register."""
        for name, section_lines in self.said.items():
            section_lines.update(dict.fromkeys(lines_by_section.get(name, ())))
        for section in FILES:
            self.files.update(dict.fromkeys(lines_by_section.get(section, ()), section))
        for line in lines_by_section.get("Running", ()):
            call_id = line.split(" ", 1)[0]
            self.running[call_id] = line

    def _user(self, message: Message) -> None:
        """Go on with what a person wrote."""
        for sentence in sentences(plain_text(message)):
            lowered = sentence.lower()
            is_withdrawal = withdraws(sentence)
            if is_withdrawal and self._close(sentence):
                continue
            if not self.said[GOAL] or _CORRECTED.search(lowered):
                _newest(self.said[GOAL], _line(sentence))
            if self.said[OPEN_WORK] and says_done(sentence):
                self._move(sentence)
            if not is_withdrawal and is_constraint(sentence):
                _newest(self.said[RULES], _line(sentence))
            elif _turns(lowered):
                _newest(self.said[TURNED], _line(sentence))

    def _answer(self, message: AssistantMessage) -> None:
        """Go on with what the model wrote and called."""
        for block in message.blocks:
            if block.type == "text":
                self._prose(block.text)
            elif block.type == "tool_call":
                self.calls[block.id] = block
                self._called(block)

    def _prose(self, text: str) -> None:
        """What the model's words say of finished work and reversed decisions."""
        may_turn = _TURNED.search(text.lower()) is not None
        if not may_turn and not self.said[OPEN_WORK]:
            return
        for sentence in sentences(text):
            if self.said[OPEN_WORK] and says_done(sentence):
                self._move(sentence)
            elif may_turn and _turns(sentence.lower()):
                _newest(self.said[TURNED], _line(sentence))

    def _called(self, call: ToolCall) -> None:
        """What a call says of the plan, of what runs, and of skills."""
        self._plan(call)
        tool = tool_name(call.name)
        if tool in _SPAWN or call.arguments.get("run_in_background") is True:
            about = _first_text([call.arguments.get(key) for key in _TASK_KEYS])
            self.running[call.id] = f"{call.id} {call.name}: {_line(about)[:120]}"
        if tool == "skill":
            name = _first_text(call.arguments.values())
            if name:
                self.said["Skills"][_line(name)] = None

    def _plan(self, call: ToolCall) -> None:
        """The open and the finished items of a task list, if the call sets one."""
        items = list(task_items(call.arguments))
        if not items:
            return
        open_work: dict[str, None] = {}
        finished_work = self.said[DONE]
        for text, status in items:
            if status in OPEN:
                open_work[_line(text)] = None
            elif status not in GIVEN_UP:
                finished_work[_line(text)] = None
        for line in open_work:
            finished_work.pop(line, None)
        self.said[OPEN_WORK] = open_work

    def _result(self, call: ToolCall, message: ToolResult) -> None:
        """Go on with the answer to a call."""
        if self.running:
            self._runs(call, plain_text(message), message.is_error)
        if not message.is_error:
            self._touch(call)

    def _runs(self, call: ToolCall, text: str, failed: bool) -> None:
        """What the answer to a call says of what runs."""
        tool = tool_name(call.name)
        in_background = call.arguments.get("run_in_background") is True
        if call.id in self.running and (failed or not in_background):
            del self.running[call.id]
        elif in_background and call.id in self.running:
            name = _BACKGROUND_ID.search(text)
            if name is not None:
                self.running[call.id] += f" ({name.group(1)})"
        elif _STOP.search(tool) or _ENDED.search(text[:400]):
            for value in call.arguments.values():
                if isinstance(value, str) and value:
                    self._ended(value)

    def _ended(self, name: str) -> None:
        """What runs under this name has ended."""
        for call_id, line in list(self.running.items()):
            if f"({name})" in line:
                del self.running[call_id]

    def _touch(self, call: ToolCall) -> None:
        """The files that a call read, changed or deleted."""
        files = touched(call.name, call.arguments)
        for path in map(normal_path, files.read):
            self.files.setdefault(path, "Files read")
        for path in map(normal_path, files.modified):
            section = self.files.pop(path, "")
            is_new = _CREATES.search(call.name) and section not in ("Files read", "Files edited")
            if is_new or section == "Files created":
                self.files[path] = "Files created"
            else:
                self.files[path] = "Files edited"
        deleted = _deleted(call)
        if tool_name(call.name) == "delete_file":
            deleted += files.modified
        for path in map(normal_path, deleted):
            if path in self.files:
                del self.files[path]
                self.files[path] = "Files deleted"

    def _move(self, sentence: str) -> None:
        """An item that a line says is finished is done."""
        for item in list(self.said[OPEN_WORK]):
            if _about(item, sentence):
                del self.said[OPEN_WORK][item]
                _newest(self.said[DONE], item)

    def _close(self, sentence: str) -> bool:
        """What the user withdrew stands nowhere any more; whether there was such a thing."""
        is_closed = False
        for section in (self.said[GOAL], self.said[RULES], self.said[OPEN_WORK]):
            for item in list(section):
                if _about(item, sentence):
                    del section[item]
                    is_closed = True
        return is_closed


def _first_text(values: Iterable[Json]) -> str:
    """The first of these values that is a text; empty without any."""
    for value in values:
        if isinstance(value, str):
            return value
    return ""


def _deleted(call: ToolCall) -> list[str]:
    """The paths that a patch or a command in a call deletes."""
    paths: list[str] = []
    for value in call.arguments.values():
        if isinstance(value, str) and "*** Delete File: " in value:
            paths += _PATCH_DELETED.findall(value)
    command = call.arguments.get("command")
    if isinstance(command, str) and "rm " in command:
        paths += _DELETED.findall(command)
    return paths


def _turns(lowered: str) -> bool:
    """Whether a sentence of prose tells as a fact that a decision was reversed."""
    prose = len(lowered) <= LINE and not lowered.startswith("|")
    return prose and _TURNED.search(lowered) is not None and _UNSURE.search(lowered) is None


def _about(item: str, sentence: str) -> bool:
    """Whether a sentence has enough words of an item to speak of it."""
    item_words, sentence_words = words(item), set(words(sentence))
    if not item_words:
        return False
    shared_count = sum([word in sentence_words for word in item_words])
    return shared_count >= max(ALIKE * len(item_words), min(2, len(item_words)))


def _newest(section: dict[str, None], line: str) -> None:
    """Put a line at the end of a section."""
    section.pop(line, None)
    if line:
        section[line] = None


def _line(text: str) -> str:
    return head(" ".join(harmless(text).split()), LINE)
