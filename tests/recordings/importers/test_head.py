from __future__ import annotations

import json

from workbench.recordings.importers.head import Head


def test_keys_are_seen_where_the_head_ends_in_the_middle_of_a_value() -> None:
    document = json.dumps(
        {"info": {"inner": 1}, "text": 'a "quoted" {brace}', "messages": [{"role": "user"}] * 99}
    )
    start = Head.of(document[:120])
    assert start.keys == {"info", "text", "messages"}
    assert not start.is_list
    assert start.records == ()


def test_the_keys_of_a_list_are_those_of_its_first_element() -> None:
    start = Head.of(json.dumps([{"task_id": 1, "traj": [{"role": "x"}]}, {"other": 2}]))
    assert start.is_list
    assert start.keys == {"task_id", "traj"}


def test_whole_lines_are_records_and_damaged_ones_are_passed_over() -> None:
    start = Head.of('// a comment\n{"a": 1}\n{"b": \n{"c": 3}\n{"d": 4')
    assert start.records == ({"a": 1}, {"c": 3})


def test_words_are_no_record() -> None:
    assert Head.of("just words: {not json}").records == ()
