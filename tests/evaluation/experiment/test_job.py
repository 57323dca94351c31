"""One job: results in the order of the units, kept under their keys, and why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from workbench import ModelSettings, SettingError, SetupError, Unanswered, preset
from workbench.evaluation.experiment.job import Crew, Job, KeptWork, folder_of
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.spec import Execution


@dataclass
class Square(KeptWork):
    """The square of a number, or an error in its place."""

    number: int
    error: Exception | None = None
    current: bool = True
    made: int = 0

    def key_parts(self) -> Sequence[object]:
        return ("square", self.number)

    def make(self) -> dict[str, Any]:
        self.made += 1
        if self.error is not None:
            raise self.error
        return {"square": self.number**2}

    def is_current(self, result: object) -> bool:
        return self.current


@pytest.fixture
def job(tmp_path: Path) -> Job[Execution]:
    return Job(Execution(quiet=True), (), RunFolder(tmp_path), ModelSettings())


def test_a_result_is_made_once_and_kept_under_its_key(job: Job[Execution]) -> None:
    first, second = Square(3), Square(3)
    assert not job.is_kept(first)
    outcome = job.outcome(first)
    assert (outcome.status, outcome.result, outcome.reason) == ("ok", {"square": 9}, "")
    assert outcome.key == key("square", 3)
    assert (job.folder.path / "replays" / f"{outcome.key}.json").is_file()
    assert job.outcome(second).result == {"square": 9}
    assert (first.made, second.made) == (1, 0)
    assert job.is_kept(second)


def test_a_kept_result_that_no_longer_holds_is_made_anew(job: Job[Execution]) -> None:
    job.outcome(Square(3))
    changed = Square(3, current=False)
    assert job.outcome(changed).status == "ok"
    assert changed.made == 1


@pytest.mark.parametrize("error", [Unanswered("no answer came"), SetupError("a key is missing")])
def test_what_waits_for_something_outside_is_pending_and_tried_again(
    job: Job[Execution], error: Exception
) -> None:
    outcome = job.outcome(Square(3, error))
    assert (outcome.status, outcome.reason) == ("pending", str(error))
    assert job.outcome(Square(3)).status == "ok"


def test_a_wrong_setting_fails_and_says_why(job: Job[Execution]) -> None:
    outcome = job.outcome(Square(3, SettingError("it is too large")))
    assert (outcome.status, outcome.reason, outcome.result) == ("failed", "it is too large", None)
    assert not job.is_kept(Square(3))


def test_a_bug_in_a_part_fails_its_own_work_alone(job: Job[Execution]) -> None:
    outcome = job.outcome(Square(3, KeyError("size")))
    assert (outcome.status, outcome.reason) == ("failed", "KeyError: 'size'")
    assert job.outcome(Square(4)).status == "ok"


def test_where_memory_ran_out_the_worker_is_told(job: Job[Execution]) -> None:
    with pytest.raises(MemoryError):
        job.outcome(Square(3, MemoryError()))


def test_a_folder_is_the_named_one_or_named_after_what_goes_in(tmp_path: Path) -> None:
    assert folder_of(Execution(out=tmp_path), "compare", "settings") == tmp_path
    named_after = folder_of(Execution(), "compare", "settings")
    assert named_after == Path("reports") / f"compare-{key('settings')[:8]}"
    assert named_after != folder_of(Execution(), "compare", "other settings")


@dataclass
class Deadly:
    """Does words in this process; those of some length die, as often as is said."""

    deaths: dict[str, int] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)

    def __call__(self, word: str) -> str:
        self.tried.append(word)
        if self.deaths.get(word, 0) > 0:
            self.deaths[word] -= 1
            raise MemoryError
        return word.upper()


@pytest.fixture
def crew(job: Job[Execution]) -> Iterator[Crew]:
    with job.crew("testing", 3, "word") as crew:
        yield crew


def lost(word: str) -> str:
    return f"{word} is lost"


def test_results_have_the_order_of_the_units_whenever_they_come(crew: Crew) -> None:
    results = crew.results(["one", "two", "three"], Deadly({"one": 1}), lost)
    assert results == ["ONE", "TWO", "THREE"]


def test_a_unit_that_kills_every_worker_is_lost_and_the_others_are_not(crew: Crew) -> None:
    evaluate = Deadly({"two": 99})
    assert crew.results(["one", "two", "three"], evaluate, lost) == ["ONE", "two is lost", "THREE"]
    assert evaluate.tried.count("one") == 1


def test_a_unit_is_done_again_in_smaller_ones_where_it_can_be_split(crew: Crew) -> None:
    told: list[tuple[str, str]] = []
    results = crew.results(
        ["one", "two"],
        Deadly({"one": 1, "n": 99}),
        lost,
        split=list,
        tell=lambda word, result: told.append((word, result)),
    )
    assert results == ["O", "n is lost", "E", "TWO"]
    assert sorted(word for word, _ in told) == ["e", "n", "o", "two"]


def job_in(folder: Path, *, shares: bool) -> Job[Execution]:
    return Job(Execution(quiet=True), (), RunFolder(folder, shares), ModelSettings())


def test_a_result_of_a_run_beside_is_taken_over_and_stays_when_that_run_goes(
    tmp_path: Path,
) -> None:
    earlier = job_in(tmp_path / "earlier", shares=True)
    later = job_in(tmp_path / "later", shares=True)
    earlier.outcome(Square(3))
    square = Square(3)
    assert later.is_kept(square)
    assert later.outcome(square).result == {"square": 9}
    assert square.made == 0
    assert later.folder.replay(key("square", 3)) == {"square": 9}


def test_a_run_in_a_folder_of_its_own_takes_nothing_over(tmp_path: Path) -> None:
    job_in(tmp_path / "earlier", shares=True).outcome(Square(3))
    square = Square(3)
    job_in(tmp_path / "later", shares=False).outcome(square)
    assert square.made == 1


def test_what_cost_money_is_not_taken_over(tmp_path: Path) -> None:
    RunFolder(tmp_path / "earlier").keep(key("square", 3), {"square": 9, "paid": {"a": 0.1}})
    square = Square(3)
    job_in(tmp_path / "later", shares=True).outcome(square)
    assert square.made == 1


def test_what_a_run_beside_found_out_about_the_code_is_not_found_out_again(tmp_path: Path) -> None:
    earlier = RunFolder(tmp_path / "earlier", shares=True)
    earlier.keep("a", {})
    (earlier.path / "code.json").write_text("{}")
    later = RunFolder(tmp_path / "later", shares=True)
    later.begin()
    assert (later.path / "code.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("characters", "strategies", "jobs", "workers"),
    [
        (100_000, 4, None, 1),
        (100_000, 40, None, 2),
        (1_000_000, 4, None, 2),
        (100_000, 4, 2, 2),
        (0, 4, None, 2),
    ],
    ids=["small", "many strategies", "large", "as asked", "unknown"],
)
def test_small_recordings_are_replayed_by_this_process_unless_workers_are_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    characters: int,
    strategies: int,
    jobs: int | None,
    workers: int,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    recording = tmp_path / "session.jsonl"
    recording.write_text("x" * characters)
    presets = (preset("truncate"),) * strategies
    spec = Execution(quiet=True, jobs=jobs)
    job = Job(spec, presets, RunFolder(tmp_path), ModelSettings())
    with job.crew("replaying", 1, sources=[SessionSource(recording)]) as crew:
        assert crew.workers.size == workers
