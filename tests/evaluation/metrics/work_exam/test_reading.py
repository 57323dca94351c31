"""What a real model would answer from a context: read once a session, and absent where nobody
wrote an exam.
"""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import said, told
from workbench import Session, Summary, load, save
from workbench.engine.transcript.message import said_text
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.reading import WorkReading, context_text

TEXTS = [
    "Rename the harbour module.",
    "The harbour module is imported by nine files.",
    "Then wait with it.",
    "I wait.",
]
BOUNDARY = 3


def recorded(folder: Path, *later: str) -> Session:
    """A session on disk, without an exam; these texts are said later."""
    messages = [
        said(text, f"m{i}") if i % 2 == 0 else told(text, f"m{i}")
        for i, text in enumerate([*TEXTS, *later])
    ]
    path = folder / "harbour.jsonl"
    save(Session.of(messages, id="harbour"), path)
    return load(path)[0]


def examined(folder: Path, *later: str) -> Session:
    """The same with an exam beside it."""
    session = recorded(folder, *later)
    shutil.copy(Path(__file__).with_name("harbour.jsonl.exam.json"), folder)
    return session


def test_the_chance_is_that_of_the_reader_for_the_text_of_the_context(tmp_path: Path) -> None:
    session = examined(tmp_path)
    reading = WorkReading.of_written(session)
    summary = Summary(
        id="s", text="## State\nThe harbour module is used widely:\nnine files import it."
    )
    context = [session.messages[0], summary, session.messages[2]]
    rarity = Rarity(said_text(message) for message in session.messages[:BOUNDARY])
    exams = exams_of(session)
    assert exams is not None
    expected = shipped_reader().chances(exams.exams[0].questions, context_text(context), rarity)
    assert reading.chance(BOUNDARY, context) == pytest.approx(expected.mean())


LATER = (
    "A mast. Its files.\nThe mast is tall. There are nine.",
    "mast harbour nine quay files buoy import lantern module cutter rope anchor nine files import",
)
"""Several sentences and lines, and a row of words that states nothing."""


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return examined(tmp_path_factory.mktemp("harbour"), *LATER)


WORDS = ("nine files ", "import it. ", "the harbour, ", "module ", "mast ", "7 ", "\n")
WRITTEN = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)


@given(st.sets(st.integers(0, BOUNDARY + len(LATER))), st.lists(WRITTEN, max_size=3), st.data())
def test_messages_of_the_session_and_new_ones_are_read_as_their_text(
    harbour: Session, kept: set[int], written: list[str], data: st.DataObject
) -> None:
    new = [Summary(id=f"s{number}", text=text) for number, text in enumerate(written)]
    own = [harbour.messages[number] for number in sorted(kept)]
    context = data.draw(st.permutations([*own, *new]))
    exams = exams_of(harbour)
    assert exams is not None
    rarity = Rarity(said_text(message) for message in harbour.messages[:BOUNDARY])
    expected = shipped_reader().chances(exams.exams[0].questions, context_text(context), rarity)
    chance = WorkReading.of_written(harbour).chance(BOUNDARY, context)
    assert chance == pytest.approx(expected.mean())


def test_a_context_that_tells_has_a_higher_chance_than_one_that_does_not(tmp_path: Path) -> None:
    session = examined(tmp_path)
    reading = WorkReading.of_written(session)
    history = session.messages[:BOUNDARY]
    whole, request = reading.chance(BOUNDARY, history), reading.chance(BOUNDARY, history[-1:])
    assert whole is not None
    assert request is not None
    assert whole > request + 0.3


def test_a_boundary_without_questions_has_no_chance(tmp_path: Path) -> None:
    session = examined(tmp_path)
    assert WorkReading.of_written(session).chance(2, session.messages[:2]) is None


def test_a_session_without_an_exam_says_how_to_get_one(tmp_path: Path) -> None:
    reading = WorkReading.of_written(recorded(tmp_path))
    assert "exam write" in reading.why
    assert reading.boundaries == ()
    assert reading.chance(BOUNDARY, []) is None


def test_a_damaged_exam_is_a_reason_and_no_failure(tmp_path: Path) -> None:
    session = examined(tmp_path)
    (tmp_path / "harbour.jsonl.exam.json").write_text("{")
    reading = WorkReading.of_written(session)
    assert reading.why.startswith("the session's exam of the work cannot be read")
    assert reading.boundaries == ()


def test_an_index_keeps_the_reading_of_its_session(tmp_path: Path) -> None:
    session = examined(tmp_path)
    index = Index(session.messages)
    assert WorkReading.of(index, session) is WorkReading.of(index, session)


def test_a_summary_of_jumbled_words_is_read_as_the_reader_reads_its_text(tmp_path: Path) -> None:
    session = examined(tmp_path)
    summary = Summary(id="s", text="files harbour nine module imported rename wait\nNine files.")
    context = [summary, session.messages[2]]
    rarity = Rarity(said_text(message) for message in session.messages[:BOUNDARY])
    assert rarity.order.is_jumbled(summary.text.splitlines()[0])
    exams = exams_of(session)
    assert exams is not None
    expected = shipped_reader().chances(exams.exams[0].questions, context_text(context), rarity)
    chance = WorkReading.of_written(session).chance(BOUNDARY, context)
    assert chance == pytest.approx(expected.mean())


def test_a_users_own_message_without_small_words_is_no_jumble(tmp_path: Path) -> None:
    session = examined(tmp_path)
    reading = WorkReading.of_written(session)
    assert reading.chance(BOUNDARY, session.messages[:BOUNDARY]) is not None
