"""What contexts get that were made to please a measure."""

from __future__ import annotations

import pytest

from workbench import Prepared, load, prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.lab.sides import gamers as side
from workbench.lab.sides.gamers import gamers
from workbench.lab.sides.side import SideTable
from workbench.lab.validation.adversaries import SALADS, Gamer, Salad
from workbench.recordings.datasets.bundled import bundled_files
from workbench.recordings.datasets.generator import generate

LIST, SALAD = Gamer("list", 12), Salad("people", "newest", 12)


def bundled_session(name: str) -> Prepared:
    return prepared(load(next(path for path in bundled_files() if name in str(path)))[0])


@pytest.fixture(scope="module")
def table() -> SideTable:
    return gamers([bundled_session("kiln"), bundled_session("concession")], (LIST, SALAD))


def test_strategies_and_gamers_stand_in_one_table(table: SideTable) -> None:
    contexts = table.rows["context"].tolist()
    assert contexts[: len(side.STRATEGIES)] == list(side.STRATEGIES)
    assert {LIST.label, SALAD.label} <= set(contexts)


def test_a_setting_is_chosen_on_one_half_and_shown_on_the_other(table: SideTable) -> None:
    searched = table.details["all settings"]
    assert searched["searched"].notna().all() and searched["other projects"].notna().all()
    best = searched.iloc[0]
    assert f"{best['context']!r} best: {best['other projects']:.2f}" in table.says


def test_a_list_of_names_tells_less_of_the_work_than_truncation(table: SideTable) -> None:
    work = table.rows.set_index("context")["the work"]
    assert work["null"] < work[LIST.label] < work["truncate"]


def test_what_real_readers_got_stands_beside_what_they_read(table: SideTable) -> None:
    real = table.rows.set_index("context")["real readers"]
    assert 0 < real["null"] < real["truncate"] < real["summarize"] < 1


def test_sessions_without_questions_say_how_to_get_some() -> None:
    assert gamers([prepared(generate(5_000, 0).session)], (LIST,)).says == side.NO_EXAM


def test_a_salad_has_the_words_of_the_history_and_no_small_ones() -> None:
    ready = bundled_session("kiln")
    history = Exams.of(ready.index).history
    for salad in SALADS:
        line = next(salad.lines(history, 40))
        assert len(line.split()) <= salad.words
        assert not {"the", "of", "is"} & set(line.lower().split())
