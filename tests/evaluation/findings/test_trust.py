"""Which sessions a run warns of."""

import pytest
from report.page.made import made

from workbench import Findings

OWN = "What the agent's own compaction kept is unknown in"


@pytest.mark.parametrize(("readable", "said"), [(0, "2 of 2 sessions"), (1, "1 of 2 sessions")])
def test_compactions_that_nobody_can_read_are_told(readable: int, said: str) -> None:
    run = made(9)
    for session in run.rows["sessions"][:2]:
        session["recorded_compactions"] = 1
    for session in run.rows["sessions"][:readable]:
        score = {"session": session["session"], "strategy": "recorded", "mode": "recorded"}
        names = {"metric": "exam_recall", "value": 0.8, "unit": "share", "better": "higher", "n": 1}
        run.rows["scores"].append(score | names)
    (warning,) = [words for words in Findings.of(run).warnings if words.startswith(OWN)]
    assert warning.startswith(f"{OWN} {said} that had one: its summary is sealed")


def test_agents_that_never_compacted_are_not_told_of() -> None:
    assert OWN not in " ".join(Findings.of(made(9)).warnings)
