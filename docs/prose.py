"""Figures in the sentences around the tables of README, docs and studies, held against those
tables.

docs/prose.toml has the sentences, with `{}` for each figure and where it comes from: the name of a
marked part of a page, words to find in it one behind the other, and which number behind the last of
them. An `aside` is a sentence or a paragraph whose figures are bounds, arithmetic or history, with
the reason. A `whole` is a page of which that is true everywhere. Nothing else may have a figure
that looks measured. `python docs/figures.py list --check` prints what is wrong.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

DOCS = Path(__file__).parent
STUDIES = "studies"
"""The folder of the studies, each a folder with a README."""
NUMBER = r"[-+\u2212]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)"
MEASURED = re.compile(
    r"(?<![\w.`/])[-+\u2212]?\.\d+|\d[\d,.]* %|\d+ points|(?<![\w`])[-+\u2212]\d+\b|\d+ of \d+"
)
"""What looks like a measured figure in prose."""
PART = re.compile(r"<!-- ([a-z-]+) -->\n(.*?)<!-- end of \1 -->\n", re.DOTALL)
Entry: TypeAlias = Mapping[str, Any]
"""A table of prose.toml: a sentence, an aside, or a whole page."""
Prose: TypeAlias = dict[str, list[str]]
"""The paragraphs of each page that are still to be accounted for."""


def problems(pages: Sequence[Path], source: Path = DOCS / "prose.toml") -> Iterator[str]:
    """What is wrong with the sentences of some pages."""
    entries = tomllib.loads(source.read_text(encoding="utf-8"))
    parts: dict[str, str] = {}
    prose: Prose = defaultdict(list)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        parts.update(PART.findall(text))
        prose[page_name(page)] = paragraphs(text)
    for sentence in entries["sentence"]:
        yield from _problems_of_sentence(sentence, prose, parts)
    for aside in entries["aside"]:
        yield from _problems_of_aside(aside, prose)
    for entry in entries.get("whole", []):
        prose.pop(entry["page"], None)
    for title, remaining in prose.items():
        for paragraph in remaining:
            figures = MEASURED.findall(paragraph.replace("95 %", ""))
            if figures:
                yield (
                    f"{title}: prose.toml does not say where {', '.join(figures)} come from, in"
                    f" {paragraph[:60]!r}"
                )


def _problems_of_sentence(sentence: Entry, prose: Prose, parts: Mapping[str, str]) -> Iterator[str]:
    """Where the figures of a sentence differ from the tables; it is taken out of the prose."""
    title = sentence["page"]
    pattern = re.escape(sentence["words"]).replace(r"\ ", " ")
    pattern = pattern.replace(re.escape("{}"), f"({NUMBER})")
    matches: list[tuple[int, re.Match[str]]] = []
    for place, paragraph in enumerate(prose[title]):
        for match in re.finditer(pattern, paragraph):
            matches.append((place, match))
    if len(matches) != 1:
        yield f"{title} has {len(matches)} sentences like {sentence['words']!r}"
        return
    ((place, match),) = matches
    for figure, origin in zip(match.groups(), sentence["figures"], strict=True):
        yield from _difference(sentence, figure, origin, parts)
    prose[title][place] = re.sub(pattern, "", prose[title][place])


def _problems_of_aside(aside: Entry, prose: Prose) -> Iterator[str]:
    """Whether the page has the aside once; it is taken out of the prose, with its paragraph where
    it begins this.
    """
    title = aside["page"]
    words = aside["words"]
    places = [place for place, paragraph in enumerate(prose[title]) if words in paragraph]
    if len(places) != 1:
        yield f"{title} has {len(places)} paragraphs with {words!r}"
    for place in places:
        paragraph = prose[title][place]
        remaining = paragraph.replace(words, "")
        if paragraph.startswith(words):
            remaining = ""
        prose[title][place] = remaining


def page_name(page: Path) -> str:
    """How the lists name a page: its file, or `studies/NAME` for the page of a study."""
    study = page.parent
    return f"{STUDIES}/{study.name}" if study.parent.name == STUDIES else page.name


def paragraphs(text: str) -> list[str]:
    """The paragraphs and points of a page in one line each, without parts, code, tables and
    headings.
    """
    without_parts = PART.sub("\n", text)
    without_code = re.sub(r"```.*?```", "", without_parts, flags=re.DOTALL)
    lines: list[str] = []
    for line in without_code.splitlines():
        lines.append("" if line.startswith(("|", "#", "<")) else line)
    blocks = re.split(r"\n\s*\n|\n(?=- )", "\n".join(lines))
    return [" ".join(block.split()) for block in blocks if block.strip()]


def _difference(
    sentence: Entry, figure: str, origin: Sequence[str | int], parts: Mapping[str, str]
) -> Iterator[str]:
    """Whether a figure is the number at a place, as far as its digits go; without a sign its
    size counts.
    """
    *names, number = origin
    part_name, *words = map(str, names)
    text = parts.get(part_name, "")
    for word in words:
        _, _, text = text.partition(word)
    numbers = re.findall(NUMBER, text)
    place = int(number)
    if len(numbers) < place:
        yield f"{sentence['page']}: there is no number {origin} for {sentence['words']!r}"
        return
    table_figure = numbers[place - 1]
    table_value = _value(table_figure)
    if figure[0] not in "-+\u2212":
        table_value = abs(table_value)
    digits = len(figure.partition(".")[2])
    if abs(_value(figure) - table_value) > 0.5000001 * 10**-digits:
        yield (
            f"{sentence['page']} says {figure} in {sentence['words']!r},"
            f" {' > '.join((part_name, *words))} says {table_figure}"
        )


def _value(number: str) -> float:
    return float(number.replace("\u2212", "-").replace(",", ""))
