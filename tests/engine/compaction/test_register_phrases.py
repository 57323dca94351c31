from workbench import ToolCall
from workbench.engine.compaction.register_phrases import (
    background_id,
    deleted_paths,
    may_end_work,
    purpose,
    speaks_of,
    starts_work,
    tells_reversal,
)


def test_a_reversal_is_told_as_a_fact_and_never_asked_or_planned() -> None:
    assert tells_reversal("we went back to the old parser")
    assert not tells_reversal("should we say that we went back to the old parser?")
    assert not tells_reversal("| change of plan | in a table |")


def test_a_sentence_speaks_of_an_item_that_shares_most_of_its_words() -> None:
    assert speaks_of("The parser tests are done.", "write parser tests")
    assert not speaks_of("The parser is done.", "write parser tests for empty input")


def test_a_sub_agent_and_a_background_command_start_work() -> None:
    assert starts_work(ToolCall("c1", "spawn_agent", {"prompt": "look at the logs"}))
    assert starts_work(ToolCall("c2", "bash", {"command": "serve", "run_in_background": True}))
    assert not starts_work(ToolCall("c3", "bash", {"command": "ls"}))
    assert purpose(ToolCall("c4", "task", {"prompt": "p", "description": "d"})) == "d"


def test_what_runs_has_an_id_and_ends_when_it_is_stopped_or_says_so() -> None:
    assert background_id("Command running in background with ID: shell-3") == "shell-3"
    assert background_id("started") == ""
    assert may_end_work(ToolCall("c1", "kill_shell", {}), "")
    assert may_end_work(ToolCall("c2", "bash_output", {}), "exit code 0")
    assert not may_end_work(ToolCall("c3", "bash_output", {}), "still going")


def test_deleted_paths_are_those_of_patches_and_of_rm() -> None:
    patch = "*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch"
    assert deleted_paths(ToolCall("c1", "apply_patch", {"input": patch})) == ["src/a.py"]
    assert deleted_paths(ToolCall("c2", "bash", {"command": "cd x; rm -f b.py"})) == ["b.py"]
