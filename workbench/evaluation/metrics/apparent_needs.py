"""Which needs only look like needs: an answer uses the name, but did not need the history for it.

A demand counts every name of the history that an answer uses. That is fair to all strategies, which
meet the same chance hits, but a single one that is shown as a loss must be one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from workbench.engine.extraction.entities import Kind
from workbench.engine.extraction.words import SPAN_CHARS
from workbench.engine.transcript.files import (
    CHANGES,
    patched_texts,
    replaced_texts,
    tool_name,
    touched,
)
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    argument_texts,
)
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.shell_edits import shell_edits
from workbench.evaluation.metrics.sources import shell_command

Form: TypeAlias = Literal["words", "quoted", "added", "file", "argument"]
"""`words`: an answer's own. `quoted`: code that an edit replaces or keeps. `added`: lines that an
edit adds. `file`: a file that is written as a whole. `argument`: any other argument of a call.
"""


@dataclass(frozen=True, slots=True)
class UseText:
    """A text of an answer with its form; `path` is the file that it is written to, if one is."""

    text: str
    form: Form
    path: str = ""


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
        if _is_placeholder(name) or name in self._tool_words or self._is_enumeration(need):
            return True
        if _is_style(need, need.evidence_text) or _is_style(need, need.use_text):
            return True
        if not _stands_alone(need, need.use_text) or not _stands_alone(need, need.evidence_text):
            return True
        if _is_of_everybody(name, need.use_text) or _is_cut_or_code(need):
            return True
        if need.entity.kind == "number" and _agrees_by_chance(need):
            return True
        if _is_habit(need):
            return True
        use = _text_of_use(self._index.messages[need.use], need.use_text)
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


_PLACEHOLDER = re.compile(
    r"#?(\w)\1{5,}|#\d{6}|\d{16,}|0?123456\d*|abc123\w*|deadbeef\w*", re.IGNORECASE
)


def _is_placeholder(name: str) -> bool:
    """Whether a name stands for any: one digit repeated, digits in order, a colour."""
    return _PLACEHOLDER.fullmatch(name) is not None


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


_STANDARD = (
    "document|window|navigator|console|process|Math|JSON|Object|Array|Promise|Number|String|Date"
    "|http|https|fmt|os|io|strings|bytes|json|time|sync|context|errors|filepath|exec|reflect|strconv|sort|url"
    "|sys|re|subprocess|asyncio|logging|pathlib|typing|datetime|math|random|collections|itertools|functools"
    "|np|pd|plt|torch|std|System|assert|require|expect|vi|jest|pytest|unittest|t"
)
"""Packages and objects whose members any model knows."""
_KNOWN = re.compile(
    r"[A-Z]{2,}(?:e?s|ed|ing)|ETag|OAuth2?|GitHub|JavaScript|TypeScript|YouTube|macOS|iOS|LaTeX|DevOps"
    r"|XDG_\w+|[Ff]orEach|[Tt]oString|innerHTML|textContent|querySelector(?:All)?|addEventListener|getElementById"
    r"|get(?:ComputedStyle|BoundingClientRect|Attribute)|setAttribute|preventDefault|stopPropagation"
    r"|(?:border|padding|margin|font|background|line)(?:Top|Bottom|Left|Right|Color|Width|Height|Size|Radius|Weight|Family|Image)\w*"
    r"|(?:inner|outer|client|scroll|offset)(?:Width|Height|Top|Left)"
    r"|currentColor|viewBox|stroke(?:Width|Linecap|Linejoin)|IPv[46]|(?:README|CHANGELOG|CONTRIBUTING|CLAUDE)\.md"
    r"|to(?:Be|Have|Equal|Contain|Match|Throw)[A-Z]\w*|toBe|toEqual|(?:find|get|query)(?:All)?By[A-Z]\w*|(?:before|after)(?:Each|All)"
    r"|use(?:State|Effect|Memo|Ref|Callback)|set(?:Timeout|Interval)|className|hasOwnProperty|isinstance|__\w+__"
)
"""Words and names that any model knows."""


def _is_of_everybody(name: str, line: str) -> bool:
    """Whether any model knows a name: a common word, or a member of a standard library."""
    if _KNOWN.fullmatch(name):
        return True
    member = re.compile(rf"(?<![\w.])(?:{_STANDARD})\.{re.escape(name)}\b")
    occurrences = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", line))
    return occurrences > 0 and len(member.findall(line)) == occurrences


_COORDINATES = re.compile(r"(?:[A-Za-z]?[-+]?\d*\.?\d+(?!\d)[\s,]*){4,}")


_STATUS_CODE = re.compile(r"(?:20[124]|30[1-478]|4[0-2]\d|50[0-4]) s")
"""A status of HTTP in the plural (`401s`), which looks like seconds."""
NEAR = 40
"""Characters on both sides of a number in which what it is the number of stands."""
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")


def _agrees_by_chance(need: Need) -> bool:
    """Whether a number is the number of something else in its evidence and in its use."""
    name = need.entity.text
    if _STATUS_CODE.fullmatch(name):
        return True
    if _is_in_drawing(name, need.evidence_text) or _is_in_drawing(name, need.use_text):
        return True
    of_evidence = _words_near(name, need.evidence_text)
    of_use = _words_near(name, need.use_text)
    return of_evidence.isdisjoint(of_use)


def _words_near(name: str, line: str) -> set[str]:
    """The words near a number in a line; all of the line's where its spelling differs."""
    spelling = name.split(" ")[0]
    places = [match.span() for match in re.finditer(re.escape(spelling), line)]
    if not places:
        places = [(0, len(line))]
    near: set[str] = set()
    for start, end in places:
        surroundings = line[max(0, start - NEAR) : end + NEAR].lower()
        near.update(_LONG_WORD.findall(surroundings))
    return near


