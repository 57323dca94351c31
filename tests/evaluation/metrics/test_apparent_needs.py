"""What is no need though an answer uses the name, and what is one."""

from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index

READ = called("Read", "c1", file_path="src/app.ts")


def listed(history: list[Message], *future: Message) -> list[str]:
    """The names that count as lost where the whole history is gone, but for that of the file."""
    index = Index([*history, *future])
    names = []
    for need in index.demand(len(history)).needs:
        if not index.apparent_needs.is_apparent(need):
            names.append(need.entity.text)
    return [name for name in names if name != "app.ts"]


def shown(line: str) -> list[Message]:
    return [READ, result(line, "c1", name="Read")]


def test_words_that_slashes_join_are_a_list_and_no_path() -> None:
    assert listed(shown("mind tea/coffee/milk"), told("I mind tea/coffee/milk")) == []
    folders = shown("see src/parts/menu and src/parts/bar.ts")
    assert "src/parts/menu" in listed(folders, told("I open src/parts/menu"))


def test_a_number_of_another_drawing_is_no_need() -> None:
    icon = '<path d="M2.5 12C3.732 7.9 7.5 5 12 5z"/>'
    other_icon = '<path d="M15.2 5.2l3.5 3.5M16.7 3.732z"/>'
    assert listed(shown(icon), called("Edit", old_string=other_icon)) == []
    assert "4500 ms" in listed(shown("the timeout is 4500 ms"), told("the timeout stays 4500 ms"))


def test_a_number_of_something_else_is_no_need() -> None:
    history = shown("the index took 1.8 s to load")
    assert listed(history, told("tests passed in 1.8 s")) == []


def test_a_known_file_that_is_written_whole_needs_no_line_as_it_stood() -> None:
    history = shown("export const widgetKinds = paintRound()")
    again = called(
        "Write", file_path="src/app.ts", content="export const widgetKinds = paintRound()"
    )
    assert listed(history, again) == []
    elsewhere = called("Write", file_path="src/new.ts", content="show(widgetKinds, paintRound())")
    assert listed(history, elsewhere) == ["widgetKinds"]


def test_code_that_the_agent_says_again_as_it_stood_needs_no_name_of_it() -> None:
    history = shown("export const widgetKinds = paint(3)")
    assert listed(history, told("export const widgetKinds = paint(3)")) == []
    assert listed(history, told("export const widgetKinds = paint(4)")) == ["widgetKinds"]


@pytest.mark.parametrize(
    "line",
    [
        "function seedRows(path) {",
        "func (s *Store) seedRows() error {",
        "seedRows: string[]",
        "const seedRows = 3",
        "    seedRows(first: number) {",
    ],
)
def test_code_needs_a_name_that_the_project_defines(line: str) -> None:
    edit = called("Edit", file_path="src/b.ts", old_string="old", new_string="run(seedRows)")
    assert "seedRows" in listed(shown(line), edit)


@pytest.mark.parametrize("line", ["await seedRows(3)", "show(seedRows)", "say seedRows"])
def test_code_needs_no_name_that_may_be_a_library_s(line: str) -> None:
    edit = called("Edit", file_path="src/b.ts", old_string="old", new_string="run(seedRows)")
    assert listed(shown(line), edit) == []


def test_what_an_edit_quotes_is_needed() -> None:
    line = "export const widgetKinds = paintRound()"
    edit = called("Edit", file_path="src/app.ts", old_string=line, new_string=line + " // ready")
    assert listed(shown(line), edit) == ["widgetKinds", "paintRound"]


@pytest.mark.parametrize(
    ("stated", "written"),
    [
        ("const newLevel = cycle()", "const newLevel = other()"),
        ('fail("expected stats here")', 'check("expected stats here")'),
        ("width: 88%", "height: 88%"),
        ("headTree.walk(visit)", "headTree *object.Tree,"),
        ("return seedService.rows()", "@Mock SeedService seedService;"),
        ("--accent: tint(3)", "--accent: tint(4)"),
    ],
    ids=["local variable", "text of a string", "style", "parameter", "field", "property"],
)
def test_what_new_code_makes_itself_is_no_need(stated: str, written: str) -> None:
    edit = called("Edit", file_path="src/b.ts", old_string="old", new_string=written)
    assert listed(shown(stated), edit) == []


