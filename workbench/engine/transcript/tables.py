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
    rf"^[ \t>+]{{0,8}}(?:\|[ ]{{0,20}})?(?:{_TITLE}(?:"
    + "|".join(
        rf"(?:[ ]{{0,20}}{sign}[ ]{{0,20}}{_LATER_TITLE}){{1,60}}"
        for sign in (",", ";", r"\|", r"\t")
    )
    + rf")[ ]{{0,20}}\|?|{_SPACED_TITLE}(?: {{2,60}}{_SPACED_TITLE}){{1,30}})[ \t\r]*$",
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
    Layout("\t", re.compile(r"[^\t\n]*(?:\t|$)", re.MULTILINE)),
    Layout("  ", re.compile(r"\S+(?: \S+)*(?: +|$)", re.MULTILINE)),
)
_RULE = re.compile(r"[-+|:=─\s]*")
_UNDERLINE = re.compile(r"[-=─ \t\r]*[-=─]{3}[-=─ \t\r]*")
_INSERT = re.compile(
    r"\binsert[ ]{1,4}(?:or \w{1,10} )?into["
    r" ]{1,4}[\w.\"`\[\]]{1,80}\s{0,10}\((?P<titles>[^()'\n]{1,600})\)"
    r"\s{0,20}values\s{0,20}",
    re.IGNORECASE,
)
_SELECT = re.compile(
    r"\bselect[ ]{1,4}(?:distinct[ ]{1,4})?(?P<titles>[\w.\"`]{1,60}(?:[ ]?,["
    r" ]?[\w.\"`]{1,60}){0,30})[ ]{1,4}from[ ]"
    r"[^\n]{1,300}\n",
    re.IGNORECASE,
)
"""A query; a program prints its rows below, often without their titles."""
_ROW_OF_SQL = re.compile(
    r"\((?P<cells>(?:'(?:[^'\n]|''){0,1000}'|[^()'\n]){1,4000})\)\s{0,10},?\s{0,10}"
)
_CELL_OF_SQL = re.compile(
    r"\s*(?:[NE]?'(?P<text>(?:[^'\n]|''){0,1000})'|(?P<bare>[^,'\s]*))\s*(?:,|\Z)"
)
_EDGES = " \t\r\"'`,;|"


def columns(text: str, is_telling: Callable[[str], bool]) -> Iterator[Column]:
    """The columns whose title tells what is in them."""
    if "\n" in text:
        yield from _columns_of_lines(text, is_telling)
    for insert in matches_with(_INSERT, text, "nsert", "NSERT"):
        yield from _columns_of_insert(text, insert, is_telling)
    for query in matches_with(_SELECT, text, "elect", "ELECT"):
        yield from _columns_of_select(text, query, is_telling)


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
        rows = list(_rows(text, header.end() + 1, layout, titles))
        if not rows:
            continue
        last_cell = rows[-1][-1]
        stop = last_cell.stop
        certain = not _may_be_pair(text, header, layout, names)
        yield from _columns_of_rows(names, rows, is_telling, certain=certain)


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
    if layout.sign == "|":
        start, stop = _without_edges(text, start, stop)
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


def _without_edges(text: str, start: int, stop: int) -> Span:
    """A line of a table without the signs that frame it."""
    line = text[start:stop]
    framed = line.strip()
    start += len(line) - len(line.lstrip())
    stop = start + len(framed)
    has_edges = framed.startswith("|") and framed.endswith("|")
    if has_edges and len(framed) > 1:
        return start + 1, stop - 1
    return start, stop


def _columns_of_select(
    text: str, query: re.Match[str], is_telling: Callable[[str], bool]
) -> Iterator[Column]:
    names: list[str] = []
    for title in query["titles"].split(","):
        _, _, name = title.strip(' "`').rpartition(".")
        names.append(name)
    if not any(map(is_telling, names)):
        return
    start = query.end()
    line = text[start : line_end(text, start)].strip()
    layout = _LAYOUTS[-1]
    for candidate in reversed(_LAYOUTS):
        if candidate.sign in line:
            layout = candidate
            break
    titles = [Cell(0, 0)] * len(names)
    rows = list(_rows(text, start, layout, titles))
    yield from _columns_of_rows(names, rows, is_telling)


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
