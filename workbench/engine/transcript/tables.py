"""Tables in a text: titles with rows below them, as in CSV, Markdown, the output of a program,
or SQL's INSERT.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.spans import Span, line_end


class Cell(NamedTuple):
    """A cell of a table: where its text is, half-open."""

    start: int
    stop: int


class Column(NamedTuple):
    """A title and the cells below it that are not empty.

    Attributes:
        certain: whether it is a table; else it may be a list of pairs, each a name and its value.
    """

    title: str
    cells: tuple[Cell, ...]
    certain: bool = True


class Layout(NamedTuple):
    """How the cells of a line are divided."""

    sign: str
    cell: re.Pattern[str]


_TITLE = r"[\"'`]?[^\W\d_][\w .()#/°'’-]{0,40}[\"'`]?"
_LATER_TITLE = _TITLE.replace(r"[^\W\d_]", r"[^\W_]", 1)
_SPACED_TITLE = r"[^\W\d_][\w.()#/-]{0,30}(?: [\w.()#/-]{1,30}){0,3}"
_HEADER = re.compile(
    rf"^[ \t>+]{{0,8}}(?:[|│][ ]{{0,20}})?(?:{_TITLE}(?:"
    + "|".join(
        rf"(?:[ ]{{0,20}}{sign}[ ]{{0,20}}{_LATER_TITLE}){{1,60}}"
        for sign in (",", ";", r"\|", "│", r"\t")
    )
    + rf")[ ]{{0,20}}[|│]?|[|│][ ]{{0,20}}{_TITLE}[ ]{{0,20}}[|│]"
    rf"|{_SPACED_TITLE}(?: {{2,60}}{_SPACED_TITLE}){{1,30}})[ \t\r]*$",
    re.MULTILINE,
)
_NO_TITLES = r"=:{}\[\]<$@!*&?\\~^%\n"
_LINE = re.compile(rf"^[^{_NO_TITLES}]{{3,}}$", re.MULTILINE)
"""A line without the signs that no title has: the pattern of a header is slow."""
_QUOTED_CELL = r"[ ]?\"(?:[^\"\n]|\"\"){0,1000}\"[ ]?(?=[,;\n]|\Z)"
_LAYOUTS = (
    Layout(",", re.compile(rf"(?:{_QUOTED_CELL}|[^,\n]*)(?:,|$)", re.MULTILINE)),
    Layout(";", re.compile(rf"(?:{_QUOTED_CELL}|[^;\n]*)(?:;|$)", re.MULTILINE)),
    Layout("|", re.compile(r"[^|\n]*(?:\||$)", re.MULTILINE)),
    Layout("│", re.compile(r"[^│\n]*(?:│|$)", re.MULTILINE)),
    Layout("\t", re.compile(r"[^\t\n]*(?:\t|$)", re.MULTILINE)),
    Layout("  ", re.compile(r"\S+(?: \S+)*(?: +|$)", re.MULTILINE)),
)
_FRAMES = ("|", "│")
"""Signs that also stand before the first cell of a line, and behind its last."""
_RULE = re.compile(r"[-+|:=─━═│┌┬┐├┼┤└┴┘╞╪╡╭╮╰╯\s]*")
_UNDERLINE = re.compile(r"[-=─ \t\r]*[-=─]{3}[-=─ \t\r]*")
_INSERT = re.compile(
    r"\binsert[ ]{1,4}(?:or \w{1,10} )?into["
    r" ]{1,4}[\w.\"`\[\]]{1,80}\s{0,10}\((?P<titles>[^()'\n]{1,600})\)"
    r"\s{0,20}values\s{0,20}",
    re.IGNORECASE,
)
_ASKED = (
    r"(?:[\w.\"`]{1,60}|\w{1,30}\([^()\n]{0,80}\))"
    r"(?:[ ]{1,4}as[ ]{1,4}[\w\"`]{1,40})?"
)
"""What a query asks for: a column or what a function makes of some, with a name of its own."""
_GAP = r"\s{0,20}(?:[\w=*#.-]{0,30}> ?)?"
"""Between two words of a query: spaces, also a new line with the sign that asks for more of it."""
_ASKED_FOR = re.compile(
    r"(?P<title>[\w.\"`]+)(?P<arguments>\([^()\n]*\))?(?:[ ]+as[ ]+(?P<name>[\w\"`]+))?",
    re.IGNORECASE,
)
_SELECT = re.compile(
    rf"\bselect[ ]{{1,4}}(?:distinct[ ]{{1,4}})?(?P<titles>{_ASKED}(?:{_GAP},{_GAP}{_ASKED}){{0,30}})"
    rf"\s{_GAP}from\s(?:[^\n;]{{1,300}}(?:\n[^\n;]{{1,300}}){{0,8}};[^\n]{{0,60}}|[^\n]{{1,300}})\n",
    re.IGNORECASE,
)
"""A query; a program prints its rows below, often without their titles."""
_ROW_OF_SQL = re.compile(
    r"\((?P<cells>(?:'(?:[^'\n]|''){0,1000}'|[^()'\n]){1,4000})\)\s{0,10},?\s{0,10}"
)
_CELL_OF_SQL = re.compile(
    r"\s*(?:[NE]?'(?P<text>(?:[^'\n]|''){0,1000})'|(?P<bare>[^,'\s]*))\s*(?:,|\Z)"
)
_RECORD = re.compile(
    r"^-\[ RECORD \d{1,9} \][-+]*\n(?P<fields>(?:[^\n|]{1,60}\|[^\n]*(?:\n|\Z)){1,100})",
    re.MULTILINE,
)
"""A row that psql prints over several lines, a column on each."""
_FIELD = re.compile(r"^(?P<title>[^\n|]{1,60}?) *\| ?(?P<value>[^\n]*)$", re.MULTILINE)
_EDGES = " \t\r\"'`,;|│"


def columns(text: str, is_telling: Callable[[str], bool]) -> Iterator[Column]:
    """The columns whose title tells what is in them."""
    if "\n" in text:
        yield from _columns_of_lines(text, is_telling)
    for insert in matches_with(_INSERT, text, "nsert", "NSERT"):
        yield from _columns_of_insert(text, insert, is_telling)
    for query in matches_with(_SELECT, text, "elect", "ELECT"):
        yield from _columns_of_select(text, query, is_telling)
    for record in matches_with(_RECORD, text, "-[ RECORD"):
        yield from _columns_of_record(text, record, is_telling)


def _columns_of_lines(text: str, is_telling: Callable[[str], bool]) -> Iterator[Column]:
    stop = 0
    for line_of_titles in _LINE.finditer(text):
        if line_of_titles.start() < stop:
            continue
        header = _HEADER.match(text, line_of_titles.start())
        if header is None:
            continue
        line = header.group().strip()
        layout = next(layout for layout in _LAYOUTS if layout.sign in line)
        titles = _cells(text, header.start(), header.end(), layout)
        names = [text[cell.start : cell.stop] for cell in titles]
        if not any(map(is_telling, names)):
            continue
        if len(names) == 1 and not _is_ruled(text, header.end() + 1):
            continue
        rows = list(_rows(text, header.end() + 1, layout, titles))
        if not rows:
            continue
        last_cell = rows[-1][-1]
        stop = last_cell.stop
        certain = not _may_be_pair(text, header, layout, names)
        yield from _columns_of_rows(names, rows, is_telling, certain=certain)


def _is_ruled(text: str, start: int) -> bool:
    """Whether the line that begins here is a rule, as below the titles of a table."""
    stop = line_end(text, start)
    rule = _RULE.fullmatch(text, start, stop)
    return rule is not None


def _may_be_pair(text: str, header: re.Match[str], layout: Layout, names: list[str]) -> bool:
    """Whether a line with two words may be a name and its value, in a list of such."""
    if layout.sign != "  " or len(names) > 2:
        return False
    if all(map(str.isupper, names)):
        return False
    start = header.end() + 1
    stop = line_end(text, start)
    return not _UNDERLINE.fullmatch(text, start, stop)


def _rows(text: str, start: int, layout: Layout, titles: list[Cell]) -> Iterator[list[Cell]]:
    """The lines below a header, each with a cell for every title."""
    while start < len(text):
        stop = line_end(text, start)
        is_rule = stop > start and _RULE.fullmatch(text, start, stop)
        if not is_rule:
            cells = _cells(text, start, stop, layout)
            if layout.sign == "  " and len(cells) != len(titles) > 1:
                cells = _cells_below(titles, cells, start)
            if len(cells) != len(titles):
                return
            yield cells
        start = stop + 1


def _cells_below(titles: list[Cell], cells: list[Cell], start: int) -> list[Cell]:
    """The cells of a line of output, each below the title that it begins under; an empty one
    where none does.
    """
    by_offset = {cell.start - start: cell for cell in cells}
    empty_cell = Cell(start, start)
    aligned: list[Cell] = []
    for title in titles:
        offset = title.start - titles[0].start
        aligned.append(by_offset.pop(offset, empty_cell))
    if by_offset:
        return []
    return aligned


def _cells(text: str, start: int, stop: int, layout: Layout) -> list[Cell]:
    if layout.sign in _FRAMES:
        start, stop = _without_edges(text, start, stop, layout.sign)
    cells: list[Cell] = []
    for match in layout.cell.finditer(text, start, stop):
        is_empty = match.start() == match.end()
        if is_empty and cells and text[match.start() - 1] != layout.sign:
            continue
        raw = match.group()
        content = raw.strip(_EDGES)
        begin = match.start()
        if content:
            begin += raw.index(content[0])
        cell = Cell(begin, begin + len(content))
        cells.append(cell)
    return cells


def _without_edges(text: str, start: int, stop: int, sign: str) -> Span:
    """A line of a table without the signs that frame it."""
    line = text[start:stop]
    framed = line.strip()
    start += len(line) - len(line.lstrip())
    stop = start + len(framed)
    has_edges = framed.startswith(sign) and framed.endswith(sign)
    if has_edges and len(framed) > 1:
        return start + 1, stop - 1
    return start, stop


def _columns_of_select(
    text: str, query: re.Match[str], is_telling: Callable[[str], bool]
) -> Iterator[Column]:
    names: list[str] = []
    for wish in _ASKED_FOR.finditer(query["titles"]):
        name = _name_of(wish, is_telling)
        names.append(name)
    if not any(map(is_telling, names)):
        return
    start = query.end()
    first_row = start
    while first_row < len(text) and _is_ruled(text, first_row):
        first_row = line_end(text, first_row) + 1
    row_end = line_end(text, first_row)
    line = text[first_row:row_end]
    layout = _LAYOUTS[-1]
    for candidate in reversed(_LAYOUTS):
        if candidate.sign in line:
            layout = candidate
            break
    titles = [Cell(0, 0)] * len(names)
    rows = list(_rows(text, start, layout, titles))
    yield from _columns_of_rows(names, rows, is_telling)


def _name_of(wish: re.Match[str], is_telling: Callable[[str], bool]) -> str:
    """The name that tells what a query asks for: its own where the column's tells nothing."""
    own_name = wish.group("name")
    title = wish["title"]
    _, _, column = title.rpartition(".")
    column = column.strip('"`')
    if own_name is None:
        own_name = ""
    if wish["arguments"] is not None:
        return own_name
    if is_telling(column):
        return column
    return own_name.strip('"`')


