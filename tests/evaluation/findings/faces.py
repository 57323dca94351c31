"""Reads what each face of a finished run says, and names every quantity that two faces tell
otherwise.

A face is what a person or a program looks at: the terminal, the report, its notebook, the pages of
`workbench view` through the real server, JSON, and Python. Each is read as it is rendered; nothing
here asks `Findings` what is right.
"""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from workbench import Findings, Results, render
from workbench.base.markup import environment
from workbench.cli.headline import outcome, show
from workbench.report.view.app import ViewServer

POSSIBLE = 0.1
PERCENT = environment().from_string("{{ share | percent }}")
"""A share as a page shows it."""
DOLLARS = environment().from_string("{{ usd | dollars }}")

HALVES = {"The work": "work", "Names": "names", "Code": "code"}
TABLES = {"own-trigger": "own trigger", "same-size": "same size"}
"""Tables of the page, and the place that their figures are of."""
PLACES = {"same size", "own trigger"}
LEADS = re.compile(
    r"([\w.=+-]+(?: [\w.]+=[\w.+-]+)*) (?:answers|keeps) (\d+ %)"
    r"(?: of the (?:questions about the )?(work|names))?"
)
SAVES = re.compile(r" and (saves|costs) (\d+ %)")
MEANS = re.compile(r"Means over (\d[\d,]*) sessions?(?: of (\d[\d,]*) projects?)?")
OF_SESSIONS = re.compile(r"(\d[\d,]*) of (\d[\d,]*) sessions?\b")
TENTH = re.compile(r"a tenth of the bill without compaction \((\S+) a session\)")
MONTH = re.compile(r"the bill is about (\S+) a month without compaction")
CONTESTED = re.compile(r"No winner between ([^.:]+?) on their own triggers")
"""Who may be the best; that of `as good` says so too."""
MOST_LOSSES = 3
"""Losses whose stage is looked up in the view: each takes a replay."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one face says of one quantity."""

    face: str
    quantity: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A quantity of which faces say different things."""

    quantity: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        sides = [f"{value} ({', '.join(faces)})" for value, faces in self.values.items()]
        return f"{' / '.join(self.quantity)}: {' but '.join(sides)}"


def contradictions(readings: Iterable[Reading]) -> list[Contradiction]:
    """The quantities that are told in more than one way."""
    by_quantity: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for reading in readings:
        faces = by_quantity[reading.quantity][reading.value]
        if reading.face not in faces:
            faces.append(reading.face)
    return [
        Contradiction(quantity, {value: tuple(faces) for value, faces in values.items()})
        for quantity, values in by_quantity.items()
        if len(values) > 1
    ]


@dataclass(frozen=True)
class Faces:
    """What each face of a run shows.

    Attributes:
        pages: HTML by face.
        terminal: what `compare --wide` prints.
        answer: what `--json` prints.
        results: the run's own tables.
        losses: pages of the view, each of one loss.
        refused: losses that the report leads to and the view does not show.
    """

    pages: Mapping[str, str]
    terminal: str
    answer: Mapping[str, Any]
    results: Results
    losses: tuple[str, ...]
    refused: tuple[str, ...] = ()

    def readings(self) -> list[Reading]:
        """Every quantity that a face tells."""
        readings = [*of_tables(self.results), *of_json(self.answer), *of_terminal(self.terminal)]
        for face, page in self.pages.items():
            readings += of_page(face, page)
        report = self.pages["report"]
        for page in self.losses:
            readings += of_loss(report, page)
        return readings

    def wrong_differences(self) -> list[str]:
        """Differences that are not those of the means beside them."""
        wrong = []
        for face, page in self.pages.items():
            text = plain(page)
            figures = figures_of(of_page(face, page))
            differences = [*differences_of_tables(page), *differences_of_words(text)]
            wrong += wrong_among(face, figures, differences)
        words = " ".join(self.terminal.replace("\N{NO-BREAK SPACE}", " ").split())
        figures = figures_of(of_terminal(self.terminal))
        wrong += wrong_among("terminal", figures, differences_of_words(words))
        return [*wrong, *wrong_in_json(self.answer)]

    def impossible_counts(self) -> list[str]:
        """Counts that are larger than what they are of, or of more sessions than there are."""
        sessions = int((self.results.sessions["status"] == "ok").sum())
        texts = {"terminal": self.terminal} | {
            face: plain(page) for face, page in self.pages.items()
        }
        wrong = []
        for face, text in texts.items():
            for match in OF_SESSIONS.finditer(text):
                part, whole = (int(number.replace(",", "")) for number in match.groups())
                if not part <= whole <= sessions:
                    wrong.append(f"{face}: {match[0]}, in a run of {sessions}")
        return wrong


def faces_of(folder: Path, most_losses: int = MOST_LOSSES) -> Faces:
    """All faces of a finished run, as they are rendered today."""
    results = Results.open(folder)
    findings = Findings.of(results)
    printed = StringIO()
    with redirect_stdout(printed):
        show(findings, wide=True)
    answer = json.loads(json.dumps(outcome(results, findings, no_report=False)))
    report = render(folder).read_text(encoding="utf-8")
    notebook = json.loads((folder / "report.ipynb").read_text(encoding="utf-8"))
    pages = {"report": report, "notebook": "\n".join(notebook_outputs(notebook))}
    losses: list[str] = []
    refused: list[str] = []
    server = ViewServer(folder.parent)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        pages["view"] = fetched(f"{server.address}runs/{quote(folder.name, safe='')}")
        for key in re.findall(r'data-loss="([0-9a-f]{10})"', report)[:most_losses]:
            try:
                losses.append(
                    fetched(f"{server.address}runs/{quote(folder.name, safe='')}/loss/{key}")
                )
            except HTTPError:
                refused.append(f"view: loss {key} of the report is not shown")
    finally:
        server.stop()
        thread.join()
    return Faces(pages, printed.getvalue(), answer, results, tuple(losses), tuple(refused))


def fetched(address: str) -> str:
    """A page of the view."""
    with urlopen(address) as response:
        text: str = response.read().decode("utf-8")
    return text


def notebook_outputs(notebook: Mapping[str, Any]) -> Iterator[str]:
    """What the cells of a notebook show, as HTML."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            yield "".join(output["data"].get("text/html", ""))


