"""How many planted credentials `--redact` masks, by kind, and how many harmless texts, beside detect-secrets.

    pip install detect-secrets  # to compare with; without it its columns are empty
    python tests/benchmarks/bench_redaction.py [--count N] [--all]
    python tests/benchmarks/bench_redaction.py personal [--check]  # personal data alone, into docs/privacy.md

Prints the kinds that are not whole (`--all`: every kind), then recall and precision over all values. The kinds and
values are made up from a seed (tests/transcript/planted.py).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from rows import between_marks
from transcript.planted import HARMLESS, SECRETS, Make, personal_of, planted, recall_and_precision

from workbench.transcript.personal import KINDS
from workbench.transcript.redaction import Redactor

Finder: TypeAlias = Callable[[Sequence[tuple[str, str]]], float]
"""The share of texts, each with its value, of which the value is found."""


def ours(many: Sequence[tuple[str, str]]) -> float:
    return sum(value not in Redactor("bench").mask(text) for text, value in many) / len(many)


def theirs(many: Sequence[tuple[str, str]]) -> float:
    """A value counts as found where detect-secrets, in its usual settings, finds it or a part of it in a file."""
    from detect_secrets import SecretsCollection
    from detect_secrets.settings import default_settings

    secrets = SecretsCollection()
    with TemporaryDirectory() as folder, default_settings():
        for number, (text, _) in enumerate(many):
            path = Path(folder) / f"{number}.env"
            path.write_text(text)
            secrets.scan_file(str(path))
    found = {int(Path(name).stem): one.secret_value or "" for name, one in secrets}
    return sum(
        bool(found.get(n)) and (found[n] in value or value in found[n]) for n, (_, value) in enumerate(many)
    ) / len(many)


def shares(kinds: Mapping[str, tuple[str, Make]], count: int, find: Finder) -> dict[str, float]:
    """By kind, the share of values that are found."""
    return {kind: find(list(planted(kinds, kind, count))) for kind in kinds}


PAGE = Path(__file__).parents[2] / "docs" / "privacy.md"


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
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--all", action="store_true")
    options.add_argument("part", nargs="?", choices=["personal"])
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    if given.part:
        return int(between_marks(PAGE, "personal", personal(given.count), check=given.check))
    has_theirs = find_spec("detect_secrets") is not None
    for title, kinds, whole in (("credentials masked", SECRETS, 1.0), ("harmless texts masked", HARMLESS, 0.0)):
        own, other = shares(kinds, given.count, ours), shares(kinds, given.count, theirs) if has_theirs else {}
        print(f"{title:32}{'workbench':>12}{'detect-secrets':>16}")
        for kind in kinds:
            if given.all or own[kind] != whole:
                print(f"{kind:32}{own[kind]:12.3f}{other.get(kind, nan):16.3f}")
        means = [sum(one.values()) / len(kinds) if one else nan for one in (own, other)]
        print(f"{f'all {len(kinds)} kinds':32}{means[0]:12.3f}{means[1]:16.3f}\n")
    print("\n".join(personal(given.count)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
