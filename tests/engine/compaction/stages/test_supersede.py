"""Supersession: the newest version of a thing stays, the older ones become markers."""

from builders import result, said
from workbench import AssistantMessage, Budget, Context, ToolCall
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Json, Message, plain_text, said_text

BUDGET = Budget(target=0, window=1_000)
LONG = "a line of the file, long enough for a marker\n" * 20


def step(
    number: int, tool: str, text: str = LONG, *, failed: bool = False, **arguments: Json
) -> list[Message]:
    call = ToolCall(f"c{number}", tool, arguments)
    return [
        AssistantMessage(id=f"a{number}", blocks=(call,)),
        result(text, f"c{number}", is_error=failed),
    ]


def superseded(*steps: list[Message]) -> list[bool]:
    """For each step whether its result or its arguments are a marker now."""
    messages = [said("go"), *(message for step in steps for message in step)]
    context = Context.of(messages)
    plan = STAGES["supersede"]().plan(context, BUDGET)
    done = context if plan is None else plan.apply(context)
    assert len(done.messages) == len(messages), "pairs stay whole"
    texts = [
        said_text(done.messages[i]) + plain_text(done.messages[i + 1])
        for i in range(1, len(messages), 2)
    ]
    return ["[superseded" in text for text in texts]


def test_the_newest_read_of_a_file_stays_also_after_an_edit() -> None:
    edit = step(2, "edit", "ok", path="a.py", old_string="x", new_string="y")
    read = step(1, "read", path="a.py")
    assert superseded(read, edit, step(3, "read", path="./a.py")) == [True, False, False]
    assert superseded(read, edit) == [False, False], "an edit alone replaces no read"
    assert superseded(read, step(3, "read", path="b.py")) == [False, False]
    assert superseded(read, step(3, "read", path="a.py", failed=True)) == [False, False]


def test_a_part_of_a_file_replaces_the_same_part_alone() -> None:
    part = step(1, "read", path="a.py", offset=1, limit=20)
    whole = step(2, "read", path="a.py")
    assert superseded(part, step(3, "read", path="a.py", offset=1, limit=20)) == [True, False]
    assert superseded(part, step(3, "read", path="a.py", offset=20, limit=20)) == [False, False]
    assert superseded(whole, part) == [False, False]
    assert superseded(part, whole) == [True, False]


def test_the_newest_output_of_a_command_stays() -> None:
    run = step(1, "bash", command="pytest", description="run the tests")
    assert superseded(run, step(2, "bash", command="pytest", failed=True)) == [True, False]
    assert superseded(run, step(2, "bash", command="pytest -x")) == [False, False]


def test_a_poll_continues_the_last_result_and_does_not_replace_it() -> None:
    assert superseded(step(1, "BashOutput", bash_id="1"), step(2, "BashOutput", bash_id="1")) == [
        False,
        False,
    ]


def test_the_newest_whole_file_and_task_list_stay() -> None:
    write = step(1, "write", "ok", path="a.py", content=LONG)
    assert superseded(write, step(2, "write", "ok", path="a.py", content=LONG)) == [True, False]
    assert superseded(write, step(2, "read", path="a.py")) == [True, False]
    assert superseded(step(1, "read", path="a.py"), write) == [True, False]
    plan = [
        {"content": f"item {n} of the plan, in so many words", "status": "pending"}
        for n in range(9)
    ]
    assert superseded(step(1, "todos", "ok", items=plan), step(2, "todos", "ok", items=plan)) == [
        True,
        False,
    ]
