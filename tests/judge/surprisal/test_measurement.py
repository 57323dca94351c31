from pathlib import Path

import pytest
from models.likely import Echo

from builders import remembering
from workbench.errors import SettingError
from workbench.judge.measurement import PLACE_COLUMNS
from workbench.judge.surprisal.measurement import SurprisalForecast, SurprisalResults, surprisal
from workbench.models.likelihood_cache import CachedLikelihood
from workbench.transcript.session import Session


def session(id: str = "one") -> Session:
    return Session.of(remembering(20), id=id)


def measured(folder: Path, model: Echo, **more: object) -> SurprisalResults:
    kept = CachedLikelihood("echo", model.window, lambda: model, folder / "kept.sqlite", "echo")
    done = surprisal(
        [session("one"), session("two")], strategies=("truncate",), shares=(0.3,), boundaries=(0.5, 0.7),
        likelihood=kept, out=folder / "out", quiet=True, **more,
    )  # type: ignore[arg-type]  # fmt: skip
    assert done is not None
    return done


def test_the_whole_history_is_the_least_surprising_and_the_floor_the_most(tmp_path: Path) -> None:
    done = measured(tmp_path, Echo(10**6))
    assert list(done.table.columns) == list(PLACE_COLUMNS | SurprisalResults.columns)
    by = {row["strategy"]: row for row in done.means()}
    none, truncate, null = (by[name]["per_token"] for name in ("none", "truncate", "null"))
    assert isinstance(none, float) and isinstance(truncate, float) and isinstance(null, float)
    assert none < truncate <= null
    assert by["none"]["excess"] == 0 and by["none"]["bound"] == 1 and by["null"]["bound"] == 0
    assert by["truncate"]["sessions"] == 2 and by["truncate"]["boundaries"] == 4


def test_a_second_run_asks_the_model_nothing(tmp_path: Path) -> None:
    model, told = Echo(10**6), list[SurprisalForecast]()
    first = measured(tmp_path, model)
    asked = len(model.asked)

    def before(forecast: SurprisalForecast) -> bool:
        told.append(forecast)
        return True

    again = measured(tmp_path, model, before=before)
    assert len(model.asked) == asked and told[0].tokens == 0 and told[0].kept == told[0].contexts
    assert again.table.equals(first.table) and again.notes["scored_now"] == 0


def test_how_long_it_takes_is_said_before_it_starts_and_can_end_it(tmp_path: Path) -> None:
    model, told = Echo(10**6), list[SurprisalForecast]()
    kept = CachedLikelihood("echo", model.window, lambda: model, tmp_path / "kept.sqlite", "echo")

    def before(forecast: SurprisalForecast) -> bool:
        told.append(forecast)
        return False

    out = tmp_path / "out"
    assert surprisal(session(), strategies=("truncate",), likelihood=kept, out=out, before=before) is None
    assert told[0].contexts > 0 == told[0].kept and told[0].tokens > 100 and told[0].seconds > 0
    assert not out.exists() and len(model.asked) <= 2


def test_a_history_that_does_not_fit_is_a_row_with_its_reason_and_never_a_number(tmp_path: Path) -> None:
    table = measured(tmp_path, Echo(500)).table
    none = table[table["strategy"] == "none"]
    assert (none["reason"] != "").all() and none["per_token"].isna().all()
    rest = table[table["strategy"] == "null"]
    assert (rest["reason"] == "").all() and rest["excess"].isna().all()


def test_a_folder_without_a_measurement_says_which_command_makes_one(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="workbench judge surprisal"):
        SurprisalResults.open(tmp_path)
