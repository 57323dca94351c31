"""The list of defects fits the code: whoever changes a line that it names finds the line again."""

from defects.plant import defects


def test_there_are_at_least_thirty_and_each_can_be_planted() -> None:
    listed = defects()
    assert len({defect.name for defect in listed}) >= 30
    assert [why for defect in listed if (why := defect.misplaced())] == []
