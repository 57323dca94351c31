"""Which needs only look like needs: an answer uses the name, but did not need the history for it.

A demand counts every name of the history that an answer uses. That is fair to all strategies, which
meet the same chance hits, but a single one that is shown as a loss must be one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from workbench.engine.extraction.entities import Kind
from workbench.engine.extraction.words import SPAN_CHARS
from workbench.engine.transcript.files import touched
from workbench.engine.transcript.message import AssistantMessage, Message
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.names_in_lines import (
    declares,
    is_in_drawing,
    is_of_everybody,
    is_output,
    is_placeholder,
    words_near,
)
from workbench.evaluation.metrics.shell_edits import shell_edits
from workbench.evaluation.metrics.sources import shell_command
from workbench.evaluation.metrics.use_texts import UseText, text_of_use

_BRANCH = re.compile(r"(?:origin|upstream|refs)/\S+")
_CODED = re.compile(r"[a-z]+(?:_[a-z]+)*_\d{5,}|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,12}")
_QUOTED_PATH = re.compile(r"(?:[a-z]:|~)?(?:[^/:]*/)+[^/:]*\.\w{1,5}|(?:[a-z]:|~)?/[^:]*")


def loss_kind(need: Need) -> Kind:
    """The kind of a lost thing, where its line says more than its form."""
    name, kind = need.entity.text, need.entity.kind
    if kind == "path" and _BRANCH.fullmatch(name):
        return "id"
    if kind == "identifier" and _CODED.fullmatch(name):
        return "id"
    if kind == "quote" and _QUOTED_PATH.fullmatch(name):
        return "path"
    if kind == "flag" and (f"var({name}" in need.evidence_text or not name.islower()):
        return "identifier"
    return kind


class ApparentNeeds:
    """Tells the needs of one session that only look like needs."""

    def __init__(self, index: InvertedIndex) -> None:
        self._index = index
        self._folder_pairs = set(_folder_pairs(index.paths))
        self._first_touched = _first_touched(index.messages)
        self._tool_words = _tool_words(index.messages)
        self._answers: dict[tuple[object, ...], bool] = {}

    def is_apparent(self, need: Need) -> bool:
        """Whether a need only looks like one; many contexts lose the same."""
        question = need.entity, need.evidence, need.evidence_text, need.use, need.use_text
        if question not in self._answers:
            self._answers[question] = self._looks_like_one(need)
        return self._answers[question]

    def _looks_like_one(self, need: Need) -> bool:
        name = need.entity.text
        if is_placeholder(name) or name in self._tool_words or self._is_enumeration(need):
            return True
        if _is_style(need, need.evidence_text) or _is_style(need, need.use_text):
            return True
        if not _stands_alone(need, need.use_text) or not _stands_alone(need, need.evidence_text):
            return True
        if is_of_everybody(name, need.use_text) or _is_cut_or_code(need):
            return True
        if need.entity.kind == "number" and _agrees_by_chance(need):
            return True
        if _is_habit(need):
            return True
        use = text_of_use(self._index.messages[need.use], need.use_text)
        if use is None:
            return False
        return self._is_written_again(need, use) or _is_made_there(need, use)

    def _is_enumeration(self, need: Need) -> bool:
        """Whether slashes join words of a list, as in `tea/coffee/milk`.

        Nothing tells it from a folder but that no other path leads through two of its parts.
        """
        if need.entity.kind != "path" or not _PLAIN_PARTS.fullmatch(need.entity.text):
            return False
        parts = need.entity.text.split("/")
        pairs = pairwise(parts)
        return self._folder_pairs.isdisjoint(pairs)

    def _is_written_again(self, need: Need, use: UseText) -> bool:
        """Whether a file is written as a whole that was known before, and this line is as it was.

        What of a file must be known for that is measured line by line, see `code`.
        """
        if use.form != "file":
            return False
        if use.path and self._first_touched.get(use.path.lower(), need.use) >= need.use:
            return False
        span = self._index.extractor.number(need.use_text)
        stood_before = span < self._index.spans and self._index.span_first[span] <= need.evidence
        return bool(stood_before) or _squeezed(need.use_text) == _squeezed(need.evidence_text)


_PLAIN_PARTS = re.compile(r"[A-Za-z0-9]+(?:/[A-Za-z0-9]+){2,}")


def _folder_pairs(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each two parts that follow on each other in a path that is no mere list of words."""
    for path in paths:
        if _PLAIN_PARTS.fullmatch(path):
            continue
        parts = path.split("/")
        yield from pairwise(parts)


