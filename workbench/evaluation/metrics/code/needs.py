"""Which lines of code an agent needed of the history: those that it edits or quotes afterwards."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from workbench.engine.transcript.message import AssistantMessage, Message
from workbench.evaluation.metrics.code.lines import compared_lines, is_specific
from workbench.evaluation.metrics.code.uses import CodeUses, code_uses, spoken_texts
from workbench.evaluation.metrics.demand import HORIZON
from workbench.evaluation.metrics.shell_edits import NumberedLines, WrittenFile

FEWEST_IN_A_PIECE = 2
"""Words that a piece of a line needs in order to say which line it is of."""
MOST_IN_A_RANGE = 400
"""Lines that one range of numbers may name; a longer one names the rest of a file."""
_NUMBERED = re.compile(r"^[ \t]*(\d+)(?:\t|→|\s?\||:)(.*)$", re.MULTILINE)
_NAME = re.compile(r"[\w.-]+")
_PATH = re.compile(r"(?<![\w./~-])[\w.~-]*/[\w./~-]+")
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Surroundings:
    """Where a line stands.

    Attributes:
        neighbours: the lines before and behind it, wherever the recording has it.
        files: names of the files that the call before it names.
    """

    neighbours: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)


class CodeNeeds:
    """The lines of code that a recording uses, and which of them stood before any boundary.

    A line that is edited was somewhere before; a file that is written as a whole needs what it
    keeps of lines that were there, if the history knows the file. What the agent writes anew needs
    nothing.

    Args:
        messages: the whole recording.

    Attributes:
        lines: each line of the history that is used later, as it is compared.
        surroundings: by line, where it stands.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._uses: dict[int, CodeUses] = {}
        for place, message in enumerate(messages):
            if not isinstance(message, AssistantMessage):
                continue
            uses = code_uses(message)
            if _uses_any(uses):
                self._uses[place] = uses
        self._history = _History()
        self._used_in: dict[int, list[str]] = {}
        self.surroundings: dict[str, Surroundings] = {}
        if self._uses:
            self._read()
        all_lines = chain.from_iterable(self._used_in.values())
        self.lines = tuple(dict.fromkeys(all_lines))
        self.surroundings = self._look_around()

    @property
    def distinct_lines(self) -> Collection[str]:
        """Each line of the recording once; none where no line is needed."""
        return self._history.first_message.keys()

    def at(self, boundary: int) -> tuple[str, ...]:
        """The lines of `messages[:boundary]` that the next answers use, each once."""
        first_message = self._history.first_message
        lines: dict[str, None] = {}
        horizon = boundary + HORIZON
        for place in range(boundary, horizon):
            used_lines = self._used_in.get(place, ())
            for line in used_lines:
                if first_message[line] < boundary:
                    lines[line] = None
        return tuple(lines)

    def _read(self) -> None:
        """Goes through the recording; an answer's uses are looked up in what was said before it."""
        for place, message in enumerate(self._messages):
            uses = self._uses.get(place)
            if uses is not None:
                used_lines = self._history.used_lines(uses)
                distinct_lines = dict.fromkeys(used_lines)
                specific_lines = filter(is_specific, distinct_lines)
                self._used_in[place] = list(specific_lines)
            self._history.add(place, message)

    def _look_around(self) -> dict[str, Surroundings]:
        surroundings: dict[str, Surroundings] = {}
        for line in self.lines:
            surroundings[line] = Surroundings()
        if not surroundings:
            return surroundings
        files: set[str] = set()
        for message in self._messages:
            texts = list(spoken_texts(message))
            if isinstance(message, AssistantMessage):
                files = set()
                for text in texts:
                    files |= named_files(text)
            for text in texts:
                lines = list(compared_lines(text))
                _add_neighbours(surroundings, lines)
                needed_lines = surroundings.keys() & lines
                for line in needed_lines:
                    surroundings[line].files |= files
        return surroundings


def _add_neighbours(surroundings: dict[str, Surroundings], lines: Sequence[str]) -> None:
    """Note for each needed line the lines that it stands next to in a text."""
    for line, next_line in pairwise(lines):
        if line in surroundings:
            neighbours = surroundings[line].neighbours
            neighbours.add(next_line)
        if next_line in surroundings:
            neighbours = surroundings[next_line].neighbours
            neighbours.add(line)


