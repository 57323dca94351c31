"""A context is read line by line: words, sentences, and lines that state something."""

from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.metrics.work_exam.read_context import PlacedContext, ReadContext

VOCABULARY = {word: number for number, word in enumerate(("harbour", "cutter", "buoy", "quay"))}
LINES = st.lists(
    st.sampled_from(["harbour ", "cutter ", "buoy, ", "quay. ", "the ", "7 "]), max_size=12
).map("".join)


def states(line: str) -> bool:
    return all(ReadContext.of(line).states)


def test_prose_headings_and_short_entries_state_something() -> None:
    assert states("The cutter left the harbour, and nobody painted the buoy.")
    assert states("## Next steps")
    assert states("- quay: closed until May")


def test_a_long_row_of_words_without_marks_states_nothing() -> None:
    assert not states("harbour cutter buoy quay lantern mast rudder the of with 1200 44 kg")


def test_a_sentence_ends_with_a_full_stop_or_its_line() -> None:
    context = ReadContext.of("The harbour. The cutter\nThe buoy\n\nThe quay")
    assert context.sentences == [0, 1, 2, 3]
    assert context.sentence_count == 4


@given(st.lists(LINES, min_size=1, max_size=5))
def test_lines_that_are_read_alone_and_joined_are_the_whole(lines: list[str]) -> None:
    parts = [PlacedContext.of(ReadContext.of(line), VOCABULARY) for line in lines]
    joined = PlacedContext.joined(parts)
    placed_context = PlacedContext.of(ReadContext.of("\n".join(lines)), VOCABULARY)
    for ruler in ("words", "statements", "sentences"):
        by_parts, at_once = getattr(joined, ruler), getattr(placed_context, ruler)
        assert by_parts.places.tolist() == at_once.places.tolist()
        assert by_parts.numbers.tolist() == at_once.numbers.tolist()
        assert by_parts.length == at_once.length


@given(st.lists(LINES, min_size=1, max_size=5))
def test_a_text_is_what_its_lines_are(lines: list[str]) -> None:
    assert ReadContext.joined(map(ReadContext.of, lines)) == ReadContext.of("\n".join(lines))
