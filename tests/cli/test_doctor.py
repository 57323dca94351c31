"""The doctor looks, says what it found, and changes nothing."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import metadata, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from workbench import SetupError
from workbench.cli import main


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


ELSEWHERE = """
import importlib.util
import json
import sys
from importlib import metadata

find = importlib.util.find_spec
found = json.loads(sys.argv[1])

def version(name):
    if name not in found["versions"]:
        raise metadata.PackageNotFoundError(name)
    return found["versions"][name]

def entry_points(group):
    return [metadata.EntryPoint(*point, group) for point in found["plugins"].get(group, [])]

def find_spec(name, *rest):
    return find(name, *rest) if found["has_pip"] or name != "pip" else None

metadata.requires = lambda name: found["requires"]
metadata.version = version
metadata.entry_points = entry_points
importlib.util.find_spec = find_spec
sys.executable = found["python"] or sys.executable

from workbench.cli import main

sys.exit(main(["doctor", "--json"]))
"""


def checks_elsewhere(
    *,
    needs: Sequence[str] = (),
    versions: Mapping[str, str] | None = None,
    plugins: Mapping[str, list[list[str]]] | None = None,
    path: str = "/nowhere",
    python: str = "",
    has_pip: bool = True,
) -> list[dict[str, str]]:
    """What the doctor says where these packages are needed, and these versions are there."""
    found = {
        "requires": list(needs),
        "versions": {"compaction-workbench": "1.0", "tiktoken": "1", "litellm": "1"}
        | dict(versions or {}),
        "plugins": dict(plugins or {}),
        "python": python,
        "has_pip": has_pip,
    }
    command = [sys.executable, "-c", ELSEWHERE, json.dumps(found)]
    environment = os.environ | {"PATH": path}
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert not answer.stderr
    rows: list[dict[str, str]] = json.loads(answer.stdout)
    return rows


def found_of(rows: list[dict[str, str]], what: str) -> list[str]:
    """What was found of one kind of thing, a text a row."""
    return [row["found"] for row in rows if row["what"] == what]


def test_where_the_shells_pip_is_of_this_environment_nothing_is_to_say(tmp_path: Path) -> None:
    pip = tmp_path / "pip"
    pip.touch(mode=0o755)
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    rows = checks_elsewhere(path=str(tmp_path), python=str(python))
    assert [row["state"] for row in rows if row["what"] == "installing"] == ["ok"]


NEEDS = [
    "numpy>=999",
    "no-such-package>=1",
    "pytest>=999; extra == 'x'",
    "pandas",
    "starlette>=999; extra == 'all'",
    "scipy>=999",
    "litellm>=999",
    "no-such-server>=1; extra == 'mcp'",
    "no-such-other; extra == 'x'",
]


@pytest.fixture(scope="module")
def elsewhere() -> list[dict[str, str]]:
    """The doctor's rows where packages of all kinds are missing or too old."""
    versions = dict.fromkeys(("numpy", "pytest", "pandas", "starlette", "scipy", "litellm"), "2.0")
    plugins = {
        "workbench.presets": [["mine", "no_such_module:THING"]],
        "workbench.metrics": [["yours", "json:dumps"]],
    }
    return checks_elsewhere(needs=NEEDS, versions=versions, plugins=plugins)


def test_where_the_shells_pip_is_of_another_environment_it_says_what_to_type(
    elsewhere: list[dict[str, str]],
) -> None:
    (told,) = found_of(elsewhere, "installing")
    assert f"type `{sys.executable} -m pip install`" in told


def test_an_environment_without_pip_is_installed_into_from_outside() -> None:
    (told,) = found_of(checks_elsewhere(has_pip=False), "installing")
    assert f"type `uv pip install --python {sys.executable}`" in told


