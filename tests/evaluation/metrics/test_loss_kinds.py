"""The kind of a lost thing is read from its line too."""

import pytest

from builders import told
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.loss_kinds import loss_kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("pushed to origin/chore/remove-artifacts", "id"),
        ("pay with gift_card_6847880", "id"),
        ('open "my docs/plans/first-plan.md"', "path"),
        ("color: var(--vscode-descriptionForeground)", "identifier"),
        ("  --accent: tint(3)", "identifier"),
        ("watch LZg1H7xaQtI now", "id"),
        ('return fmt.Errorf("cannot delete branch %s", name)', "error"),
        ('raise Refusal(detail="no such seed row")', "error"),
        ("answers 413 `file_too_large` then", "error"),
        ("return ErrConflict", "error"),
        ("it takes bg-green-100 then", "identifier"),
    ],
)
def test_a_line_may_say_more_of_a_kind_than_the_form(line: str, kind: str) -> None:
    needs = Index([told(line), told(line)]).demand(1).needs
    assert loss_kind(needs[-1]) == kind
