"""Every code block of the README and of the docs runs, in a folder with a few small sessions."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from builders import remembering, rules
from profiles import FULL
from workbench import Loopback, Session, save
from workbench.cli import main

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
ELSEWHERE = (
    "main command", "test command", "langchain", "langgraph", "openai agents", "pydantic-ai",
    "google adk", "inspect", "litellm",
)  # fmt: skip
"""Marks of the blocks that the whole check runs word for word, where it has what they need."""
OUTSIDE = {
    "pip": "installs", "python3": "installs", "dask": "starts other machines", "git": "is not ours",
    "nox": "makes environments", "uvx": "installs", "pipx": "installs",
    "workbench lab course": "is a server", "workbench lab serve": "is a server",
    "workbench watch": "waits for an agent: tests/watching has one", "workbench lab dataset fetch": "needs a network",
    "workbench lab experiment": "is run by the tests of notebooks",
    "workbench lab judge exam": "needs a model that is admitted: tests/judge has one",
    "workbench view": "is a server",
    "workbench lab sweep grid.toml --scheduler": "needs other machines",
    "workbench compare s3://": "needs a store: tests/evaluation/experiment/test_runs_in_a_store.py has one",
}  # fmt: skip
"""How commands begin that no test runs, and why."""
RENDERING = ("workbench compare", "workbench runs share", "workbench lab sweep")
"""Commands that are run with --no-report: that reports are rendered is tested elsewhere, and
takes seconds each.
"""
UNDECIDED = ("workbench gate", "workbench lab prompts")
"""What may end with another code on sessions as few as these."""
GRID = 'sessions = ["my-sessions/"]\nstrategies = ["truncate"]\nwindows = [4000]\nshares = [0.2]\n'


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    mark: str = ""


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match["language"], match["text"], match["mark"] or "")
        for match in BLOCK.finditer(text)
    ]


def keep_sessions(folder: Path) -> None:
    """Write a few small sessions into `folder/my-sessions`."""
    (folder / "my-sessions").mkdir(parents=True)
    for n in range(2):
        session = Session.of([rules("be brief"), *remembering(20 + n)], id=f"session-{n}")
        save(session, folder / "my-sessions" / f"{n}.jsonl")


def compare_before(folder: Path) -> None:
    """Make the run that some pages take for granted: `folder/run`, of the same sessions."""
    keep_sessions(folder)
    words = ["compare", str(folder / "my-sessions"), "-w", "4000", "-s", "truncate"]
    assert main([*words, "--out", str(folder / "run"), "--no-report", "-q"]) == 0


@pytest.fixture
def earlier_run(made_once: Callable[..., Path]) -> Path:
    """A run that lies in `reports` before a page begins, made once for all of them."""
    return made_once("pages", compare_before) / "run"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as the pages take it for granted, where every model is a server that says one
    sentence.
    """
    keep_sessions(tmp_path)
    shutil.copy(tmp_path / "my-sessions" / "1.jsonl", tmp_path / "my-session.jsonl")
    (tmp_path / "grid.toml").write_text(GRID)
    (tmp_path / "new.md").write_text("What is done, and what is not?")
    (tmp_path / "old.md").write_text("What happened?")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    # sessions as small as these are done before a worker has started
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with Loopback(["The limits are as they were."] * 500, window=1_000_000) as server:
        monkeypatch.setenv("WORKBENCH_API_BASE", server.url)
        yield tmp_path


def test_there_are_blocks_to_run() -> None:
    languages = [block.language for page in PAGES for block in blocks(page)]
    assert languages.count("python") >= 8 and languages.count("bash") >= 6 and "" not in languages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.usefixtures("folder")
def test_every_block_of_it_runs(
    page: Path, earlier_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space: dict[str, object] = {"__name__": f"page_{page.stem}"}
    for block in blocks(page):
        if block.mark in ELSEWHERE:
            continue
        if block.language == "python":
            # a browser's tests leave a running loop in this thread
            with ThreadPoolExecutor(1) as pool:
                pool.submit(exec, compile(block.text, f"{page.name}", "exec"), space).result()
        elif block.language == "yaml":
            workflow(block.text, page, capsys)
        elif block.language == "toml":
            assert tomllib.loads(block.text)
        elif block.language == "bash":
            for line in commands(block.text):
                keep_run_of(line, earlier_run)
                runs(line, page, capsys)


def workflow(text: str, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the steps of a workflow where pip would install this distribution, on recordings with
    a baseline's run.
    """
    shutil.copytree("my-sessions", "sessions")
    baseline = [
        "compare",
        "sessions",
        "-w",
        "64000",
        "-s",
        "truncate,summarize",
        "-o",
        "sessions/baseline",
    ]
    assert main([*baseline, "--no-report", "-q"]) == 0
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    lines = [line for step in steps for line in commands(os.path.expandvars(step.get("run", "")))]
    (installed,) = (Requirement(line[-1]) for line in lines if line[:2] == ["pip", "install"])
    assert (
        installed.name == PROJECT["name"]
        and installed.extras <= PROJECT["optional-dependencies"].keys()
    )
    for line in lines:
        runs(line, page, capsys)
    assert all(
        Path(step["with"]["path"]).parent.is_dir()
        for step in steps
        if "path" in step.get("with", {})
    )
    assert Path(os.environ["GITHUB_STEP_SUMMARY"]).read_text()


def commands(text: str) -> list[list[str]]:
    whole = text.replace("\\\n", " ")
    return [words for line in whole.splitlines() if (words := shlex.split(line, comments=True))]


def keep_run_of(words: list[str], earlier_run: Path) -> None:
    """Lay the earlier run where a line expects one."""
    for word in words:
        if word.startswith("reports/compare-") and not Path(word).exists():
            shutil.copytree(earlier_run, word)


def runs(words: list[str], page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = " ".join(words)
    if words[0] == "export":
        name, _, _ = words[1].partition("=")
        assert os.environ[name], f"{page.name}: the fixture sets no {name}"
        return
    if any(line.startswith(start) for start in OUTSIDE):
        return
    assert words[0] == "workbench", f"{page.name}: what is {line!r}?"
    spared = ["--no-report"] if line.startswith(RENDERING) and "--no-report" not in words else []
    if "--jobs" in words and not FULL:  # workers take seconds to start
        spared += ["--jobs", "1"]
    code = main([*words[1:], *spared])
    said = capsys.readouterr()
    undecided = line.startswith(UNDECIDED) and "workbench:" not in said.err
    assert code == 0 or undecided, f"{page.name}: {line}\n{said.err}"
