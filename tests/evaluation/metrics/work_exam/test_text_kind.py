"""The kind of a context says who wrote its summaries."""

import pytest

from workbench.evaluation.metrics.work_exam.text_kind import text_kind


@pytest.mark.parametrize(
    ("writer", "kind"),
    [
        ("", "cut"),
        ("extractive", "rule"),
        ("extractive + the strategy's stand-in", "rule"),
        ("litellm:gpt-4o-mini", "model"),
        ("extractive + a-model", "mixed"),
        ("bundled (a model) + extractive", "mixed"),
        ("bundled (a model)", "model"),
    ],
)
def test_a_context_is_of_the_kind_that_its_writer_makes(writer: str, kind: str) -> None:
    assert text_kind(writer) == kind
