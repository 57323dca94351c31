"""Which needs only look like needs: an answer uses the name, but did not need the history for it.

A demand counts every name of the history that an answer uses. That is fair to all strategies, which
meet the same chance hits, but a single one that is shown as a loss must be one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from workbench.engine.transcript.message import AssistantMessage, Message
from workbench.evaluation.metrics.defined_names import DEFINITION, defined_names
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.known_names import is_known, is_member_of_library
from workbench.evaluation.metrics.library_names import LibraryNames
from workbench.evaluation.metrics.need import Need
from workbench.evaluation.metrics.numbers_by_chance import agrees_by_chance
from workbench.evaluation.metrics.pieces import is_piece
from workbench.evaluation.metrics.same_names import is_of_other_folder
from workbench.evaluation.metrics.sources import tools_of_script
from workbench.evaluation.metrics.uses import UseText, declares, is_output, text_of_use


class ApparentNeeds:
    """Tells the needs of one session that only look like needs."""

    def __init__(self, index: InvertedIndex) -> None:
        self._index = index
        self._folder_pairs = set(_folder_pairs(index.paths))
        self._tool_words = _tool_words(index.messages)
        self._answers: dict[tuple[object, ...], bool] = {}

    def is_apparent(self, need: Need) -> bool:
        """Whether a need only looks like one; many contexts lose the same."""
        question = need.entity, need.evidence, need.evidence_text, need.use, need.use_text
        if question not in self._answers:
            self._answers[question] = self._looks_like_one(need)
        return self._answers[question]

    def _looks_like_one(self, need: Need) -> bool:
        if self._is_no_name(need) or _is_habit(need):
            return True
        if need.entity.kind == "number" and agrees_by_chance(need):
            return True
        use = text_of_use(self._index.messages[need.use], need.use_text)
        if use is None:
            return False
        if use.form == "file" and use.path.endswith(_IGNORE_FILES):
            return True
        if self._is_written_again(need, use) or self._is_not_of_project(need, use):
            return True
        return _is_made_there(need, use)

    def _is_no_name(self, need: Need) -> bool:
        """Whether a thing is no name of the project, or stands in its lines as a piece."""
        name = need.entity.text
        if is_known(name) or _is_placeholder(name):
            return True
        if self._is_word_of_tool(name) or self._is_enumeration(need):
            return True
        if is_piece(need) or self._is_brand(need) or is_of_other_folder(need):
            return True
        return is_member_of_library(name, need.use_text) or self._is_of_library(need)

    def _is_of_library(self, need: Need) -> bool:
        """Whether a name of code is a library's, as the session's imports show."""
        if need.entity.kind not in ("identifier", "error"):
            return False
        return self._library_names.gives(need.entity.text, need.use_text)

    @cached_property
    def _library_names(self) -> LibraryNames:
        return LibraryNames(self._index.texts, self._index.paths)

    def _is_word_of_tool(self, name: str) -> bool:
        """Whether a name is a tool's or an argument's, or the end of one (`mcp_x_push_files`)."""
        if name in self._tool_words:
            return True
        if "_" not in name:
            return False
        ending = f"_{name}"
        return any(word.endswith(ending) for word in self._tool_words)

    def _is_enumeration(self, need: Need) -> bool:
        """Whether slashes join words of a list, as in `tea/coffee/milk`.

        Nothing tells it from a folder but that no other path leads through two of its parts.
        """
        if need.entity.kind != "path" or not _PLAIN_PARTS.fullmatch(need.entity.text):
            return False
        parts = need.entity.text.split("/")
        pairs = pairwise(parts)
        return self._folder_pairs.isdisjoint(pairs)

    def _is_brand(self, need: Need) -> bool:
        """Whether a name of two words in one (`OpenInference`) stands in prose only, as the name of
        a product does.
        """
        name = need.entity.text
        if not _PROPER_NAME.fullmatch(name) or not _is_in_prose(name, need.use_text):
            return False
        entity = self._index.extractor.entities[need.entity]
        for span in self._index.spans_with_entity(entity).tolist():
            line = self._index.texts[span]
            if not _is_in_prose(name, line):
                return False
        return True

    def _is_written_again(self, need: Need, use: UseText) -> bool:
        """Whether a line of code is written, in a file or in the agent's words, as it was said
        before; in an argument, a line that defines something.

        What of a file must be known for that is measured line by line, see `code`.
        """
        is_code = _MARKS_OF_CODE.search(need.use_text) is not None
        if use.form == "argument":
            is_code = is_code and DEFINITION.search(need.use_text) is not None
        if use.form not in ("file", "words", "argument") or not is_code:
            return False
        first_message = self._first_said.get(_squeezed(need.use_text), need.use)
        return first_message < need.use

    def _is_not_of_project(self, need: Need, use: UseText) -> bool:
        """Whether code that the agent writes has a name that no line of the recording defines: it
        may be a library's, which a model knows.
        """
        if use.form not in ("added", "file", "argument"):
            return False
        if need.entity.kind not in ("identifier", "error"):
            return False
        return need.entity.text not in self._defined_names

    @cached_property
    def _defined_names(self) -> frozenset[str]:
        return defined_names(self._index.texts) | self._library_names.of_project

    @cached_property
    def _first_said(self) -> dict[str, int]:
        """By squeezed line the first message that says it."""
        first_by_line: dict[str, int] = {}
        for span, first_message in enumerate(self._index.span_first.tolist()):
            line = _squeezed(self._index.texts[span])
            first_by_line[line] = min(first_message, first_by_line.get(line, first_message))
        return first_by_line


_PLAIN_PARTS = re.compile(r"\.?[A-Za-z0-9_]+(?:/[A-Za-z0-9_]+){2,}")


def _folder_pairs(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each two parts that follow on each other in a path that is no mere list of words."""
    for path in paths:
        if _PLAIN_PARTS.fullmatch(path):
            continue
        parts = path.split("/")
        yield from pairwise(parts)


