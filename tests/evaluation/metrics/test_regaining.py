"""What brings a lost thing back, judged by the line that states it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from builders import called, result, said, told
from workbench import UserMessage
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index

READ = called("Read", "c1", file_path="src/app.ts")
LINE = "export const retryLimit = tint(17)"
USE = told("I edit retryLimit = tint(17)")
COUNT = "the count of rows is 3217 today"
USE_OF_COUNT = told("the count of rows is 3217")


def way_back(history: Sequence[Message], use: Message = USE) -> str:
    (need,) = Index([*history, use]).demand(len(history)).needs
    return need.way_back


def test_a_line_of_a_file_is_had_again_though_the_user_named_the_symbol_first() -> None:
    history: list[Message] = [
        said("In src/app.ts rename retryLimit"),
        READ,
        result(LINE, "c1", name="Read"),
    ]
    assert way_back(history) == "call"


def test_what_the_user_wants_of_a_symbol_only_the_user_can_say_again() -> None:
    history: list[Message] = [
        READ,
        result(LINE, "c1", name="Read"),
        said("keep retryLimit at three forever"),
    ]
    assert way_back(history, told("as you want, retryLimit stays at three forever")) == "user"


def test_what_the_agent_wrote_into_a_file_is_had_again() -> None:
    for call in (
        called("Write", "c2", file_path="src/app.ts", content=LINE),
        called("Edit", "c2", file_path="src/app.ts", old_string="x", new_string=LINE),
        called("Bash", "c2", command=f"cat > src/app.ts <<'EOF'\n{LINE}\nEOF"),
    ):
        assert way_back([call, result("ok", "c2")]) == "call"


def test_what_an_edit_took_away_or_failed_to_write_is_not() -> None:
    took_away = called("Edit", "c2", file_path="src/app.ts", old_string=LINE, new_string="x")
    assert way_back([took_away, result("ok", "c2")]) == "agent"
    failed = called("Write", "c2", file_path="src/app.ts", content=LINE)
    assert way_back([failed, result("no space", "c2", is_error=True)]) == "agent"


def test_what_only_an_old_run_said_takes_the_run_again() -> None:
    history: list[Message] = [called("Bash", "c1", command="make check"), result(COUNT, "c1")]
    assert way_back(history, USE_OF_COUNT) == "run"


def test_a_name_of_code_that_a_run_showed_stands_in_a_file_too() -> None:
    call = called("Bash", "c1", command="make check")
    assert way_back([call, result("12 rows of retryLimit passed", "c1")]) == "call"
    failed = result("12 rows of retryLimit failed", "c1", is_error=True)
    assert way_back([call, failed]) == "run"


@pytest.mark.parametrize("thing", ["version 4.5.0", "https://seeds.example/letter"])
def test_a_version_or_address_that_a_run_showed_is_found_by_one_look(thing: str) -> None:
    call = called("Bash", "c1", command="make check")
    assert way_back([call, result(f"it has {thing}", "c1")], told(f"I take {thing}")) == "call"


def test_what_only_the_agent_said_it_thinks_out_again() -> None:
    assert way_back([told("the plan: retryLimit = tint(17)")]) == "agent"


def test_a_repetition_of_the_users_words_is_the_users() -> None:
    history: list[Message] = [
        said("CommandParser ignores options of parents"),
        told("I look for CommandParser"),
    ]
    assert way_back(history, told("CommandParser is not here")) == "user"


@pytest.mark.parametrize(
    "command",
    [
        "git status --short",
        "git diff main...HEAD --stat",
        "BASE=$(git merge-base main HEAD); git log --oneline $BASE..HEAD | cat",
        "gh pr view 12 --json title",
        "agent eval --help",
        "curl -s https://example.org/issues",
    ],
)
def test_status_logs_and_help_are_had_again(command: str) -> None:
    assert way_back([called("Bash", "c1", command=command), result(LINE, "c1")]) == "call"


@pytest.mark.parametrize(
    "command", ["git branch backup main", "git push", "curl -X POST https://example.org", "make"]
)
def test_what_changes_something_is_not(command: str) -> None:
    history: list[Message] = [called("Bash", "c1", command=command), result(COUNT, "c1")]
    assert way_back(history, USE_OF_COUNT) == "run"


def test_a_script_that_only_calls_tools_that_look_looks() -> None:
    looks = 'const r = await tools.exec_command({cmd: "rg -n \\"limit\\" src"}); text(r);'
    runs = 'const r = await tools.exec_command({cmd: "make check"}); text(r);'
    for script, way in ((looks, "call"), (runs, "run")):
        history: list[Message] = [called("exec", "c1", input=script), result(COUNT, "c1")]
        assert way_back(history, USE_OF_COUNT) == way


def test_a_files_name_is_found_by_one_look_but_not_that_of_a_planned_file() -> None:
    use = called("Read", file_path="src/app.ts")
    assert way_back([READ, result("nothing", "c1")], use) == "call"
    assert way_back([told("I plan src/app.ts")], use) == "agent"


def test_a_commit_stands_in_the_log() -> None:
    history: list[Message] = [
        called("Bash", "c1", command="git commit -m x && git log --oneline -1"),
        result("45b44978 document the gotchas", "c1"),
    ]
    assert way_back(history, told("45b44978 document the gotchas")) == "call"


def test_what_a_client_reads_from_files_is_had_again() -> None:
    rules = UserMessage(
        id="u1", blocks=said("Run CHECK_ALL before each push").blocks, synthetic=True
    )
    history: list[Message] = [rules, READ, result("nothing", "c1")]
    assert way_back(history, told("now CHECK_ALL before the push")) == "call"


def test_what_the_agent_spoke_of_as_of_code_a_search_finds() -> None:
    use = told("I call parseHeader next")
    assert way_back([told("the helper `parseHeader` trims the name")], use) == "call"
    assert way_back([told("the helper parseHeader() trims the name")], use) == "call"
    assert way_back([told("the new helper is named parseHeader")], use) == "agent"
    decided = told("I decided to name the helper `parseHeader`")
    assert way_back([decided], use) == "agent"


FENCED = "The file has this:\n```python\n    limit.retryLimit = tint(17)\n```"


def test_a_line_of_code_that_anybody_shows_in_a_fence_is_found_by_a_search() -> None:
    use = told("now limit.retryLimit = tint(17)")
    assert way_back([told(FENCED)], use) == "call"
    assert way_back([said(FENCED)], use) == "call"
    assert way_back([told(FENCED.replace(" = tint(17)", ": 17"))], use) == "agent"


def test_what_the_agent_searched_for_is_found_by_a_search() -> None:
    search = called("Bash", "c1", command="make x && grep -n retryLimit src/app.ts")
    assert way_back([search, result("", "c1")], told("the retryLimit constants")) == "call"


def test_a_name_of_code_that_a_run_restates_is_read_from_its_file() -> None:
    message = called("Write", "c1", file_path="src/app.ts", content="let retryLimit = tint(17)")
    report = result("the table has retryLimit and shade", "c2")
    history: list[Message] = [
        message,
        result("ok", "c1"),
        called("Agent", "c2", prompt="look"),
        report,
    ]
    assert way_back(history, told("the table keeps retryLimit and shade")) == "call"


@pytest.mark.parametrize(("command", "way"), [("gh pr list", "call"), ("make x", "agent")])
def test_the_number_of_an_issue_is_looked_up_where_there_is_a_tracker(
    command: str, way: str
) -> None:
    history: list[Message] = [
        called("Bash", "c1", command=command),
        result("", "c1"),
        told("the chart is done in #50"),
    ]
    assert way_back(history, told("#50 had another cause than the chart")) == way


def test_a_file_that_powershell_prints_with_its_numbers_is_had_again() -> None:
    command = (
        "@'\n$i=1; Get-Content src/app.ts | ForEach-Object { '{0,4}: {1}' -f $i, $_; $i++ }\n'@"
        " | powershell -NoProfile -Command -"
    )
    history: list[Message] = [called("Bash", "c1", command=command), result(COUNT, "c1")]
    assert way_back(history, USE_OF_COUNT) == "call"
    removes = command.replace("'{0,4}: {1}' -f $i, $_", "Remove-Item $_")
    history = [called("Bash", "c1", command=removes), result(COUNT, "c1")]
    assert way_back(history, USE_OF_COUNT) == "run"


def test_what_a_script_patches_into_a_file_is_had_again() -> None:
    script = f'const patch = "*** Begin Patch +{LINE}"; await tools.apply_patch(patch)'
    history: list[Message] = [called("exec", "c1", input=script), result("ok", "c1")]
    assert way_back(history) == "call"


def test_a_listing_between_tags_counts_as_a_fence() -> None:
    listing = "src/app.py\n<source>\nlimit.retryLimit = tint(17)\n</source>"
    assert (
        way_back([told(listing), said("yes, retryLimit")], told("limit.retryLimit = 3")) == "call"
    )


def test_a_file_that_is_listed_between_fences_is_had_again() -> None:
    listing = "src/app.ts\n````ts\nretryLimit: tint\n````"
    assert way_back([told(listing)], told("now retryLimit: tint")) == "call"


def test_a_name_behind_its_file_is_found_by_a_search() -> None:
    line = "- `lib/{}`: parseHeader, formatFooter"
    use = told("parseHeader and formatFooter trim")
    needs = Index([told(line.format("table.ts")), use]).demand(1).needs
    assert {need.way_back for need in needs if need.entity.kind == "identifier"} == {"call"}


def test_a_module_in_a_dotted_name_is_found_by_a_search() -> None:
    use = told("the log names parse_header")
    assert way_back([told("it failed in seeds.inner.parse_header today")], use) == "call"
    assert way_back([told("it failed in parse_header today")], use) == "agent"


def test_a_text_in_a_fence_is_found_by_a_search() -> None:
    fenced = told('It says:\n```python\nfail(detail="no such seed row")\n```')
    use = told('it shows "no such seed row"')
    assert way_back([fenced], use) == "call"


def test_an_address_of_this_machine_is_found_by_a_search() -> None:
    history: list[Message] = [
        said("something is wrong"),
        told("I open http://localhost:5990/rows now"),
    ]
    assert way_back(history, told("see http://localhost:5990/rows")) == "call"
    elsewhere = told("I open https://seeds.example/rows now")
    assert way_back([elsewhere], told("see https://seeds.example/rows")) == "agent"


def test_a_name_of_code_that_the_user_said_too_is_found_by_a_search() -> None:
    history: list[Message] = [said("what is createSeed"), told("`createSeed` sows `rows`")]
    assert way_back(history, told("`createSeed` sows `rows` again")) == "call"


def test_what_powershell_puts_in_a_file_is_had_again() -> None:
    command = f"Add-Content -Path src/app.ts -Value '{LINE}'"
    assert way_back([called("PowerShell", "c1", command=command)]) == "call"
