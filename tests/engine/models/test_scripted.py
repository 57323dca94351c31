import pytest

from workbench import ModelError, Scripted, SummaryRequest

REQUEST = SummaryRequest(purpose="summary", system="", write=lambda _: "")


def test_it_says_its_lines_in_order_and_remembers_what_it_was_asked() -> None:
    model = Scripted(["one", "two"])
    assert [model.complete(REQUEST).text, model.complete(REQUEST).text] == ["one", "two"]
    assert model.requests == [REQUEST, REQUEST]


def test_an_error_in_the_script_is_raised() -> None:
    model = Scripted([ModelError("too long", overflow=True), "then this"])
    with pytest.raises(ModelError, match="too long"):
        model.complete(REQUEST)
    assert model.complete(REQUEST).text == "then this"


def test_a_script_at_its_end_says_so() -> None:
    with pytest.raises(ModelError, match="has only 0 answers"):
        Scripted(()).complete(REQUEST)