@pytest.mark.parametrize(
    ("stated", "used"),
    [
        ("if (status == http.StatusTeapot)", "return http.StatusTeapot"),
        ("the ETag of it", "send the ETag"),
        ('<i className="mt-3 widgetBox">', '<b className="mt-3 widgetBox">'),
        ("the fill is #808080", "then #808080"),
        ('"steps": "one\\nStore the plan"', '"steps": "two\\nStore the plan"'),
        ("branch keep/backup-20260627", "git log keep/backup-20260627"),
        ("total.toLocaleString() tokens", "show it with toLocaleString"),
        ('id("b2c3d4e5f6a7")', 'another id("b2c3d4e5f6a7")'),
        ("look at OpenInference and Datasets", "as OpenInference and others do"),
        ("error: event.data?.error,", "error: event.data?.error,"),
        ("take text.slice(0,120)", "now text.slice(0,120)"),
        ("each run writes summary.json", "runs/<time>/summary.json"),
        ('a("https://seeds.example/{row[name]}")', 'b("https://seeds.example/{row[name]}")'),
        ("scan for .venv/caches/keys", "now scan for .venv/caches/keys"),
        ("run `docker compose ps` for it", "`docker compose ps` shows it"),
        ("grep --line-buffered seeds", "tail seeds | grep --line-buffered rows"),
        ("redis listens on 6379", "redis listens on 6379"),
        ('class="text-3xl wide"', "then text-3xl"),
        ("no PAN/card_id/account_id here", "still no PAN/card_id/account_id"),
        ("then vitest.config.ts", "now vitest.config.ts"),
        ("a mile has 5280 feet", "a mile has 5280 feet"),
        ("ran npx tsc --noEmit", "run npx tsc --noEmit"),
        ("ran `pnpm test` here", "`pnpm test` passes"),
        ("see app/src/main/AndroidManifest.xml", "open AndroidManifest.xml"),
        (r"git.exe in C:\Program Files\Git\cmd", r"run C:\Program Files\Git\bin"),
        (
            f"{'see the rows and the seeds of ' * 13}src/seed/ro",
            f"{'see the rows and the seeds of ' * 13}src/seed/ro",
        ),
    ],
    ids=[
        "standard library",
        "common word",
        "style",
        "colour",
        "escape",
        "piece of a word",
        "method of a language",
        "made-up hash",
        "product",
        "expression",
        "two arguments",
        "scheme of a path",
        "address before a placeholder",
        "list that begins with a hidden folder",
        "command that any project has",
        "flag that any model knows",
        "usual port",
        "size of a style",
        "list of names",
        "usual name of a tool's settings",
        "known constant",
        "command of a known tool",
        "script that nearly each project has",
        "usual file of a project",
        "folder whose name has a blank",
        "end of a line that was cut",
    ],
)
def test_what_any_model_knows_and_pieces_of_words_are_no_needs(stated: str, used: str) -> None:
    assert listed(shown(stated), told(used)) == []


def test_what_an_answer_repeats_of_a_tools_output_is_no_need() -> None:
    history = shown("func rebuildCycle() {")
    assert listed(history, told("src/cycle.go:12: func rebuildCycle() {")) == []
    assert listed(history, told("I keep rebuildCycle")) == ["rebuildCycle"]


def test_the_words_of_tools_are_no_needs() -> None:
    call = called("file_editor", "c1", command="str_replace", old_str="x")
    history: list[Message] = [call, result("file_editor needs old_str", "c1", is_error=True)]
    assert listed(history, told("file_editor wants old_str")) == []


def test_a_person_may_need_what_only_a_person_said() -> None:
    assert listed([said("keep retryLimit at three")], told("retryLimit stays")) == ["retryLimit"]


def test_a_name_that_code_has_too_is_no_product() -> None:
    history = shown("<RoundBadge/> draws it, and RoundBadge has a tint")
    assert "RoundBadge" in listed(history, told("where RoundBadge has the tint"))


def test_what_a_recording_keeps_of_a_tools_answer_in_the_call_is_no_need() -> None:
    history = shown('"nodeLabel": 1')
    answer = '*Parameters*:\n* repo: seeds\n\n*Result*:\n"nodeLabel": 2'
    assert listed(history, called("mcp_get_contents", input=answer)) == []
    text = answer.replace("* repo: seeds", "* repo: nodeLabel")
    assert listed(history, called("mcp_get_contents", input=text)) == ["nodeLabel"]


def test_the_end_of_a_tools_name_is_no_need() -> None:
    history: list[Message] = [called("mcp_hub_push_seeds", "c1", repo="x"), said("use push_seeds")]
    assert listed(history, told("I use push_seeds")) == []


def test_a_numbered_line_of_a_known_file_is_known_when_the_file_is_written_again() -> None:
    history = shown("12|    run: paintRound(widgetKinds)")
    again = called("Write", file_path="src/app.ts", content="run: paintRound(widgetKinds)")
    assert listed(history, again) == []


LISTING = """seeds/app.py
<source>
flow_step = paintRound(3)
</source>"""


def test_a_file_that_the_words_list_again_needs_no_line_as_it_stood() -> None:
    changed = told(LISTING.replace("</source>", "flow_end = 4\n</source>"))
    assert "flow_step" not in listed([told(LISTING)], changed)
    assert "flow_step" in listed([told(LISTING)], told("then flow_step paints"))


def test_the_tools_that_a_script_calls_are_no_needs() -> None:
    history: list[Message] = [called("exec", "c1", input="await tools.change_plan({})")]
    again = called("exec", "c2", input="await tools.change_plan({done: 1})")
    assert listed(history, again) == []


def test_a_patch_that_adds_a_local_variable_needs_none() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/b.py\n@@\n+    seed_row = plant(4)\n*** End Patch"
    )
    assert listed(shown("seed_row = plant(3)"), called("apply_patch", input=patch)) == []


