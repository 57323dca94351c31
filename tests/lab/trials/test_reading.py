from __future__ import annotations

from dataclasses import replace

import pytest
from lab.trials.toys import LISTENS, PORTS, hole

from workbench.lab.trials.agents import HoleReader, texts_of


def test_it_takes_the_candidate_that_the_context_joins_to_the_cue() -> None:
    reading = HoleReader().read(hole(), ["\n".join(LISTENS)])
    assert (reading.value, reading.is_known) == (PORTS[0], True)


def test_the_newest_of_several_values_holds() -> None:
    later = "the billing service listens on port 7013 now, no longer on 7011"
    reading = HoleReader().read(hole(), ["\n".join(LISTENS), later])
    assert (reading.value, reading.is_known) == ("7013", True)


@pytest.mark.parametrize(
    "texts", [[], ["nothing of that kind"], [" ".join(PORTS)], ["the billing service"]]
)
def test_it_does_not_know_what_the_context_does_not_say(texts: list[str]) -> None:
    assert not HoleReader().read(hole(), texts).is_known


def test_where_nothing_speaks_for_a_candidate_the_true_one_is_not_preferred() -> None:
    turned = [replace(hole(), answer=port, look_alikes=tuple({*PORTS} - {port})) for port in PORTS]
    assert len({HoleReader().read(one, [" ".join(PORTS)]).value for one in turned}) == 1


def test_words_and_the_arguments_of_calls_are_read() -> None:
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "read", "arguments": '{"path": "a.py"}'},
    }
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    assert list(texts_of(messages)) == ["hello", 'read {"path": "a.py"}']