def plain(page: str) -> str:
    """A page as words."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    words = unescape(re.sub(r"<[^>]+>", " ", body)).replace("\N{NO-BREAK SPACE}", " ")
    return re.sub(r" ([.,;:)])(?!\d)", r"\1", " ".join(words.split()))


class TableReader(HTMLParser):
    """The cells of the first table of a class, without what stands in small print."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.is_inside, self.is_read, self.small = name, False, False, 0
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        if (
            tag == "table"
            and not self.is_read
            and self.name in (dict(attrs).get("class") or "").split()
        ):
            self.is_inside = self.is_read = True
        if self.is_inside and tag == "tr":
            self.rows.append([])
        if self.is_inside and tag in ("td", "th"):
            self.rows[-1].append("")
        self.small += tag == "small"

    def handle_endtag(self, tag: str) -> None:
        """End the table, or small print."""
        self.small -= tag == "small"
        if tag == "table":
            self.is_inside = False

    def handle_data(self, data: str) -> None:
        """Add words to the cell."""
        if self.is_inside and not self.small and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def table_of(page: str, name: str) -> list[dict[str, str]]:
    """The rows of a table of a page, by heading."""
    reader = TableReader(name)
    reader.feed(page)
    rows = [
        [" ".join(cell.replace("\N{NO-BREAK SPACE}", " ").split()) for cell in row]
        for row in reader.rows
    ]
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]


def of_page(face: str, page: str) -> Iterator[Reading]:
    """What a page with the headline table and the answer says."""
    for name, place in TABLES.items():
        for row in table_of(page, name):
            yield from of_row(face, place, row)
    answer = re.search(r'class="answer"><strong>(.*?)</strong>', page, re.DOTALL)
    if answer:
        yield Reading(face, ("recommendation",), plain(answer[1]))
    yield from of_words(face, plain(page))


def of_row(face: str, place: str, row: Mapping[str, str]) -> Iterator[Reading]:
    """What a row of a headline table of a page says."""
    strategy = row["Strategy"]
    for heading, cell in row.items():
        if heading in HALVES:
            yield from figure(face, (place, HALVES[heading], strategy), cell)
        if heading == "Bill saved":
            yield from figure(face, ("bill saved", strategy), cell)
        if heading == "As good as the best":
            yield from figure(face, ("as good", strategy), cell)


def figure(face: str, quantity: tuple[str, ...], cell: str) -> Iterator[Reading]:
    """A share in a cell; nothing where there is none."""
    share = re.match(r"[−-]?\d+ %", cell)
    if share:
        yield Reading(face, quantity, share[0].replace("−", "-"))


def of_words(face: str, text: str) -> Iterator[Reading]:
    """What the sentences of a face say."""
    for match in CONTESTED.finditer(text):
        for name in re.split(r", | and ", match[1]):
            yield Reading(face, ("may be the best", name), "yes")
    for match in MEANS.finditer(text):
        yield Reading(face, ("sessions",), match[1])
        yield Reading(face, ("projects",), match[2] or match[1])
    for match in TENTH.finditer(text):
        yield Reading(face, ("a tenth of the bill",), match[1])
    for match in MONTH.finditer(text):
        yield Reading(face, ("bill of a month",), match[1])
    own = re.search(r"On its own trigger ([^.]*?%[^.]*)\.", text)
    half = ""
    for clause in own[1].split(";") if own else ():
        told, saved = LEADS.search(clause), SAVES.search(clause)
        if told:
            half = told[3] or half
            yield Reading(face, ("own trigger", half, told[1]), told[2])
        if told and saved:
            sign = "-" if saved[1] == "costs" else ""
            yield Reading(face, ("bill saved", told[1]), sign + saved[2])