def test_a_package_that_is_too_old_or_missing_is_wrong(elsewhere: list[dict[str, str]]) -> None:
    wrong = found_of(elsewhere, "package")
    assert wrong == [
        "numpy is 2.0, and >=999 is needed: pip install 'numpy>=999' (for commands that read"
        " sessions)",
        "no-such-package is missing: pip install 'no-such-package>=1' (for commands that read"
        " sessions)",
        "starlette is 2.0, and >=999 is needed: pip install 'starlette>=999' (for `view`)",
        "scipy is 2.0, and >=999 is needed: pip install 'scipy>=999' (for commands that read"
        " sessions)",
        # its tables of tokens and prices are read with every session
        "litellm is 2.0, and >=999 is needed: pip install 'litellm>=999' (for commands that read"
        " sessions, and `--model litellm:NAME`)",
    ]
    assert all(row["state"] == "wrong" for row in elsewhere if row["what"] == "package")
    assert found_of(elsewhere, "packages") == ["pandas 2.0"]


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
    """A package of its own use is told with it wherever it is too old."""
    required = {Requirement(text).name for text in requires("compaction-workbench") or ()}
    with_own_use = {
        "anywidget",
        "ipykernel",
        "ipywidgets",
        "jupyterlab",
        "litellm",
        "matplotlib",
        "papermill",
        "starlette",
        "uvicorn",
    }
    needs = [f"{name}>=999" for name in sorted(required)]
    rows = checks_elsewhere(needs=needs, versions=dict.fromkeys(required, "1.0"))
    told = found_of(rows, "package")
    usual = "(for commands that read sessions)"
    assert {text.split()[0] for text in told if not text.endswith(usual)} == with_own_use


def test_each_command_that_lacks_a_part_is_told_with_what_installs_it(
    elsewhere: list[dict[str, str]],
) -> None:
    *lacking, complete = found_of(elsewhere, "optional")
    assert lacking == [
        "no-such-server missing, for `agent mcp`: pip install 'compaction-workbench[all,mcp]'",
        (
            "bwrap missing, for `lab trial --agent MODEL`: install the system's package bubblewrap,"
            " such as `apt-get install bubblewrap`"
        ),
    ]
    states = [row["state"] for row in elsewhere if row["what"] == "optional"]
    assert states == ["note", "note", "ok"]
    assert "`--model local`" in complete and "`agent mcp`" not in complete


def test_each_extra_that_is_told_of_exists() -> None:
    extras = set(metadata("compaction-workbench").get_all("Provides-Extra") or ())
    needs = [f"no-such-{extra}; extra == '{extra}'" for extra in sorted(extras)]
    told = re.findall(r"compaction-workbench\[([\w,-]+)\]", str(checks_elsewhere(needs=needs)))
    assert len(told) == 7, "each part that an extra brings is missing"
    assert {extra for names in told for extra in names.split(",")} <= extras


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("mcp", ["agent", "mcp", "session.jsonl"], "all,mcp"),
        ("distributed", ["compare", "--scheduler", "tcp://127.0.0.1:9"], "dask"),
        ("fsspec", ["runs", "list", "s3://bucket/runs"], "remote"),
    ],
)
def test_a_command_that_lacks_an_extra_names_it(
    module: str,
    words: list[str],
    extra: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    assert main(words) == 2
    assert f"pip install 'compaction-workbench[{extra}]'" in capsys.readouterr().err
    assert set(extra.split(",")) <= set(
        metadata("compaction-workbench").get_all("Provides-Extra") or ()
    )


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


def test_a_plug_in_that_cannot_be_loaded_is_named(elsewhere: list[dict[str, str]]) -> None:
    (wrong,) = found_of(elsewhere, "plug-in")
    assert wrong.startswith("mine (presets, no_such_module:THING): ModuleNotFoundError")
    assert [row["state"] for row in elsewhere if row["what"] == "plug-in"] == ["wrong"]
    assert found_of(elsewhere, "plug-ins") == ["yours (metrics)"]


def test_its_lines_fit_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    (packages_line,) = [index for index, line in enumerate(lines) if " packages " in line]
    assert len(lines[packages_line]) <= 80
    assert lines[packages_line + 1].startswith(" " * 24)
