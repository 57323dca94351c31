from dataclasses import fields, replace

from workbench.transcript.message import Image, Text, ToolResult, plain_text, with_blocks


def test_a_result_with_other_blocks_keeps_all_the_rest() -> None:
    full = ToolResult(id="r", call_id="c", blocks=(Text("x"),), name="read", is_error=True, pinned=True, time=1.5)
    assert with_blocks(full, (Text("y"), Image())) == replace(full, blocks=(Text("y"), Image()))
    assert all(getattr(full, field.name) != field.default for field in fields(full) if field.name != "role")


def test_plain_text_joins_all_text_blocks_and_nothing_else() -> None:
    assert plain_text(ToolResult(id="r", call_id="c", blocks=(Text("x"),))) == "x"
    assert plain_text(ToolResult(id="r", call_id="c", blocks=(Image(),))) == ""
    assert plain_text(ToolResult(id="r", call_id="c", blocks=(Text("x"), Image(), Text("y")))) == "x\ny"
