"""The words of a session's own messages, put together for a context, are those of its text."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.evaluation.metrics.work_exam.message_words import MessageWords
from workbench.evaluation.metrics.work_exam.read_context import PlacedContext, ReadContext

NEW = -1  # in the place of the number of a message that the session does not have
VOCABULARY = {word: number for number, word in enumerate(("harbour", "cutter", "buoy", "quay"))}
TEXTS = st.lists(
    st.sampled_from(["harbour ", "cutter ", "buoy, ", "quay. ", "mast ", "the ", "7 ", "\n"]),
    max_size=12,
).map("".join)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, max_size=3), st.data())
def test_a_context_of_own_and_new_messages_has_the_words_of_its_text(
    own_texts: list[str], new_texts: list[str], data: st.DataObject
) -> None:
    kept = sorted(data.draw(st.sets(st.integers(0, len(own_texts) - 1))))
    numbers = data.draw(st.permutations([*kept, *[NEW] * len(new_texts)]))
    unplaced = iter(new_texts)
    texts = [next(unplaced) if number == NEW else own_texts[number] for number in numbers]
    parts = [PlacedContext.of(ReadContext.of(text), VOCABULARY) for text in new_texts]
    placed = MessageWords.of(own_texts).placed(VOCABULARY)
    context = placed.context(np.array(numbers, dtype=np.int64), parts)
    at_once = PlacedContext.of(ReadContext.of("\n".join(texts)), VOCABULARY)
    for ruler in ("words", "statements", "sentences"):
        by_message, of_text = getattr(context, ruler), getattr(at_once, ruler)
        assert by_message.places.tolist() == of_text.places.tolist()
        assert by_message.numbers.tolist() == of_text.numbers.tolist()
        assert by_message.length == of_text.length
