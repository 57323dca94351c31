"""The doctor looks, says what it found, and changes nothing."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from workbench import SetupError
from workbench.base.errors import EXTRAS
from workbench.cli import main
from workbench.cli.doctor import NEEDED_FOR, OPTIONAL, installing, optional_parts, packages, plugins


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    main(["doctor", "--json"])
    return {row["what"]: row for row in json.loads(capsys.readouterr().out)}


def test_this_machine_has_what_is_needed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = found(capsys)
    assert rows["tokenizer"]["state"] == rows["prices"]["state"] == rows["kernel"]["state"] == "ok"
    assert sys.executable in rows["python"]["found"]
    assert list(tmp_path.iterdir()) == []


def test_keys_are_told_by_name_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("EMPTY_API_KEY", "")
    monkeypatch.setenv("SOME_OTHER_WORD", "sk-very-secret")
    main(["doctor"])
    text = capsys.readouterr().out
    assert "OPENAI_API_KEY (names only)" in text and "secret" not in text and "EMPTY" not in text


def test_where_the_shells_pip_is_of_another_environment_it_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "bin/python"
    monkeypatch.setenv("PATH", "/nowhere")
    assert f"type `{python} -m pip install`" in installing(python, has_pip=True).found
    assert f"type `uv pip install --python {python}`" in installing(python, has_pip=False).found
    pip = python.with_name("pip")
    pip.parent.mkdir()
    pip.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(pip.parent))
    assert installing(python, has_pip=True).state == "ok"


def test_a_package_that_is_too_old_or_missing_is_wrong() -> None:
    wanted = ["numpy>=999", "no-such-package>=1", "pytest>=999; extra == 'x'", "pandas"]
    rows = list(packages(wanted, installed))
    assert [row.found.split()[0] for row in rows if row.state == "wrong"] == [
        "numpy",
        "no-such-package",
    ]
    assert "pip install 'numpy>=999'" in rows[0].found and rows[-1].found == "pandas 2.0"


def test_what_installs_a_package_of_an_extra_is_taken_by_pip() -> None:
    rows = list(packages(["starlette>=999; extra == 'all'"], installed))
    assert rows[0].found.endswith("pip install 'starlette>=999' (for `view`)")


def test_without_the_table_of_prices_everything_else_is_still_checked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_table(model: str) -> None:
        raise SetupError(f"no price of {model}")

    monkeypatch.setattr("workbench.engine.models.prices.tariff", no_table)
    rows = found(capsys)
    assert (rows["prices"]["state"], rows["prices"]["found"]) == (
        "wrong",
        "no price of gpt-4o-mini",
    )
    assert rows["kernel"]["state"] == "ok"


def test_a_missing_package_is_told_with_what_does_not_work_without_it() -> None:
    rows = list(packages(["starlette>=999", "pandas>=999", "litellm>=999"], installed))
    assert rows[0].found.endswith("pip install 'starlette>=999' (for `view`)")
    assert rows[1].found.endswith("(for commands that read sessions)")
    # its tables of tokens and prices are read with every session
    assert "(for commands that read sessions, and" in rows[2].found


WITHOUT_PACKAGES = """
import sys
from importlib import metadata

MISSING = sys.argv[1].split(",")
version_of = metadata.version

def version(name):
    if name in MISSING:
        raise metadata.PackageNotFoundError(name)
    return version_of(name)

metadata.version = version
for name in MISSING:
    sys.modules[name] = None

from workbench.cli import main

sys.exit(main(["doctor"]))
"""


def test_it_names_each_missing_package_though_nothing_else_runs_without() -> None:
    missing = ["numpy", "tiktoken", "scipy", "pandas", "litellm", "rich"]
    command = [sys.executable, "-c", WITHOUT_PACKAGES, ",".join(missing)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and not result.stderr
    text = " ".join(result.stdout.split())
    for name in missing:
        assert f"{name} is missing: pip install '{name}" in text
    assert "kernel" in text


def test_where_the_doctor_itself_lacks_a_package_it_is_not_what_to_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    assert main(["doctor"]) == 2
    text = capsys.readouterr().err
    assert "`workbench doctor` needs the package packaging" in text and "hint:" not in text


def test_each_package_whose_use_is_told_is_required() -> None:
    required = {Requirement(text).name for text in requires("compaction-workbench") or ()}
    assert NEEDED_FOR.keys() <= required


def test_each_command_that_lacks_a_part_is_told_with_what_installs_it() -> None:
    requirements = [
        "no-such-package>=1; extra == 'mcp'",
        "pandas; extra == 'local'",
        "no-such-other; extra == 'x'",
    ]
    *lacking, complete = optional_parts(requirements, installed, lambda name: None)
    assert [row.found for row in lacking] == [
        "no-such-package missing, for `agent mcp`: pip install 'compaction-workbench[all,mcp]'",
        (
            "bwrap missing, for `lab trial --agent MODEL`: install the system's package bubblewrap,"
            " such as `apt-get install bubblewrap`"
        ),
    ]
    assert all(row.state == "note" for row in lacking)
    assert "`--model local`" in complete.found and "`agent mcp`" not in complete.found


def test_each_extra_that_is_told_of_exists() -> None:
    extras = set(metadata("compaction-workbench").get_all("Provides-Extra") or ())
    assert {part.extra for part in OPTIONAL if part.extra} <= extras
    assert all(extra in extras for value in EXTRAS.values() for extra in value.split(","))


def test_a_command_whose_package_is_missing_asks_for_its_extra_by_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.delitem(sys.modules, "workbench.report.view.app", raising=False)
    for name in [name for name in sys.modules if name.startswith("starlette.")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["view", ".", "--no-browser"]) == 2
    message = capsys.readouterr().err
    assert "`workbench view` needs the package starlette" in message
    assert (
        "pip install 'compaction-workbench[all]'" in message
        and "hint: `workbench doctor`" in message
    )


def installed(name: str) -> str:
    if name.startswith("no-such"):
        raise PackageNotFoundError(name)
    return "2.0"


def test_a_plug_in_that_cannot_be_loaded_is_named() -> None:
    wrong, fine = plugins(
        [
            EntryPoint("mine", "no_such_module:THING", "workbench.presets"),
            EntryPoint("yours", "json:dumps", "workbench.metrics"),
        ]
    )
    assert (
        wrong.state == "wrong"
        and "mine (presets, no_such_module:THING): ModuleNotFoundError" in wrong.found
    )
    assert fine.found == "yours (metrics)"


def test_its_lines_fit_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    (packages_line,) = [index for index, line in enumerate(lines) if " packages " in line]
    assert len(lines[packages_line]) <= 80
    assert lines[packages_line + 1].startswith(" " * 24)
