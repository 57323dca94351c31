"""What contexts get that were made to please a measure."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import pytest
from recorded_files import bundled_files

from workbench import Prepared, load, prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.lab.sides.gamers import gamers
from workbench.lab.validation.adversaries import SALADS, Gamer, Salad
from workbench.recordings.datasets.generator import generate

LIST, SALAD = Gamer("list", 12), Salad("people", "newest", 12)


def bundled_session(name: str) -> Prepared:
    return prepared(load(next(path for path in bundled_files() if name in str(path)))[0])


@dataclass(frozen=True, slots=True)
class Shown:
    """What the side shows: its short table, all settings that were searched, and a sentence."""

    rows: pd.DataFrame
    settings: pd.DataFrame
    says: str


@pytest.fixture(scope="module")
def table() -> Shown:
    found = gamers([bundled_session("kiln"), bundled_session("concession")], (LIST, SALAD))
    return Shown(found.rows, found.details["all settings"], found.says)


def test_strategies_and_gamers_stand_in_one_table(table: Shown) -> None:
    contexts = table.rows["context"].tolist()
    assert contexts[:4] == ["null", "truncate", "summarize", "oracle"]
    assert {LIST.label, SALAD.label} <= set(contexts)


def test_a_setting_is_chosen_on_one_half_and_shown_on_the_other(table: Shown) -> None:
    searched = table.settings
    assert searched["searched"].notna().all() and searched["other projects"].notna().all()
    best = searched.iloc[0]
    assert f"{best['context']!r} best: {best['other projects']:.2f}" in table.says


def test_a_list_of_names_tells_less_of_the_work_than_truncation(table: Shown) -> None:
    work = table.rows.set_index("context")["the work"]
    assert work["null"] < work[LIST.label] < work["truncate"]


def test_what_real_readers_got_stands_beside_what_they_read(table: Shown) -> None:
    real = table.rows.set_index("context")["real readers"]
    assert 0 < real["null"] < real["truncate"] < real["summarize"] < 1


def test_sessions_without_questions_say_how_to_get_some() -> None:
    says = gamers([prepared(generate(5_000, 0).session)], (LIST,)).says
    assert "No session here has a written exam of the work" in says
    assert "`workbench lab exam write` has one written" in says


def test_a_salad_has_the_words_of_the_history_and_no_small_ones() -> None:
    ready = bundled_session("kiln")
    history = Exams.of(ready.index).history
    for salad in SALADS:
        line = next(salad.lines(history, 40))
        assert len(line.split()) <= salad.words
        assert not {"the", "of", "is"} & set(line.lower().split())