def _uses_any(uses: CodeUses) -> bool:
    return bool(uses.texts or uses.pieces or uses.numbered or uses.written)


class _History:
    """The lines before an answer, as a whole, by number in their file, and by pieces."""

    def __init__(self) -> None:
        self.first_message: dict[str, int] = {}
        self._file_names: set[str] = set()
        self._named_in_call: list[str] = []
        self._numbered: dict[str, dict[int, str]] = defaultdict(dict)
        self._text = ""
        self._new_lines: list[str] = []

    def add(self, place: int, message: Message) -> None:
        """One more message."""
        is_answer = isinstance(message, AssistantMessage)
        if is_answer:
            self._named_in_call = []
        for text in spoken_texts(message):
            for line in compared_lines(text):
                if line not in self.first_message:
                    self.first_message[line] = place
                    self._new_lines.append(line)
            names = file_names(text)
            self._file_names |= names
            if is_answer:
                self._named_in_call += names
            else:
                self._add_numbered(text)

    def used_lines(self, uses: CodeUses) -> Iterator[str]:
        """The lines of the history that some uses are of."""
        for text in uses.texts:
            yield from self._lines_of(text)
        for file in uses.written:
            yield from self._lines_kept(file)
        for numbered in uses.numbered:
            yield from self._lines_by_number(numbered)
        for piece in uses.pieces:
            yield from self._lines_with(piece)

    def _lines_of(self, text: str) -> Iterator[str]:
        for line in compared_lines(text):
            if line in self.first_message:
                yield line

    def _lines_kept(self, file: WrittenFile) -> Iterator[str]:
        file_name = base_name(file.path)
        if file_name in self._file_names:
            yield from self._lines_of(file.text)

    def _lines_by_number(self, numbered: NumberedLines) -> Iterator[str]:
        file_name = base_name(numbered.path)
        lines = self._numbered.get(file_name, {})
        largest_number = numbered.begin + MOST_IN_A_RANGE
        last_number = min(numbered.end, largest_number)
        for number in range(numbered.begin, last_number + 1):
            if number in lines:
                line = lines[number]
                yield from self._lines_of(line)

    def _lines_with(self, piece: str) -> Iterator[str]:
        """The shortest line that has the words of a piece in their order, unless it is a line
        itself.
        """
        words = _WORD.findall(piece)
        if len(words) < FEWEST_IN_A_PIECE:
            return
        if self._new_lines:
            parts = (self._text, *self._new_lines)
            self._text = "\n".join(parts)
            self._new_lines = []
        escaped_words = [re.escape(word) for word in words]
        pattern = r"[^\n]*?".join(escaped_words)
        lines: list[str] = []
        for match in re.finditer(pattern, self._text):
            line = self._line_around(match.start())
            lines.append(line)
        if lines:
            yield min(lines, key=len)

    def _line_around(self, place: int) -> str:
        begin = self._text.rfind("\n", 0, place) + 1
        end = self._text.find("\n", place)
        if end < 0:
            return self._text[begin:]
        return self._text[begin:end]

    def _add_numbered(self, text: str) -> None:
        """Lines with numbers are of the files that the call before them names."""
        lines: dict[int, str] = {}
        for written_number, line in _NUMBERED.findall(text):
            number = int(written_number)
            lines[number] = line
        if not lines:
            return
        for name in self._named_in_call:
            self._numbered[name] |= lines


def file_names(text: str) -> set[str]:
    """What may be the name of a file in a text, without its folder."""
    names = _NAME.findall(text)
    return set(filter(_has_dot_inside, names))


def named_files(text: str) -> set[str]:
    """The files that a call's text names by a path, or that are all of the text."""
    paths = [text]
    if " " in text or "\n" in text:
        paths = _PATH.findall(text)
    names = [base_name(path) for path in paths]
    return set(filter(_has_dot_inside, names))


def _has_dot_inside(name: str) -> bool:
    """Whether a name has a dot that is not at one of its ends, as names of files have."""
    inner_name = name.strip(".")
    return "." in inner_name


def base_name(path: str) -> str:
    """The last part of a path."""
    _, _, name = path.rstrip("/").rpartition("/")
    return name
