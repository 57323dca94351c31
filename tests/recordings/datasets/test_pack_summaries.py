"""Real summaries are packed from a folder, round by round; what nobody asks for any more is
dropped.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from builders import remembering, rules
from workbench import Session, compare
from workbench.engine.models.bundled_answers import BundledAnswer, answers_text

Record: TypeAlias = dict[str, Any]
ROOT = Path(__file__).parents[3]
SESSION = Session.of([rules("be brief"), *remembering(40)], id="s", project="p")
README = """
<!-- main command -->
```bash
python3 -m venv .venv && .venv/bin/pip install -q '.[all]' && .venv/bin/workbench compare
```
<!-- results command -->
```bash
workbench compare --shares 0.2 --no-report --no-simulate --out reports/results \\
  --strategies truncate,summarize
```
"""


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program, with a README of two small commands."""
    spec = importlib.util.spec_from_file_location(
        "pack_summaries", ROOT / "datasets" / "pack_summaries.py"
    )
    assert spec is not None and spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "pack_summaries", program)
    spec.loader.exec_module(program)
    return program


def small(program: ModuleType, folder: Path) -> None:
    """Let the program read pages whose commands are small."""
    for page in program.COMMANDS.values():
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(README, "utf-8")
    vars(program)["ROOT"] = folder


def ask(folder: Path, out: Path) -> int:
    """Have a run write its requests; how many there are."""
    compare(
        SESSION,
        strategies=("summarize",),
        shares=(0.2,),
        model=f"folder:{folder}",
        out=out,
        quiet=True,
    )
    return len(list(folder.glob("*.request.txt")))


def keys(folder: Path) -> list[str]:
    """The keys of a folder's requests."""
    keys: list[str] = []
    for file in sorted(folder.glob("*.request.txt")):
        header, _, _ = file.read_text("utf-8").partition("\n---\n")
        keys += re.findall(r"^key: (\w+)$", header, re.MULTILINE)
    return keys


def answers_in(file: Path) -> dict[str, Record]:
    """The answers in a file by key."""
    answers = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return {answer["key"]: answer for answer in answers}


def answer(folder: Path, text: str) -> None:
    for request in folder.glob("*.request.txt"):
        file = request.with_name(request.name.replace("request", "answer"))
        headings = [
            line for line in request.read_text("utf-8").splitlines() if line.startswith("## ")
        ]
        file.write_text("\n".join(f"{heading}\n- {text}" for heading in headings) or text, "utf-8")


def test_the_commands_are_those_of_the_pages(packing: ModuleType, tmp_path: Path) -> None:
    main, results = packing.shipped_runs(ROOT)
    assert main.spec.strategies == ("none", "truncate", "summarize", "pipeline")
    assert len(main.spec.shares) == 5 and main.is_simulated
    assert results.spec.shares == (0.2,) and not results.is_simulated
    assert {"claude_code", "hermes_lean"} <= set(results.spec.strategies)
    (tmp_path / "README.md").write_text("# workbench", "utf-8")
    with pytest.raises(SystemExit, match=r"README.md has no main command"):
        list(packing.shipped_runs(tmp_path))


def test_answers_are_packed_counted_and_dropped_once_nobody_asks(
    packing: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small(packing, tmp_path)
    folder, file = tmp_path / "asks", tmp_path / "answers.jsonl"
    asked = ask(folder, tmp_path / "run")
    stale = BundledAnswer(
        key="0" * 64, text="old", input_tokens=1, output_tokens=1, writer="somebody"
    )
    file.write_text(answers_text([stale]), "utf-8")
    words = [str(folder), "--who", "a test", "--file", str(file)]
    before = sorted(folder.iterdir())

    answer(folder, "the user looks at parts of the project")
    assert packing.main([*words, "--check"], SESSION) == 1
    assert answers_in(file).keys() == {stale.key}, "a check writes nothing"
    assert packing.main(words, SESSION) == 0
    text = capsys.readouterr().out
    assert "stale: 1" in text
    packed = answers_in(file)
    assert stale.key not in packed and len(packed) >= asked > 0
    assert {answer["writer"] for answer in packed.values()} == {"a test"}
    assert f"recorded: {len(packed)}, {len(packed)} of them from the folder" in text
    assert sorted(path for path in folder.iterdir() if "answer" not in path.name) == before, (
        "nothing is asked there"
    )

    assert packing.main(["--file", str(file)], SESSION) == 0, (
        "without the folder the file keeps what it has"
    )
    assert answers_in(file) == packed
    assert f"recorded: {len(packed)}, 0 of them from the folder" in capsys.readouterr().out


def test_it_asks_what_the_commands_ask_until_nothing_is_missing(
    packing: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small(packing, tmp_path)
    by_run, folder, file = tmp_path / "by-run", tmp_path / "asks", tmp_path / "answers.jsonl"
    ask(by_run, tmp_path / "run")
    words = [str(folder), "--who", "a test", "--file", str(file)]
    assert packing.main([*words, "--ask"], SESSION) == 0
    assert {*keys(by_run)} <= {*keys(folder)}, "the same requests as those of a run"
    for _ in range(9):
        answer(folder, "the user looks at parts of the project")
        packing.main([*words, "--ask"], SESSION)
        if "missing: 0" in capsys.readouterr().out:
            break
    assert packing.main([*words, "--check"], SESSION) == 0
    assert answers_in(file).keys() == {*keys(folder)}
    number = len(keys(folder))
    packing.main(
        [str(tmp_path / "other"), "--who", "a test", "--file", str(file), "--ask"], SESSION
    )
    assert len(keys(folder)) == number and not (tmp_path / "other").exists(), (
        "what ships is not asked again"
    )


def test_who_wrote_must_be_said(
    packing: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small(packing, tmp_path)
    with pytest.raises(SystemExit):
        packing.main([str(tmp_path)], SESSION)
    assert "nobody says who wrote the answers" in capsys.readouterr().err