def _is_in_drawing(name: str, line: str) -> bool:
    """Whether a number is one of many in a row, as the coordinates of a drawing are."""
    number = re.compile(rf"(?<![\d.]){re.escape(name)}(?![\d.]*\d)")
    rows = [match.span() for match in _COORDINATES.finditer(line)]
    is_named = False
    for match in number.finditer(line):
        is_named = True
        if not _is_in_a_row(match.start(), rows):
            return False
    return is_named


def _is_in_a_row(place: int, rows: Iterable[tuple[int, int]]) -> bool:
    """Whether a place lies between the start and the end of one of some rows."""
    return any(start <= place < end for start, end in rows)


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


def _text_of_use(answer: Message, line: str) -> UseText | None:
    """The first text of an answer that holds a line; None where none does, as in a quotation."""
    for text in _texts_of_uses(answer):
        if line in text.text:
            return text
    return None


def _texts_of_uses(answer: Message) -> Iterator[UseText]:
    """The texts of an answer, in order."""
    for block in answer.blocks:
        if isinstance(block, Text):
            yield UseText(block.text, "words")
        elif isinstance(block, ToolCall):
            yield from _texts_of_call(block)


def _texts_of_call(call: ToolCall) -> Iterator[UseText]:
    """The texts of a call. What an edit replaces comes first, since it keeps most of that."""
    command = shell_command(call)
    if command:
        for file in shell_edits(command).written:
            yield UseText(file.text, "file", file.path)
    if tool_name(call.name) not in CHANGES:
        for text in argument_texts(call.arguments):
            yield UseText(text, "argument")
        return
    for text in replaced_texts(call.arguments):
        yield UseText(text, "quoted")
    paths = touched(call.name, call.arguments).modified
    is_edit = next(replaced_texts(call.arguments), None) is not None
    for text in argument_texts(call.arguments):
        if text in paths:
            yield UseText(text, "argument")
            continue
        for quoted in patched_texts(text):
            yield UseText(quoted, "quoted")
            is_edit = True
        if is_edit:
            yield UseText(text, "added")
        else:
            yield UseText(text, "file", paths[0] if paths else "")


_OUTPUT = re.compile(
    r"\s*(?:\d+\s*[→\t|]|\d+[:-]|[\w./-]+\.\w+:\d+[:-]|--- (?:PASS|FAIL|SKIP)|=== RUN|ok\s+\S+\s+\d|[+-]{3} [ab]/|@@ )"
)
"""How a line begins that a tool shows: with its number, its file and number, a test's result."""


_STYLE_UNITS = (" %", " px", " rem", " em")


def _is_made_there(need: Need, use: UseText) -> bool:
    """Whether the use itself makes the name, or repeats what a tool shows."""
    name, kind = need.entity.text, need.entity.kind
    if use.form == "argument":
        return need.way_back == "agent" and kind in ("identifier", "quote")
    if use.form == "words":
        return _is_output(use.text, need.use_text)
    if use.form not in ("added", "file"):
        return False
    if kind == "quote" or (kind == "number" and name.endswith(_STYLE_UNITS)):
        return True
    return kind == "identifier" and _declares(name, need.use_text)


def _is_output(text: str, line: str) -> bool:
    """Whether an answer's words hold a line only as the output of a tool."""
    is_held = False
    for raw_line in text.split("\n"):
        if line not in raw_line:
            continue
        is_held = True
        if not _OUTPUT.match(raw_line):
            return False
    return is_held


def _declares(name: str, line: str) -> bool:
    """Whether code makes a local variable of this name."""
    if not name[:1].islower():
        return False
    escaped = re.escape(name)
    declaration = (
        rf"\b(?:const|let|var|val|auto|for)\s+\(?(?:const |let |var )?(?:[\w,{{\[ ]*?\b)?{escaped}\b(?!\s*[(.])"
        rf"|(?:^|[\s,(]){escaped}(?:\s*,\s*\w+)*\s*:=|^\s*{escaped}\s*=(?!=)"
    )
    return re.search(declaration, line) is not None