def of_json(answer: Mapping[str, Any]) -> Iterator[Reading]:
    """What `--json` says."""
    yield Reading("json", ("sessions",), str(answer["sessions"]))
    yield Reading("json", ("projects",), str(answer["projects"]))
    if answer["decision"] is not None and not answer["advice"]:
        yield Reading("json", ("recommendation",), answer["decision"]["recommendation"])
    if answer["decision"] is not None:
        for name, share in answer["decision"]["level"].items():
            yield Reading("json", ("as good", name), PERCENT.render(share=share))
            may_be = "yes" if share >= POSSIBLE else "no"
            yield Reading("json", ("may be the best", name), may_be)
    if answer["decision"] is not None and answer["decision"]["month"] is not None:
        usd = answer["decision"]["month"]["usd_uncompacted"]
        yield Reading("json", ("bill of a month",), DOLLARS.render(usd=usd))
    for row in answer["strategies"]:
        name = row["strategy"]
        if name == "none" and row["cost"] is not None:
            yield Reading("json", ("a tenth of the bill",), DOLLARS.render(usd=row["cost"] / 10))
        for half in HALVES.values():
            for place, column in (("same size", half), ("own trigger", f"{half}_own")):
                if row[column] is not None:
                    yield Reading(
                        "json",
                        (place, half, name),
                        PERCENT.render(share=row[column]).replace("−", "-"),
                    )
        if row["cost_saved"] is not None:
            yield Reading(
                "json",
                ("bill saved", name),
                PERCENT.render(share=row["cost_saved"]).replace("−", "-"),
            )
    if not answer["advice"]:
        yield from of_words(
            "json", " ".join([answer["decision"]["trade_off"] if answer["decision"] else ""])
        )
    yield from of_words("json", " ".join(answer["notes"]))


def of_tables(results: Results) -> Iterator[Reading]:
    """What the run's own tables say."""
    rows = results.sessions[results.sessions["status"] == "ok"]
    yield Reading("python", ("sessions",), str(len(rows)))


def of_terminal(text: str) -> Iterator[Reading]:
    """What the terminal says: its sentences, and its wide table by the heads of its columns."""
    words = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
    yield from of_words("terminal", words)
    lines = text.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    caption = ""
    for place, line in enumerate(lines):
        if re.match(r"\S.* (on its own trigger|at the same size)", line):
            caption = line
        if line.startswith("───"):
            yield from of_terminal_table(lines, place, caption)


def of_terminal_table(lines: list[str], rule: int, caption: str) -> Iterator[Reading]:
    """What a table of the terminal says.

    Args:
        lines: all that was printed.
        rule: the line below its heads.
        caption: what stands above it.
    """
    end = next(
        (place for place in range(rule + 1, len(lines)) if not lines[place].strip()), len(lines)
    )
    rows = [
        [(cell.start(), cell[0]) for cell in re.finditer(r"\S+(?: \S+)*", line)]
        for line in lines[rule + 1 : end]
    ]
    start = rule
    while start and lines[start - 1].strip():
        start -= 1
    heads = lines[start:rule]
    for row in rows:
        name = row[0][1]
        for begin, cell in row[1:]:
            words = [words_above(line, begin, begin + len(cell)) for line in heads]
            head = " ".join(filter(None, words))
            yield from figure("terminal", _column(head, name, caption), cell)


def words_above(line: str, start: int, end: int) -> str:
    """The words of a line of heads that stand above a cell, in whole."""
    start = max(0, start - 1)
    end += 1
    while start > 0 and start < len(line) and line[start - 1] != " " and line[start] != " ":
        start -= 1
    return " ".join(line[start:end].split())


def _column(head: str, strategy: str, caption: str) -> tuple[str, ...]:
    """The quantity of a column of the terminal."""
    if "bill saved" in head:
        return ("bill saved", strategy)
    if "as the best" in head:
        return ("as good", strategy)
    place = "same size" if "at the same size" in caption else "own trigger"
    for half in HALVES.values():
        if head in (half, f"the {half}"):
            return (place, half, strategy)
    return ("terminal column", head, strategy)


ROUNDED = 1.51
"""Points by which a difference may miss that of two means, where all three are rounded."""
LED = re.compile(
    r"In (names|code) (\S+) (leads|is behind) (\S+) by (\d+) points?(?: \([^)]*\))?"
    r"(?:, in (names|code) (?:(ahead|behind) )?by (\d+))?"
)
SURE = re.compile(
    r"(\S+) (?:leads (\S+) by|against (\S+) is not significant:) ([+−-]?[\d.]+) points?"
    r" \((?:95 % CI|p)"
)
COLUMNS = {"work": "work", "exam_recall": "names", "code": "code"}


