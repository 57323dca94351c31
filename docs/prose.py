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

DOCS = Path(__file__).parent
STUDIES = "studies"
"""The folder of the studies, each a folder with a README."""
NUMBER = r"[-+\u2212]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)"
MEASURED = re.compile(
    r"(?<![\w.`/])[-+\u2212]?\.\d+|\d[\d,.]* %|\d+ points|(?<![\w`])[-+\u2212]\d+\b|\d+ of \d+"
)
"""What looks like a measured figure in prose."""
PART = re.compile(r"<!-- ([a-z-]+) -->\n(.*?)<!-- end of \1 -->\n", re.DOTALL)


def problems(pages: Sequence[Path], source: Path = DOCS / "prose.toml") -> Iterator[str]:
    """What is wrong with the sentences of some pages."""
    texts = {page_name(page): page.read_text(encoding="utf-8") for page in pages}
    parts = {name: part for text in texts.values() for name, part in PART.findall(text)}
    known = tomllib.loads(source.read_text(encoding="utf-8"))
    prose = defaultdict(list, {name: paragraphs(text) for name, text in texts.items()})
    for one in known["sentence"]:
        pattern = (
            re.escape(one["words"]).replace(re.escape("{}"), f"({NUMBER})").replace(r"\ ", " ")
        )
        found = [
            (at, match)
            for at, each in enumerate(prose[one["page"]])
            for match in re.finditer(pattern, each)
        ]
        if len(found) != 1:
            yield f"{one['page']} has {len(found)} sentences like {one['words']!r}"
            continue
        for shown, place in zip(found[0][1].groups(), one["figures"], strict=True):
            yield from _difference(one, shown, place, parts)
        prose[one["page"]][found[0][0]] = re.sub(pattern, "", prose[one["page"]][found[0][0]])
    for one in known["aside"]:
        at = [number for number, each in enumerate(prose[one["page"]]) if one["words"] in each]
        if len(at) != 1:
            yield f"{one['page']} has {len(at)} paragraphs with {one['words']!r}"
        for number in at:
            own = prose[one["page"]][number]
            prose[one["page"]][number] = (
                "" if own.startswith(one["words"]) else own.replace(one["words"], "")
            )
    for entry in known.get("whole", []):
        prose.pop(entry["page"], None)
    for name, left_over in prose.items():
        for each in left_over:
            if left := MEASURED.findall(each.replace("95 %", "")):
                yield (
                    f"{name}: prose.toml does not say where {', '.join(left)} come from, in"
                    f" {each[:60]!r}"
                )


def page_name(page: Path) -> str:
    """How the lists name a page: its file, or `studies/NAME` for the page of a study."""
    study = page.parent
    return f"{STUDIES}/{study.name}" if study.parent.name == STUDIES else page.name


def paragraphs(text: str) -> list[str]:
    """The paragraphs and points of a page in one line each, without parts, code, tables and
    headings.
    """
    plain = re.sub(r"```.*?```", "", PART.sub("\n", text), flags=re.DOTALL)
    lines = ("" if line.startswith(("|", "#", "<")) else line for line in plain.splitlines())
    return [
        " ".join(each.split())
        for each in re.split(r"\n\s*\n|\n(?=- )", "\n".join(lines))
        if each.strip()
    ]


def _difference(
    one: Mapping[str, str], shown: str, place: Sequence[str | int], parts: Mapping[str, str]
) -> Iterator[str]:
    """Whether a figure is the number at a place, as far as its digits go; without a sign its
    size counts.
    """
    name, *words = map(str, place[:-1])
    text = parts.get(name, "")
    for word in words:
        text = text.partition(word)[2]
    numbers = re.findall(NUMBER, text)
    if len(numbers) < int(place[-1]):
        yield f"{one['page']}: there is no number {place} for {one['words']!r}"
        return
    there = numbers[int(place[-1]) - 1]
    apart = abs(_value(shown) - (_value(there) if shown[0] in "-+\u2212" else abs(_value(there))))
    if apart > 0.5000001 * 10 ** -len(shown.partition(".")[2]):
        yield (
            f"{one['page']} says {shown} in {one['words']!r}, {' > '.join((name, *words))} says"
            f" {there}"
        )


def _value(number: str) -> float:
    return float(number.replace("\u2212", "-").replace(",", ""))