def _tool_words(messages: Sequence[Message]) -> set[str]:
    """The names of the tools, of their arguments and of their commands: each request tells them."""
    words: set[str] = set()
    for message in messages:
        if not isinstance(message, AssistantMessage):
            continue
        for call in message.calls:
            words |= {call.name, *call.arguments}
            command = call.arguments.get("command")
            if isinstance(command, str) and command.isidentifier():
                words.add(command)
            script = call.arguments.get("input")
            if isinstance(script, str):
                words.update(tools_of_script(script))
    return words


_GUTTER = re.compile(r"\d+\||[+-]\s")
"""The number of a line, or the mark of a line in a comparison of two files."""


def _squeezed(line: str) -> str:
    """A line without its number or mark, blanks, and the comma at its end."""
    without_number = _GUTTER.sub("", line, count=1)
    squeezed = "".join(without_number.split())
    return squeezed.rstrip(",")


_PLACEHOLDER = re.compile(
    r"#?(\w)\1{5,}|#\d{6}|\d{16,}|0?123456\d*|abc123\w*|deadbeef\w*|(?:[a-f]\d){3,}[a-f]?|(?:\d[a-f]){3,}\d?",
    re.IGNORECASE,
)


def _is_placeholder(name: str) -> bool:
    """Whether a name stands for any: one digit repeated, digits in order, digits and letters in
    turn, a colour.
    """
    return _PLACEHOLDER.fullmatch(name) is not None


_PROPER_NAME = re.compile(r"(?:[A-Z][a-z]+){2,}|[A-Z][a-z]*[A-Z][A-Za-z]*")
_MARKS_OF_CODE = re.compile(r"[{}=;<>`]|\w\(|\w\.[a-z]|::|->")


def _is_in_prose(name: str, line: str) -> bool:
    """Whether a line is of words and names a thing among them."""
    if _MARKS_OF_CODE.search(line):
        return False
    return re.search(rf"(?<!: )(?<![\w.@$\"']){re.escape(name)}(?![\w:\"'])", line) is not None


def _is_habit(need: Need) -> bool:
    """Whether the agent passes what it always passes: a program's flag, a command that any model
    knows, the name of an action.
    """
    name, kind = need.entity.text, need.entity.kind
    if kind == "flag":
        return True
    if kind == "command" and _KNOWN_COMMAND.match(name):
        return True
    if kind in ("command", "quote") and _USUAL_COMMAND.fullmatch(name):
        return True
    if need.way_back != "agent":
        return False
    is_action = name == need.use_text == need.evidence_text
    return kind == "identifier" and is_action


_KNOWN_COMMAND = re.compile(
    r"(?:git|gh|kubectl|curl|wget) |docker (?!exec|run)|(?:npm|pnpm|yarn|bun|pip) (?:ci|install|i|add|init|freeze)\b"
    r"|npx (?:tsc|eslint|prettier|jest|vitest)\b"
    r"|go (?:mod|build|vet|get)\b|cargo (?:build|check|add)\b|python3? -m (?:venv|pip|http)"
)
"""A command that names nothing of the project."""
_USUAL_COMMAND = re.compile(
    r"(?:npm|pnpm|yarn|bun) (?:run )?(?:start|test|build|dev)"
    r"|(?:vite|next) (?:dev|build|preview|start|lint)|tsc (?:-b|--noEmit|--build)"
    r"|cargo (?:run|test|fmt|clippy|bench|doc|clean)|go (?:test|run|fmt|generate|clean)"
    r"|dotnet (?:build|run|test|restore|publish)|make (?:all|build|test|clean|install|lint)"
    r"|mvn (?:test|clean|package|install|verify)|(?:\./gradlew|gradle) (?:build|test|clean|check)"
    r"|docker(?: |-)compose (?:up|down|ps|build|logs)|python3? -m (?:pytest|unittest(?: discover)?)"
)
"""A command that is all of a tool's own words, or of scripts that nearly each project has."""
_IGNORE_FILES = (".gitignore", ".dockerignore", ".npmignore", ".eslintignore", ".prettierignore")
"""Files that list what any project of the kind has."""
_STYLE_UNITS = (" %", " px", " rem", " em")


def _is_made_there(need: Need, use: UseText) -> bool:
    """Whether the use itself makes the name, or repeats what a tool shows."""
    name, kind = need.entity.text, need.entity.kind
    if use.form == "output":
        return True
    is_round_date = kind == "id" and _ROUND_DATE.fullmatch(name) is not None
    if use.form == "argument":
        is_own_word = need.way_back == "agent" and kind in ("identifier", "quote")
        return is_round_date or is_own_word
    if use.form == "words":
        return is_output(use.text, need.use_text)
    if use.form not in ("added", "file"):
        return False
    if kind == "quote" or (kind == "number" and name.endswith(_STYLE_UNITS)):
        return True
    if is_round_date:
        return True
    return kind == "identifier" and declares(name, need.use_text)


_ROUND_DATE = re.compile(r"\d{4}-(?:\d\d-01|12-31)")
"""The first day of a month or the last of a year, as dates of examples are."""
