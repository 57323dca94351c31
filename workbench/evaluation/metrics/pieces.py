"""Names that stand in a line only as a piece of something longer."""

import re

from workbench.engine.extraction.words import SPAN_CHARS
from workbench.evaluation.metrics.need import Need


def is_piece(need: Need) -> bool:
    """Whether a thing is a piece of a longer word or name, of a page's style, or of a line that was
    cut.
    """
    if _is_in_template(need) or _is_piece_of_its_kind(need) or _is_cut_or_code(need):
        return True
    for line in (need.evidence_text, need.use_text):
        if _is_style(need, line):
            return True
        if not _stands_alone(need, line):
            return True
    return False


def _is_in_template(need: Need) -> bool:
    """Whether the use is the scheme of a path, as `runs/<time>/result.json`, and no path."""
    if need.entity.kind != "path":
        return False
    file_name = need.entity.text.rpartition("/")[2]
    return re.search(r"[>}]/" + re.escape(file_name), need.use_text) is not None


_PIECE = {
    "url": re.compile(r".*[{<\[].*|.*[-_=&?]"),
    "path": re.compile(r"@[^/]*\..*"),
    "quote": re.compile(r"[^a-z]*"),
}
"""By kind what is cut out of something longer: an address before a placeholder, an account's
address, numbers in quotation marks.
"""


def _is_piece_of_its_kind(need: Need) -> bool:
    """Whether a thing is no more than a piece of its kind, or a member that looks like a file
    (`reply.json["id"]`).
    """
    name, kind = need.entity.text, need.entity.kind
    if kind == "path" and "/" not in name:
        member = re.escape(name) + r"[\[(]"
        if re.search(member, need.evidence_text) or re.search(member, need.use_text):
            return True
    if kind == "path" and _is_before_blank(name, need.evidence_text):
        return True
    piece = _PIECE.get(kind)
    return piece is not None and piece.fullmatch(name) is not None


_STYLE = re.compile(r"\bclass(?:Name)?=[\"'`{]+[^\"'`]*$")
_NUMBERED_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*-\d{1,2}(?:xl)?")


def _is_style(need: Need, line: str) -> bool:
    """Whether a name is a class of a page's style, or a word with a small number behind it."""
    if need.entity.kind == "id" and _NUMBERED_WORD.fullmatch(need.entity.text):
        return True
    place = line.lower().find(need.entity.text.lower())
    if place < 0:
        return False
    return _STYLE.search(line[:place]) is not None


def _is_before_blank(path: str, line: str) -> bool:
    r"""Whether a folder's name goes on after a blank, as in `C:\Program Files\Git`."""
    folder = re.escape(path.rpartition("/")[2])
    return re.search(rf"\\{folder} [A-Z][\w ()]*\\", line) is not None


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


def _is_cut_or_code(need: Need) -> bool:
    """Whether a name is the end of a line that was cut, or an error's text is code around one."""
    name, kind = need.entity.text, need.entity.kind
    if kind == "error":
        return _is_code(name)
    if kind not in ("flag", "identifier", "path"):
        return False
    return _is_cut(name, need.evidence_text) or _is_cut(name, need.use_text)


def _is_cut(name: str, line: str) -> bool:
    """Whether a line is so long that it was cut, and a name is its end; or a line begins in the
    middle of a quotation, with the name.
    """
    if len(line) >= SPAN_CHARS - 1 and line.endswith(name):
        without_end = line.removesuffix(name)
        return re.search(rf"(?<![\w/]){re.escape(name)}(?![\w/])", without_end) is None
    if line.count(name) != 1:
        return False
    line_end = line[len(name) :]
    return line.startswith(name) and _REST_OF_QUOTATION.match(line_end) is not None


_REST_OF_QUOTATION = re.compile(r"/?[`\"'] ?\+")


_EXPRESSION = re.compile(r"[.(\[?]\w*|[{}]")
_CODE = re.compile(r"[`${};]|%[sdvwq]")


def _is_code(error: str) -> bool:
    """Whether the text of an error is code: it has marks of code, or is an expression."""
    if " " in error:
        return _CODE.search(error) is not None
    return _EXPRESSION.search(error) is not None
