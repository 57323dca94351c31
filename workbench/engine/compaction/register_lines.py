"""What a register says: goal, rules, plan, decisions, files, running work and skills."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from workbench.engine.compaction.plan import REGISTER
from workbench.engine.compaction.register_phrases import (
    as_line,
    background_id,
    corrects_goal,
    deleted_paths,
    first_text,
    in_background,
    may_end_work,
    may_reverse,
    purpose,
    speaks_of,
    starts_work,
    tells_reversal,
)
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
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.files import tool_name, touched
from workbench.engine.transcript.message import (
    AssistantMessage,
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
USUAL = 12
_CREATES = re.compile(r"write|create", re.IGNORECASE)


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
    """The block in at most so many tokens, newest lines first; None where none fits."""
    shown_lines: dict[str, list[str]] = {}
    for name in SECTIONS:
        max_lines = MOST.get(name, USUAL)
        lines = lines_by_section.get(name, ())
        shown_lines[name] = _newest_of(lines, max_lines, name)
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
    digest = sha256(text.encode("utf-8", "surrogatepass"))
    return UserMessage(
        id=f"register-{digest.hexdigest()[:12]}",
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


def _newest_of(
    lines: Sequence[str],
    max_lines: int,
    section: str,
) -> list[str]:
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
        self.said: dict[str, dict[str, None]] = {}
        for section in SAID:
            self.said[section] = {}
        self.files: dict[str, str] = {}
        self.running: dict[str, str] = {}
        self.calls: dict[str, ToolCall] = {}

    def take(self, message: Message) -> None:
        """Go on with a message."""
        if is_register(message):
            self._resume(parsed(plain_text(message)))
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
        lines_by_section: dict[str, list[str]] = {}
        for section, lines in self.said.items():
            lines_by_section[section] = list(lines)
        for path, section in self.files.items():
            lines_by_section.setdefault(section, []).append(path)
        lines_by_section["Running"] = list(self.running.values())
        return lines_by_section

    def _resume(self, lines_by_section: Mapping[str, Sequence[str]]) -> None:
        """Take in an earlier register."""
        for name, section_lines in self.said.items():
            section_lines.update(dict.fromkeys(lines_by_section.get(name, ())))
        for section in FILES:
            for path in lines_by_section.get(section, ()):
                self.files[path] = section
        for line in lines_by_section.get("Running", ()):
            call_id = line.split(" ", 1)[0]
            self.running[call_id] = line

    def _user(self, message: Message) -> None:
        """Go on with what a person wrote."""
        for sentence in sentences(plain_text(message)):
            lowered = sentence.lower()
            is_withdrawal = withdraws(sentence)
            if is_withdrawal and self._withdraw(sentence):
                continue
            if not self.said[GOAL] or corrects_goal(lowered):
                _put_last(self.said[GOAL], as_line(sentence))
            if self.said[OPEN_WORK] and says_done(sentence):
                self._finish(sentence)
            if not is_withdrawal and is_constraint(sentence):
                _put_last(self.said[RULES], as_line(sentence))
            elif tells_reversal(lowered):
                _put_last(self.said[TURNED], as_line(sentence))

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
        may_turn = may_reverse(text)
        if not may_turn and not self.said[OPEN_WORK]:
            return
        for sentence in sentences(text):
            if self.said[OPEN_WORK] and says_done(sentence):
                self._finish(sentence)
            elif may_turn and tells_reversal(sentence.lower()):
                _put_last(self.said[TURNED], as_line(sentence))

    def _called(self, call: ToolCall) -> None:
        """What a call says of the plan, of what runs, and of skills."""
        self._plan(call)
        if starts_work(call):
            self.running[call.id] = f"{call.id} {call.name}: {as_line(purpose(call))[:120]}"
        if tool_name(call.name) == "skill":
            name = first_text(call.arguments.values())
            if name:
                self.said["Skills"][as_line(name)] = None

    def _plan(self, call: ToolCall) -> None:
        """The open and the finished items of a task list, if the call sets one."""
        items = list(task_items(call.arguments))
        if not items:
            return
        open_work: dict[str, None] = {}
        finished_work = self.said[DONE]
        for text, status in items:
            if status in OPEN:
                open_work[as_line(text)] = None
            elif status not in GIVEN_UP:
                finished_work[as_line(text)] = None
        for line in open_work:
            finished_work.pop(line, None)
        self.said[OPEN_WORK] = open_work

    def _result(self, call: ToolCall, message: ToolResult) -> None:
        """Go on with the answer to a call."""
        if self.running:
            self._runs(call, plain_text(message), message.is_error)
        if not message.is_error:
            self._touch(call)

    def _runs(
        self,
        call: ToolCall,
        text: str,
        failed: bool,
    ) -> None:
        """What the answer to a call says of what runs."""
        if call.id in self.running and (failed or not in_background(call)):
            del self.running[call.id]
        elif call.id in self.running:
            name = background_id(text)
            if name:
                self.running[call.id] += f" ({name})"
        elif may_end_work(call, text):
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
        deleted = deleted_paths(call)
        if tool_name(call.name) == "delete_file":
            deleted += files.modified
        for path in map(normal_path, deleted):
            if path in self.files:
                del self.files[path]
                self.files[path] = "Files deleted"

    def _finish(self, sentence: str) -> None:
        """An item that a line says is finished is done."""
        for item in list(self.said[OPEN_WORK]):
            if speaks_of(sentence, item):
                del self.said[OPEN_WORK][item]
                _put_last(self.said[DONE], item)

    def _withdraw(self, sentence: str) -> bool:
        """What the user withdrew stands nowhere any more; whether there was such a thing."""
        is_closed = False
        for section in (GOAL, RULES, OPEN_WORK):
            for item in list(self.said[section]):
                if speaks_of(sentence, item):
                    del self.said[section][item]
                    is_closed = True
        return is_closed


def _put_last(section: dict[str, None], line: str) -> None:
    """Put a line at the end of a section."""
    section.pop(line, None)
    if line:
        section[line] = None