LONG_FENCE = """seeds/app.py
````python
flow_step = paintRound(3)
````"""


def test_a_file_may_be_listed_between_longer_fences() -> None:
    changed = told(LONG_FENCE.replace("(3)", "(3)\nflow_end = 4"))
    assert "flow_step" not in listed([told(LONG_FENCE)], changed)
    cut_off = told(LONG_FENCE.removesuffix("\n````"))
    assert "flow_step" not in listed([cut_off], changed)


def test_a_shell_and_an_editor_may_begin_the_path_of_a_file_differently() -> None:
    line = "show(widgetKinds, 3)"
    history: list[Message] = [
        called("Bash", "c1", command=f"cat > /c/seeds/src/app.ts <<'EOF'\n{line}\nEOF"),
        result("", "c1"),
    ]
    again = called("Write", file_path="C:\\seeds\\src\\app.ts", content=line)
    assert "widgetKinds" not in listed(history, again)


@pytest.mark.parametrize(
    ("import_line", "use"),
    [
        ("from seedlib.errors import WidgetError", "except WidgetError as e"),
        ("from seedlib import paint", "paint.draw_round(3)"),
        ("import seedlib", "seedlib.inner.draw_round(3)"),
        ("import seedlib as sl", "sl.draw_round(4)"),
        ("import { drawRound } from '@seeds/paint'", "drawRound(4)"),
        ("const { drawRound } = require('seedlib')", "drawRound(5)"),
        ("const seedLib = require('seedlib')", "seedLib.drawRound(6)"),
        ("import { type WidgetTone, drawRound } from '@seeds/paint'", "WidgetTone(7)"),
        ("import type WidgetTone from '@seeds/paint'", "WidgetTone(8)"),
    ],
)
def test_what_is_imported_from_a_library_is_no_need(import_line: str, use: str) -> None:
    history = [*shown(import_line), *shown(use)]
    edit = called("Edit", file_path="src/b.py", old_string="old", new_string=f"run {use}")
    assert listed(history, edit) == []


@pytest.mark.parametrize(
    "import_line",
    [
        "from app.seedlib import WidgetTone",
        "from .seedlib import WidgetTone",
        "const WidgetTone = require('seedlib').readTone(3)",
    ],
)
def test_what_is_imported_from_the_project_is_one(import_line: str) -> None:
    history = [*shown(import_line), *shown("WidgetTone(3)")]
    edit = called("Edit", file_path="src/b.py", old_string="old", new_string="run WidgetTone(3)")
    assert "WidgetTone" in listed(history, edit)


@pytest.mark.parametrize(
    ("stated", "written"),
    [
        ('assert r1.json["id"]', 'assert r1.json["id"] == 4'),
        ("cheduling/drafts/` + format(row)", "cheduling/drafts/` + format(row, 3)"),
        ('"begin": "2026-01-01"', 'from="2026-01-01"'),
        ("open test.txt for it", "open test.txt here"),
        ("expect(seed).toMatch(3)", "expect(row).toMatch(4)"),
        ('self.log("Sowing failed: {sow}")', 'self.log("Sowing failed: {sow}")'),
        ("see seeds/page.tsx", "open rows/page.tsx"),
    ],
    ids=[
        "member of a variable",
        "rest of a line that was cut",
        "made-up date",
        "made-up file",
        "method of a library for tests",
        "error made of code",
        "file of the same name in another folder",
    ],
)
def test_what_code_cuts_off_or_makes_up_is_no_need(stated: str, written: str) -> None:
    edit = called("Edit", file_path="src/b.ts", old_string="old", new_string=written)
    assert listed(shown(stated), edit) == []


def test_a_file_at_the_end_of_one_line_is_no_member_of_the_other() -> None:
    history = shown("the rows are in seeds.json")
    assert "seeds.json" in listed(history, told("(look at seeds.json for them)"))


def test_a_date_that_a_command_makes_up_is_no_need() -> None:
    history = shown("Screenshot 2026-04-01 001405")
    assert listed(history, called("Bash", command="git log --since='2026-04-01'")) == []


def test_a_file_of_what_to_ignore_lists_what_any_project_has() -> None:
    history = shown(".seedpress/dist")
    ignored = called("Write", file_path="web/.gitignore", content=".seedpress/dist")
    assert listed(history, ignored) == []
    elsewhere = called("Write", file_path="web/paths.txt", content=".seedpress/dist")
    assert listed(history, elsewhere) == [".seedpress/dist"]


def test_a_definition_that_an_argument_repeats_as_it_stood_needs_no_name_of_it() -> None:
    history: list[Message] = [
        told("I write\ndef sow_seeds(rows):"),
        result("sowed", "c1"),
    ]
    again = called("Bash", "c2", command="python3 <<'EOF'\ndef sow_seeds(rows):\nEOF")
    assert listed(history, again) == []
    assert listed(history, called("Bash", "c2", command="x.py sow_seeds")) == ["sow_seeds"]
