"""What is found in texts that are not of the session."""

from __future__ import annotations

from builders import said
from workbench.evaluation.metrics.index import Index

INDEX = Index([said("retryLimit is 4500\nmaxDelay is 9000"), said("burstSize = 3")])


def entities(*texts: str) -> list[tuple[int, str, str]]:
    """The text, span and name of each of the session's entities."""
    indexed_texts, p = INDEX.read(texts), INDEX.inverted_index
    pairs = zip(indexed_texts.entity_row.tolist(), indexed_texts.entities.tolist(), strict=True)
    return [
        (int(indexed_texts.text[row]), p.texts[indexed_texts.spans[row]], p.names[number].text)
        for row, number in pairs
    ]


def test_spans_of_the_session_and_others_are_read_in_the_order_of_the_text() -> None:
    line = "retryLimit and burstSize"
    found = [(0, line, "burstSize"), (0, line, "retryLimit"), (0, "burstSize = 3", "burstSize")]
    assert sorted(entities(f"neverSaid is new\n{line}\nburstSize = 3")) == sorted(found)
    spans = [
        INDEX.inverted_index.texts[span]
        for span in INDEX.read(["firstNew\nburstSize = 3\nlastNew"]).spans
    ]
    assert spans == ["firstNew", "burstSize = 3", "lastNew"]


def test_texts_are_told_apart_whenever_their_spans_were_first_met() -> None:
    INDEX.read(["maxDelay now\nburstSize now"])
    found = entities("burstSize now", "nothing", "maxDelay now\nmaxDelay is 9000")
    named = sorted((text, name) for text, _, name in found if name != "9000")
    assert named == [(0, "burstSize"), (2, "maxDelay"), (2, "maxDelay")]
