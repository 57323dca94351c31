"""Presets beside their peers on recordings: differences are stated in the preset's file, and a
planted one is found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import pytest
from peers import compare_peers
from peers.comparison import Sized, compare
from peers.rules import ROWS, Compared

from profiles import FULL
from workbench import Budget, Context, Preset, load, preset
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.stages import Summarize

ROOT = Path(__file__).parents[2]
PRESETS = ROOT / "workbench" / "engine" / "compaction" / "presets"
BUNDLED = ROOT / "datasets" / "recorded"
RECORDED = (
    "oh-my-posh/f776f2bf-23df-4ccd-808c-738ef763c1c6.jsonl",
    "auth-go/019e44d4-6ecf-7c1d-96ab-582effc13411.jsonl",
)
S = TypeVar("S")
BY_NAME = {row.name: row for row in ROWS}


@cache
def sized(path: Path) -> Sized:
    (session,) = load(str(path))
    return Sized.of(session)


def bundled() -> list[Sized]:
    names = ("poolside-requirements", "stockroom-holds", "kiln-uploads")
    return [sized(BUNDLED / name / "session.jsonl.gz") for name in (names if FULL else names[:2])]


def beside(row: Compared) -> Compared:
    if not compare_peers.installed(row):
        pytest.skip(f"{row.package} is not installed: `.ci/peers` compares with it")
    return row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_differs_from_the_peer_is_stated(row: Compared) -> None:
    tally = compare(bundled(), beside(row).preset, row.peer, row.rules)
    assert tally.compactions
    assert not tally.unexplained


@pytest.mark.parametrize("row", [row for row in ROWS if not row.package], ids=lambda row: row.name)
def test_so_it_is_on_recordings_of_other_projects(row: Compared, corpora: Path) -> None:
    tally = compare(
        [sized(corpora / name) for name in (RECORDED if FULL else RECORDED[:1])],
        row.preset,
        row.peer,
        row.rules,
    )
    assert tally.compactions
    assert not tally.unexplained


def docstring_of(file: Path) -> str:
    """What a file of the package says of itself."""
    return ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_words_of_each_rule_stand_in_the_presets_file(row: Compared) -> None:
    own_file = PRESETS / f"{row.name}.py"
    if not own_file.exists():
        own_file = PRESETS / row.name / "__init__.py"
    texts = [docstring_of(PRESETS / "__init__.py"), docstring_of(own_file)]
    stated = " ".join(" ".join(texts).split())
    assert [rule for rule, words in row.rules.items() if words not in stated] == []


def keeps_less(whole: Preset) -> Preset:
    """The preset with newest messages of 18,000 tokens at most."""
    stages: list[Stage] = []
    for stage in whole.strategy.stages:
        if isinstance(stage, Summarize):
            stage = replace(stage, cut=partial(cut_for_less, stage.cut))
        stages.append(stage)
    return replace(whole, strategy=replace(whole.strategy, stages=tuple(stages)))


def cut_for_less(cut: Callable[[Context, Budget], S], context: Context, budget: Budget) -> S:
    return cut(context, replace(budget, keep_recent=18_000))


PLANTED: Mapping[str, Callable[[Preset], Preset]] = {
    "observation_mask": lambda whole: preset(whole, attention_window=99),
    "pi": keeps_less,
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_makes_it_fail(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(BUNDLED / "poolside-requirements")
    row = BY_NAME[name]
    assert compare_peers.main([path], [row]) == 0
    assert compare_peers.main([path], [replace(row, part=PLANTED[name])]) == 1
    assert "UNEXPLAINED poolside-requirements compaction 0" in capsys.readouterr().out


def test_a_missing_package_fails_only_where_all_are_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(BUNDLED / "stockroom-holds")
    row = replace(BY_NAME["observation_mask"], package="no-such-package")
    assert compare_peers.main([path], [row]) == 0
    assert compare_peers.main([path, "--packages"], [row]) == 1
    assert "no-such-package is not installed" in capsys.readouterr().out


def test_other_figures_than_those_of_the_page_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(BUNDLED / "stockroom-holds" / "session.jsonl.gz")
    assert compare_peers.main([recording, "--presets", "pi"]) == 0
    assert compare_peers.main([recording, "--presets", "pi", "--check"]) == 1
    page = (ROOT / "reports" / "studies" / "peers" / "README.md").read_text("utf-8")
    figures_of_page, recordings_of_rules = compare_peers.printed(BY_NAME["pi"], page)
    assert len(figures_of_page) > 2
    said = f"reports/studies/peers says {(figures_of_page, recordings_of_rules)}"
    assert said in capsys.readouterr().out
