"""What an advice says before it is done, and how often the final figures keep to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pandas as pd
import pytest
from recorded_files import bundled_files

from workbench import advise
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.sources import sessions_in, sources_of
from workbench.lab.advice import glance
from workbench.lab.advice.advice import UNCOMPACTED, Advice
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.advise import Search
from workbench.lab.advice.preliminary import AdviceSoFar

GRID = 'strategies = ["summarize", "truncate", "pipeline"]\n'


def rows_of(leads: Sequence[float], bills: Sequence[float] = ()) -> pd.DataFrame:
    """A row a session and candidate: `new` keeps so many points more than `old` in each session,
    and its bill is half of the bill, which is $1 where nothing is said.
    """
    rows = []
    for number, lead in enumerate(leads):
        bill = bills[number] if bills else 1.0
        for candidate, kept, saved in (("old", 0.5, 0.0), ("new", 0.5 + lead / 100, bill / 2)):
            row = {"candidate": candidate, "recall": kept, "saved": saved, "plain": bill}
            rows.append({**row, "session": str(number), "ok": True, "fits": True})
    table = pd.DataFrame(rows).assign(net=float("nan"), equipped=float("nan"))
    return table.assign(unit=table["session"], project=table["session"], uncompacted=table["plain"])


def state_of(
    rows: pd.DataFrame,
    unread: int,
    rows_of_default: pd.DataFrame | None = None,
    unread_size: float = 1.0,
) -> AdviceSoFar | None:
    """What rows say beside so many recordings that nothing is known of."""
    sizes = dict.fromkeys(rows["unit"], 1.0)
    sizes |= {f"unread {number}": unread_size for number in range(unread)}
    if rows_of_default is None:
        rows_of_default = rows[rows["candidate"] == "old"]
    return AdviceSoFar.of(rows, rows_of_default, pd.Series(sizes), "old", Trade(0), UNCOMPACTED)


def so_far(
    rows: pd.DataFrame,
    unread: int,
    rows_of_default: pd.DataFrame | None = None,
    unread_size: float = 1.0,
) -> AdviceSoFar:
    state = state_of(rows, unread, rows_of_default, unread_size)
    assert state is not None
    return state


def width(figure: Estimate | None) -> float:
    assert figure is not None and figure.low is not None and figure.high is not None
    return figure.high - figure.low


def test_it_says_who_leads_by_how_much_and_from_how_many_sessions() -> None:
    lines = so_far(rows_of([4.0, 6.0]), unread=6).lines
    assert lines[0] == "preliminary: 2 sessions of 8 recordings, 2 candidates"
    assert lines[1].startswith("new leads by 5.0 points (")
    assert lines[2] == "over old"
    assert lines[3].startswith("and saves 50 % (") and lines[3].endswith(" of the bill")


def test_where_the_default_leads_the_next_stands_against_it() -> None:
    state = so_far(rows_of([-40.0, -60.0]), unread=6)
    assert state.lines[1].startswith("old leads by 50.0 points (")
    assert state.lines[2] == "over new"
    assert state.lines[3].startswith("which saves 50 % (")


def test_a_candidate_that_is_taken_since_it_is_cheaper_does_not_lead() -> None:
    state = so_far(rows_of([-0.5, -0.7]), unread=6)
    assert state.lines[1].startswith("new is cheaper, and level at -0.6 points (")
    assert state.lines[2] == "with old"


def test_what_costs_more_is_not_told_as_a_negative_saving() -> None:
    rows = rows_of([4.0, 6.0])
    rows["saved"] = -rows["saved"]
    dearer_lines = so_far(rows, unread=6).lines
    assert dearer_lines[3].startswith("and costs 50 % (")
    assert dearer_lines[3].endswith(" more than the bill")


def test_no_interval_says_that_more_is_saved_than_is_paid() -> None:
    rows = rows_of([90.0])
    rows.loc[rows["candidate"] == "new", "saved"] = 0.9
    known_rows = rows[rows["candidate"] == "old"].copy()
    others = [known_rows.assign(unit=f"unread {number}", session=f"u{number}") for number in (0, 1)]
    state = so_far(rows, unread=2, rows_of_default=pd.concat([known_rows, *others]))
    assert state.saved is not None and state.usd is not None
    assert state.saved.high == 1 and state.usd.high == 1
    assert state.points.high == 100
    assert state.lines[3].endswith(" to 100) of the bill")
    rows.loc[rows["candidate"] == "new", "saved"] = -0.02
    dearer = so_far(rows, unread=500).lines[3]
    assert dearer.startswith("and costs 2") and "(-100 to" in dearer.replace("−", "-")


def test_dollars_are_told_when_the_bill_of_every_session_is_known() -> None:
    rows = rows_of([4.0, 6.0])
    assert so_far(rows, unread=2).usd is None
    known_rows = rows_of([4.0, 6.0, 0.0, 0.0], bills=[1.0, 1.0, 4.0, 6.0])
    known_rows["unit"] = known_rows["unit"].replace({"2": "unread 0", "3": "unread 1"})
    state = so_far(rows, 2, rows_of_default=known_rows[known_rows["candidate"] == "old"])
    assert state.usd is not None and state.usd.mean == pytest.approx(0.5 * 3.0)
    assert state.lines[4].startswith("$1.50 (") and state.lines[4].endswith(" a session")


def test_an_interval_narrows_to_the_final_figure() -> None:
    leads = [2.0, 9.0, 4.0, 7.0, 5.0, 3.0]
    states = [so_far(rows_of(leads[:count]), unread=6 - count) for count in (1, 2, 4, 6)]
    widths = [width(state.points) for state in states]
    assert widths == sorted(widths, reverse=True) and widths[-1] == 0
    assert states[-1].lines[1] == "new leads by 5.0 points"


def test_a_long_recording_that_is_not_measured_widens_the_interval_of_the_bill() -> None:
    rows = rows_of([4.0, 6.0])
    widths = [width(so_far(rows, 2, unread_size=size).saved) for size in (1.0, 10.0)]
    assert widths[0] < widths[1]


def test_a_recording_without_a_figure_for_the_default_is_not_waited_for() -> None:
    rows = rows_of([4.0, 6.0])
    known_rows = pd.concat([rows, rows.assign(unit="unread 0", session="2", recall=float("nan"))])
    known_rows = known_rows[known_rows["candidate"] == "old"]
    assert width(so_far(rows, 1, rows_of_default=known_rows).points) == 0
    assert width(so_far(rows, 1).points) > 0


def test_nothing_is_said_without_a_figure_or_a_second_candidate() -> None:
    rows = rows_of([4.0, 6.0])
    assert state_of(rows.assign(recall=float("nan")), 6) is None
    assert state_of(rows[rows["candidate"] == "old"], 6) is None


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("space") / "grid.toml"
    file.write_text(GRID)
    return file


@pytest.fixture(scope="module")
def measured(grid: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """All candidates on the smallest bundled sessions."""
    files = sorted(bundled_files(), key=lambda file: file.stat().st_size)[:6]
    spec = AdviceSpec(
        space=grid,
        window=16_000,
        model=("extractive",),
        out=tmp_path_factory.mktemp("run"),
        quiet=True,
        jobs=2,
    )
    search = Search.of(list(map(str, files)), spec)
    return search.measured.of(search.candidates.points, search.order)


def known(rows: pd.DataFrame, units: Sequence[str], read: int) -> AdviceSoFar | None:
    """What is known of some recordings, of which so many were read."""
    of_units = rows[rows["unit"].isin(units)]
    return AdviceSoFar.of(
        of_units[of_units["unit"].isin(units[:read])],
        of_units[of_units["candidate"] == "summarize"],
        pd.Series(1.0, index=pd.Index(units)),
        "summarize",
        Trade(1.0),
        UNCOMPACTED,
    )


def test_a_final_figure_lies_within_the_interval_of_a_glance(
    measured: pd.DataFrame, grid: Path
) -> None:
    spec = AdviceSpec(space=grid, window=16_000, model=("extractive",), default="summarize")
    all_units = sorted(measured["unit"].unique())
    held: list[bool] = []
    for unit in all_units:
        [source] = sources_of([unit])
        first_glance = glance.glance(source, sessions_in(source), spec)
        assert first_glance is not None
        for units in ([unit], all_units):
            first = first_glance.so_far(pd.Series(1.0, index=pd.Index(units)))
            assert first is not None
            pair = measured[measured["candidate"].isin([first.default, first.rival])]
            last = known(pair, units, len(units))
            assert last is not None
            held += is_within(first, last)
    assert len(held) == 24
    assert sum(held) >= 0.95 * len(held)


def is_within(first: AdviceSoFar, last: AdviceSoFar) -> list[bool]:
    """Of the lead and the bill whether the last figure lies within the interval of the first."""
    held = []
    for figure, last_figure in ((first.points, last.points), (first.saved, last.saved)):
        assert figure is not None and last_figure is not None
        assert figure.low is not None and figure.high is not None
        held.append(figure.low <= last_figure.mean <= figure.high)
    return held


def test_a_final_figure_lies_within_a_preliminary_interval_as_often_as_is_promised(
    measured: pd.DataFrame,
) -> None:
    held = []
    for seed in range(40):
        random = Random(seed)
        units = random.sample(sorted(measured["unit"].unique()), random.randint(3, 6))
        first = known(measured, units, random.randint(1, 2))
        assert first is not None
        pair = measured[measured["candidate"].isin(["summarize", first.rival])]
        final = known(pair, units, len(units))
        assert final is not None
        for figure, last in (
            (first.points, final.points),
            (first.saved, final.saved),
            (first.usd, final.usd),
        ):
            assert figure is not None and last is not None
            assert figure.low is not None and figure.high is not None
            held.append(figure.low <= last.mean <= figure.high)
    assert len(held) == 120
    assert sum(held) >= 0.95 * len(held)


def test_what_it_shows_first_leaves_the_answer_as_it_is(
    grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(bundled_files(), key=lambda file: file.stat().st_size)[:3]

    def advice(*, quiet: bool) -> Advice:
        return advise(
            list(map(str, files)),
            space=grid,
            window=16_000,
            model="extractive",
            out=tmp_path / f"quiet {quiet}",
            jobs=1,
            quiet=quiet,
        )

    told, quiet = advice(quiet=False), advice(quiet=True)
    printed = capsys.readouterr().err
    assert "preliminary: 1 session of 3 recordings, 3 candidates\n" in printed
    assert "preliminary: 2 sessions of 3 recordings, 3 candidates\n" in printed
    before_the_answer, _, _ = printed.rpartition("preliminary: ")
    assert "so far names" not in before_the_answer
    assert (told.verdict, told.traded, told.regret) == (quiet.verdict, quiet.traded, quiet.regret)
    pd.testing.assert_frame_equal(told.table, quiet.table)