def _columns_of_record(
    text: str, record: re.Match[str], is_telling: Callable[[str], bool]
) -> Iterator[Column]:
    start, stop = record.span("fields")
    for field in _FIELD.finditer(text, start, stop):
        title = field["title"].strip()
        value = field["value"].strip()
        if value and is_telling(title):
            begin, end = field.span("value")
            cell = Cell(begin, end)
            yield Column(title, (cell,))


def _columns_of_insert(
    text: str, insert: re.Match[str], is_telling: Callable[[str], bool]
) -> Iterator[Column]:
    names = [name.strip(' \t"`[]') for name in insert["titles"].split(",")]
    if not any(map(is_telling, names)):
        return
    rows: list[list[Cell]] = []
    row = _ROW_OF_SQL.match(text, insert.end())
    while row:
        start, stop = row.span("cells")
        cells = _cells_of_sql(text, start, stop)
        if len(cells) == len(names):
            rows.append(cells)
        row = _ROW_OF_SQL.match(text, row.end())
    yield from _columns_of_rows(names, rows, is_telling)


def _cells_of_sql(text: str, start: int, stop: int) -> list[Cell]:
    cells: list[Cell] = []
    while start < stop:
        match = _CELL_OF_SQL.match(text, start, stop)
        if match is None or match.end() == start:
            break
        begin, end = match.span(match.lastgroup or 0)
        cells.append(Cell(begin, end))
        start = match.end()
    return cells


def _columns_of_rows(
    names: list[str],
    rows: list[list[Cell]],
    is_telling: Callable[[str], bool],
    *,
    certain: bool = True,
) -> Iterator[Column]:
    for number, name in enumerate(names):
        if not is_telling(name):
            continue
        filled_cells: list[Cell] = []
        for row in rows:
            cell = row[number]
            if cell.start < cell.stop:
                filled_cells.append(cell)
        yield Column(name, tuple(filled_cells), certain)
