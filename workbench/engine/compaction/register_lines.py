"""What a register says: the goal, rules, plan, decisions, files, running work and skills, found
by code.
"""

import re
from collections.abc import Mapping, Sequence
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
    lines_by_section: Mapping[str, Sequence[str]], max_tokens: int, context: Context
) -> UserMessage | None:
    """The block of these lines in at most so many tokens: the newest of each section stay; None
    where none fits.
    """
    shown_lines = {
        name: _newest_of(lines_by_section.get(name, ()), MOST.get(name, USUAL), name)
        for name in SECTIONS
    }
    while any(shown_lines.values()):
        body = "".join(
            f"{name}:\n" + "".join(f"- {line}\n" for line in shown_lines[name])
            for name in SECTIONS
            if shown_lines[name]
        )
        text = LEAD + body + TAIL
        id = "register-" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        block = UserMessage(id=id, blocks=(Text(text),), name=REGISTER, synthetic=True, pinned=True)
        if context.count(block) <= max_tokens:
            return block
        expendable = ("Files read", "Finished work", "Files created", "Files edited", "Skills")
        longest = next((name for name in expendable if shown_lines[name]), None) or max(
            shown_lines, key=lambda name: len(shown_lines[name])
        )
        start = 1 if longest == "Goal" and len(shown_lines[longest]) > 1 else 0
        del shown_lines[longest][start : start + max(len(shown_lines[longest]) // 4, 1)]
    return None


def _newest_of(lines: Sequence[str], max_lines: int, section: str) -> list[str]:
    """The newest lines; of the goal also the first, which the later ones correct."""
    oldest = list(lines[:1]) if section == "Goal" and len(lines) > max_lines else []
    return [*oldest, *lines[len(oldest) :][-(max_lines - len(oldest)) :]]


def entries(messages: Sequence[Message]) -> dict[str, list[str]]:
    """The register's lines by section, oldest first, as these messages have them."""
    state = _State()
    for message in messages:
        state.take(message)
    return state.lines()


class _State:
    """What a conversation amounts to, message by message."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, None]] = {name: {} for name in (*SECTIONS[:5], "Skills")}
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
        by_kind: dict[str, list[str]] = {}
        for path, kind in self.files.items():
            by_kind.setdefault(kind, []).append(path)
        lines_by_section = {name: list(lines) for name, lines in self.said.items()}
        return lines_by_section | by_kind | {"Running": list(self.running.values())}

    def _again(self, lines_by_section: Mapping[str, Sequence[str]]) -> None:
        """Take in an earlier register."""
        for name, section_lines in self.said.items():
            section_lines.update(dict.fromkeys(lines_by_section.get(name, ())))
        for kind in FILES:
            self.files.update(dict.fromkeys(lines_by_section.get(kind, ()), kind))
        self.running.update(
            {line.split(" ", 1)[0]: line for line in lines_by_section.get("Running", ())}
        )

    def _user(self, message: Message) -> None:
        for sentence in sentences(plain_text(message)):
            lowered = sentence.lower()
            withdrawn = withdraws(sentence)
            if withdrawn and self._close(sentence):
                continue
            if not self.said[GOAL] or _CORRECTED.search(lowered):
                _newest(self.said[GOAL], _line(sentence))
            if self.said[OPEN_WORK] and says_done(sentence):
                self._move(sentence)
            if not withdrawn and is_constraint(sentence):
                _newest(self.said[RULES], _line(sentence))
            elif _turns(lowered):
                _newest(self.said[TURNED], _line(sentence))

    def _answer(self, message: Message) -> None:
        for block in message.blocks:
            if block.type == "text":
                turned = _TURNED.search(block.text.lower()) is not None
                for sentence in sentences(block.text) if turned or self.said[OPEN_WORK] else ():
                    if self.said[OPEN_WORK] and says_done(sentence):
                        self._move(sentence)
                    elif turned and _turns(sentence.lower()):
                        _newest(self.said[TURNED], _line(sentence))
            elif block.type == "tool_call":
                self.calls[block.id] = block
                self._called(block)

    def _called(self, call: ToolCall) -> None:
        tool = tool_name(call.name)
        items = list(task_items(call.arguments))
        if items:
            self.said[OPEN_WORK] = {_line(text): None for text, status in items if status in OPEN}
            self.said[DONE] |= {
                _line(text): None for text, status in items if status not in OPEN | GIVEN_UP
            }
            self.said[DONE] = {
                line: None for line in self.said[DONE] if line not in self.said[OPEN_WORK]
            }
        if tool in _SPAWN or call.arguments.get("run_in_background") is True:
            about = next(
                (
                    v
                    for k in ("description", "command", "prompt")
                    if isinstance(v := call.arguments.get(k), str)
                ),
                "",
            )
            self.running[call.id] = f"{call.id} {call.name}: {_line(about)[:120]}"
        if tool == "skill":
            name = next((value for value in call.arguments.values() if isinstance(value, str)), "")
            self.said["Skills"].update({_line(name): None} if name else {})

    def _result(self, call: ToolCall, message: ToolResult) -> None:
        if self.running:
            self._runs(call, plain_text(message), message.is_error)
        if not message.is_error:
            self._touch(call)

    def _runs(self, call: ToolCall, text: str, failed: bool) -> None:
        """What the answer to a call says of what runs."""
        tool = tool_name(call.name)
        background = call.arguments.get("run_in_background") is True
        if call.id in self.running and (failed or not background):
            del self.running[call.id]
        elif background and call.id in self.running:
            name = next(iter(re.findall(r"\b(?:ID|id)\W+([\w-]+)", text)), "")
            self.running[call.id] = (
                f"{self.running[call.id]} ({name})" if name else self.running[call.id]
            )
        elif _STOP.search(tool) or _ENDED.search(text[:400]):
            named = [value for value in call.arguments.values() if isinstance(value, str) and value]
            for id, line in list(self.running.items()):
                if any(f"({value})" in line for value in named):
                    del self.running[id]

    def _touch(self, call: ToolCall) -> None:
        files = touched(call.name, call.arguments)
        values = [value for value in call.arguments.values() if isinstance(value, str)]
        deleted_paths = [
            path
            for text in values
            if "*** Delete File: " in text
            for path in _PATCH_DELETED.findall(text)
        ]
        command = call.arguments.get("command")
        deleted_paths += (
            _DELETED.findall(command) if isinstance(command, str) and "rm " in command else []
        )
        if tool_name(call.name) == "delete_file":
            deleted_paths += files.modified
        for path in map(normal_path, files.read):
            self.files.setdefault(path, "Files read")
        for path in map(normal_path, files.modified):
            new = _CREATES.search(call.name) and self.files.get(path) not in (
                "Files read",
                "Files edited",
            )
            kind = (
                "Files created"
                if new or self.files.get(path) == "Files created"
                else "Files edited"
            )
            self.files.pop(path, None)
            self.files[path] = kind
        for path in map(normal_path, deleted_paths):
            if path in self.files:
                del self.files[path]
                self.files[path] = "Files deleted"

    def _move(self, sentence: str) -> None:
        """An item that a line says is finished is done."""
        for item in [item for item in self.said[OPEN_WORK] if _about(item, sentence)]:
            del self.said[OPEN_WORK][item]
            _newest(self.said[DONE], item)

    def _close(self, sentence: str) -> bool:
        """What the user withdrew stands nowhere any more; whether there was such a thing."""
        closed = False
        for section in (self.said[GOAL], self.said[RULES], self.said[OPEN_WORK]):
            for item in [item for item in section if _about(item, sentence)]:
                del section[item]
                closed = True
        return closed


def _turns(lowered: str) -> bool:
    """Whether a sentence of prose tells as a fact that a decision was reversed."""
    prose = len(lowered) <= LINE and not lowered.startswith("|")
    return prose and _TURNED.search(lowered) is not None and _UNSURE.search(lowered) is None


def _about(item: str, sentence: str) -> bool:
    item_words, sentence_words = words(item), set(words(sentence))
    return len(item_words) > 0 and sum(word in sentence_words for word in item_words) >= max(
        ALIKE * len(item_words), min(2, len(item_words))
    )


def _newest(section: dict[str, None], line: str) -> None:
    section.pop(line, None)
    if line:
        section[line] = None


def _line(text: str) -> str:
    return head(" ".join(harmless(text).split()), LINE)