def _first_touched(messages: Sequence[Message]) -> dict[str, int]:
    """By file the first message that reads or changes it."""
    first_by_file: dict[str, int] = {}
    for index, message in enumerate(messages):
        if not isinstance(message, AssistantMessage):
            continue
        for call in message.calls:
            files = touched(call.name, call.arguments)
            for path in (*files.read, *files.modified):
                first_by_file.setdefault(path.lower(), index)
            for file in shell_edits(shell_command(call)).written:
                first_by_file.setdefault(file.path.lower(), index)
    return first_by_file


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
    return words


def _squeezed(line: str) -> str:
    """A line without blanks and the comma at its end."""
    return "".join(line.split()).rstrip(",")


_STYLE = re.compile(r"\bclass(?:Name)?=[\"'`{]+[^\"'`]*$")
_NUMBERED_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*-\d{1,2}")


def _is_style(need: Need, line: str) -> bool:
    """Whether a name is a class of a page's style, or a word with a small number behind it."""
    if need.entity.kind == "id" and _NUMBERED_WORD.fullmatch(need.entity.text):
        return True
    place = line.lower().find(need.entity.text.lower())
    if place < 0:
        return False
    return _STYLE.search(line[:place]) is not None


_WHOLE_KINDS = frozenset({"number", "version", "hash", "identifier", "error", "id"})


def _stands_alone(need: Need, line: str) -> bool:
    r"""Whether a name stands in a line as itself, not as a piece of a longer word.

    An escape before it (`\nStore`) makes it a piece. Where its spelling differs it cannot be seen.
    """
    name, kind = need.entity.text, need.entity.kind
    if kind == "path" and f"*{name}" in line:
        return False
    if kind not in _WHOLE_KINDS:
        return True
    spelling = name.split(" ")[0] if kind == "number" else name
    if spelling not in line:
        return True
    begins, ends = r"(?<![\w\\])", r"(?![\w{])"
    if kind == "version":
        begins = r"(?<![\w\\])v?"
    if kind == "hash":
        ends = ""
    if kind == "number":
        begins, ends = r"(?<![\w\\/#@-])(?<!\d\.)", r"(?![/-]?\w)(?!\.\d)"
        if " " in name:
            ends = r"(?!\.?\d)"
    return re.search(begins + re.escape(spelling) + ends, line) is not None


_STATUS_CODE = re.compile(r"(?:20[124]|30[1-478]|4[0-2]\d|50[0-4]) s")
"""A status of HTTP in the plural (`401s`), which looks like seconds."""


def _agrees_by_chance(need: Need) -> bool:
    """Whether a number is the number of something else in its evidence and in its use."""
    name = need.entity.text
    if _STATUS_CODE.fullmatch(name):
        return True
    if is_in_drawing(name, need.evidence_text) or is_in_drawing(name, need.use_text):
        return True
    of_evidence = words_near(name, need.evidence_text)
    of_use = words_near(name, need.use_text)
    return of_evidence.isdisjoint(of_use)


def _is_cut_or_code(need: Need) -> bool:
    """Whether a name is the end of a line that was cut, or an error's text is code around one."""
    name, kind = need.entity.text, need.entity.kind
    if kind == "error" and " " in name and _CODE.search(name):
        return True
    if kind not in ("flag", "identifier", "path"):
        return False
    for line in (need.evidence_text, need.use_text):
        is_cut = len(line) >= SPAN_CHARS
        if is_cut and line.endswith(name) and line.count(name) == 1:
            return True
    return False


def _is_habit(need: Need) -> bool:
    """Whether the agent passes what it always passes: a flag that only it named, the name of an
    action.
    """
    if need.entity.kind in ("flag", "command") and _GIT.search(need.use_text):
        return True
    if need.way_back != "agent":
        return False
    is_action = need.entity.text == need.use_text == need.evidence_text
    return need.entity.kind == "flag" or (need.entity.kind == "identifier" and is_action)


_GIT = re.compile(r"(?:^|[\s;&|(`\"'])(?:git|gh)\s")
_CODE = re.compile(r"[`${};]|%[sdvwq]")


_STYLE_UNITS = (" %", " px", " rem", " em")


def _is_made_there(need: Need, use: UseText) -> bool:
    """Whether the use itself makes the name, or repeats what a tool shows."""
    name, kind = need.entity.text, need.entity.kind
    if use.form == "argument":
        return need.way_back == "agent" and kind in ("identifier", "quote")
    if use.form == "words":
        return is_output(use.text, need.use_text)
    if use.form not in ("added", "file"):
        return False
    if kind == "quote" or (kind == "number" and name.endswith(_STYLE_UNITS)):
        return True
    return kind == "identifier" and declares(name, need.use_text)
