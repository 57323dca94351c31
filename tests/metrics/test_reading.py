"""What a reader makes of texts that are not of its session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import said
from workbench.metrics import reading
from workbench.metrics.index import Index
from workbench.metrics.reading import LONG, Reader

INDEX = Index([said("retryLimit is 4500\nmaxDelay is 9000"), said("burstSize = 3")])
LINES = st.lists(st.sampled_from(["- retryLimit is 4500", "12\tburstSize = 3", "", " ", "\x1b[1mnew", "Of newName"]))

CUT = st.sampled_from(["\n", "", "x"])


@given(lead=LINES, body=LINES, tail=LINES, before=CUT, after=CUT)
def test_a_text_within_another_reads_as_it_does_by_itself(
    lead: list[str], body: list[str], tail: list[str], before: str, after: str
) -> None:
    text = "\n".join([*body, "maxDelay is 9000 " * (LONG // 17), *body])
    reader = Reader(INDEX.inverted_index)
    whole = "\n".join(lead) + before + text + after + "\n".join(tail)
    assert list(reader.spans(whole)) == list(Reader(INDEX.inverted_index).spans(whole))
    assert list(reader.spans(text)) == list(Reader(INDEX.inverted_index).spans(text))
    assert list(reader.spans(whole)) == list(Reader(INDEX.inverted_index).spans(whole))


def test_a_long_text_that_was_forgotten_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "TEXTS", 1)
    reader = Reader(INDEX.inverted_index)
    text = "maxDelay is 9000 " * (LONG // 17 + 1)
    for whole in (f"lead\n{text}", text, f"lead\n{text}", "short", f"lead\n{text}", text):
        assert list(reader.spans(whole)) == list(Reader(INDEX.inverted_index).spans(whole))


def test_spans_of_the_session_and_others_stand_side_by_side() -> None:
    reader = Reader(INDEX.inverted_index)
    found = reader.read("neverSaid is new\nburstSize = 3\nburstSize and retryLimit")
    texts = [reader.text(span) for span in found.spans.tolist()]
    assert texts == ["neverSaid is new", "burstSize = 3", "burstSize and retryLimit"]
    entities = [(row, reader.name(entity).text) for row, entity in zip(found.entity_row, found.entities, strict=True)]
    assert sorted(entities) == [(1, "burstSize"), (2, "burstSize"), (2, "retryLimit")]
    every = [(row, reader.name(entity).text) for row, entity in zip(found.every_row, found.every, strict=True)]
    assert sorted(every) == [(0, "neverSaid"), *sorted(entities)]


def test_spans_of_others_keep_their_order_whenever_they_were_first_met() -> None:
    reader = Reader(INDEX.inverted_index)
    reader.read("firstNew is here\nsecondNew is there")
    found = reader.read("secondNew is there\nburstSize = 3\nfirstNew is here")
    every = [(row, reader.name(entity).text) for row, entity in zip(found.every_row, found.every, strict=True)]
    assert sorted(every) == [(0, "secondNew"), (1, "burstSize"), (2, "firstNew")]
