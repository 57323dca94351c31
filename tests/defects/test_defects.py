"""The list of defects fits the code: whoever changes a line that it names finds the line again."""

from defects.plant import defects


def test_there_are_thirty_and_each_can_be_planted() -> None:
    found = defects()
    assert len({one.name for one in found}) == 30
    assert [why for one in found if (why := one.misplaced())] == []