@dataclass(frozen=True, slots=True)
class Difference:
    """How many points one strategy is ahead of another in a number of the headline."""

    place: str
    half: str
    strategy: str
    rival: str
    points: float


def figures_of(readings: Iterable[Reading]) -> dict[tuple[str, ...], float]:
    """The means of a face in per cent, by place, number and strategy."""
    figures = {}
    for reading in readings:
        if reading.quantity[0] in PLACES:
            figures[reading.quantity] = float(reading.value.removesuffix(" %"))
    return figures


def differences_of_tables(page: str) -> Iterator[Difference]:
    """Those of the headline's tables: each stands behind the number that it is of."""
    for name, place in TABLES.items():
        for row in table_of(page, name):
            half = ""
            for heading, cell in row.items():
                half = HALVES.get(heading, half)
                points = re.match(r"[+−-]\d+", cell)
                if heading.startswith("Against ") and points:
                    gap = float(points[0].replace("−", "-"))
                    rival = heading.removeprefix("Against ")
                    yield Difference(place, half, row["Strategy"], rival, gap)


def differences_of_words(text: str) -> Iterator[Difference]:
    """Those of the sentences: on the strategies' own triggers, and of the answer."""
    for match in LED.finditer(text):
        half, strategy, verb, rival, points, other_half, side, other_points = match.groups()
        sign = 1 if verb == "leads" else -1
        yield Difference("own trigger", half, strategy, rival, sign * float(points))
        if other_half:
            other_sign = {"ahead": 1, "behind": -1}.get(side, sign)
            gap = other_sign * float(other_points)
            yield Difference("own trigger", other_half, strategy, rival, gap)
    half = half_at_same_size(text)
    if not half:
        return
    for match in SURE.finditer(text):
        strategy, led, level, points = match.groups()
        gap = float(points.replace("−", "-"))
        yield Difference("same size", half, strategy, led or level, gap)


def half_at_same_size(text: str) -> str:
    """The number that the tests at the same size are of."""
    of_page = re.search(r"(The work|Names|Code) at the same size: ", text)
    if of_page is not None:
        return HALVES[of_page[1]]
    answer = re.search(r"At the same size \([^)]*\), \S+ (?:tells|keeps) \d+ % of the (\w+)", text)
    return "" if answer is None else answer[1]


def wrong_among(
    face: str, figures: Mapping[tuple[str, ...], float], told: Iterable[Difference]
) -> list[str]:
    """The differences of a face that its means do not have."""
    wrong = []
    for difference in told:
        mean = figures.get((difference.place, difference.half, difference.strategy))
        rival_mean = figures.get((difference.place, difference.half, difference.rival))
        if mean is None or rival_mean is None:
            continue
        if abs(mean - rival_mean - difference.points) > ROUNDED:
            wrong.append(f"{face}: {difference}, but the means are {mean:g} and {rival_mean:g} %")
    return wrong


def wrong_in_json(answer: Mapping[str, Any]) -> list[str]:
    """Differences from the baseline that are not those of the means, which are exact here."""
    column = COLUMNS[answer["ranked_by"]]
    means = {row["strategy"]: row[column] for row in answer["strategies"]}
    wrong = []
    for row in answer["against_baseline"]:
        name = row["strategy"]
        mean, baseline_mean = means.get(name), means.get(answer["baseline"])
        if mean is None or baseline_mean is None or row["difference"] is None:
            continue
        if abs(mean - baseline_mean - row["difference"]) > 0.0005:
            gap = mean - baseline_mean
            wrong.append(f"json: {name} is {gap:.4f} ahead, but {row['difference']:.4f} is said")
    return wrong


def of_loss(report: str, page: str) -> Iterator[Reading]:
    """Which stage removed a thing, as the report says it and as the page of that loss in the
    view does.
    """
    key = re.search(r"[?&](?:amp;)?loss=([0-9a-f]{10})", page)
    place = re.search(r'id="loss" .*?</section>', page, re.DOTALL)
    if key is None or place is None:
        return
    end = report.find(f'data-loss="{key[1]}"')
    start = report.rfind("<details>", 0, end)
    for face, text in (("report", report[start:end]), ("view", place[0])):
        for line in re.findall(r"<li>(.*?)</li>", text, re.DOTALL):
            name = re.search(r'class="strategy">.*?</i>(.*?)</span>', line, re.DOTALL)
            stage = re.search(r"the stage\s*<em>(.*?)</em>", line, re.DOTALL)
            if name and stage:
                yield Reading(face, ("stage", key[1], unescape(name[1])), unescape(stage[1]))
