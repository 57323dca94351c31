"""What a line alone says of a name in it: that it stands for any, that any model knows it, that it is
a number in a drawing, that the line makes it or is the output of a tool.
"""

import re
from collections.abc import Iterable

_PLACEHOLDER = re.compile(
    r"#?(\w)\1{5,}|#\d{6}|\d{16,}|0?123456\d*|abc123\w*|deadbeef\w*", re.IGNORECASE
)


def is_placeholder(name: str) -> bool:
    """Whether a name stands for any: one digit repeated, digits in order, a colour."""
    return _PLACEHOLDER.fullmatch(name) is not None


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


def is_of_everybody(name: str, line: str) -> bool:
    """Whether any model knows a name: a common word, or a member of a standard library."""
    if _KNOWN.fullmatch(name):
        return True
    member = re.compile(rf"(?<![\w.])(?:{_STANDARD})\.{re.escape(name)}\b")
    occurrences = len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", line))
    return occurrences > 0 and len(member.findall(line)) == occurrences


_COORDINATES = re.compile(r"(?:[A-Za-z]?[-+]?\d*\.?\d+(?!\d)[\s,]*){4,}")


NEAR = 40
"""Characters on both sides of a number in which what it is the number of stands."""
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")


def words_near(name: str, line: str) -> set[str]:
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


def is_in_drawing(name: str, line: str) -> bool:
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


_OUTPUT = re.compile(
    r"\s*(?:\d+\s*[→\t|]|\d+[:-]|[\w./-]+\.\w+:\d+[:-]|--- (?:PASS|FAIL|SKIP)|=== RUN|ok\s+\S+\s+\d|[+-]{3} [ab]/|@@ )"
)
"""How a line begins that a tool shows: with its number, its file and number, a test's result."""


def is_output(text: str, line: str) -> bool:
    """Whether an answer's words hold a line only as the output of a tool."""
    is_held = False
    for raw_line in text.split("\n"):
        if line not in raw_line:
            continue
        is_held = True
        if not _OUTPUT.match(raw_line):
            return False
    return is_held


def declares(name: str, line: str) -> bool:
    """Whether code makes a local variable of this name."""
    if not name[:1].islower():
        return False
    escaped = re.escape(name)
    declaration = (
        rf"\b(?:const|let|var|val|auto|for)\s+\(?(?:const |let |var )?(?:[\w,{{\[ ]*?\b)?{escaped}\b(?!\s*[(.])"
        rf"|(?:^|[\s,(]){escaped}(?:\s*,\s*\w+)*\s*:=|^\s*{escaped}\s*=(?!=)"
    )
    return re.search(declaration, line) is not None
