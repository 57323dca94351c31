"""Stored replays stay valid until code that they use means something else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest
from preset_names import BUILTIN_PRESETS

import workbench as wb
from workbench import Preset, prepared
from workbench.evaluation.experiment import code_versions as code_module
from workbench.evaluation.experiment.code_versions import (
    PartsUsed,
    code_versions,
    known_file,
)
from workbench.evaluation.experiment.package_code import PackageCode
from workbench.evaluation.experiment.replay_rows import replay_rows
from workbench.evaluation.experiment.replay_work import MASKS, READS_SESSIONS, REPLAY_BEGINS
from workbench.evaluation.experiment.spec import RunSpec

PACKAGE = Path(wb.__file__).parent
FILE = "code.json"

ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
UNSEEN = (*READS_SESSIONS, *MASKS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package whose files may be edited."""
    folder = tmp_path_factory.mktemp("copy") / "workbench"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__", "templates"))
    return folder


@pytest.fixture(scope="module")
def code(copy: Path) -> PackageCode:
    """What is known about the copy before it is edited, so that each test reads the edited files
    only.
    """
    package_code = PackageCode(copy)
    package_code.version(REPLAY_BEGINS, UNSEEN)
    package_code.save(copy / FILE)
    return package_code


def version(root: Path, preset: str = "summarize") -> str:
    """The version of the code behind a replay, as a fresh process would find it."""
    fresh = PackageCode(root)
    fresh.load(root / FILE)
    used = PartsUsed()
    used.add(wb.preset(preset))
    return fresh.version([*REPLAY_BEGINS, *sorted(used.modules)], UNSEEN, used.words)


@pytest.fixture
def edited(copy: Path, code: PackageCode) -> Iterator[Callable[[str, Callable[[str], str]], None]]:
    """Edits a file of the copy, until the test ends."""
    originals: dict[Path, tuple[str, int]] = {}

    def edit(name: str, change: Callable[[str], str]) -> None:
        file = copy / name
        text = file.read_text("utf-8")
        originals.setdefault(file, (text, file.stat().st_mtime_ns))
        assert change(text) != text
        file.write_text(change(text), "utf-8")

    yield edit
    for file, (text, time) in originals.items():
        file.write_text(text, "utf-8")
        os.utime(file, ns=(time, time))  # so that it is known again


Edit = Callable[[str, Callable[[str], str]], None]


def comment_everywhere(text: str) -> str:
    """The file with a comment above each line that begins a statement of the module, and blank
    lines below.
    """
    lines = text.splitlines()
    starts = ("def ", "class ", "import ")
    return (
        "\n".join(f"# why\n{line}" if line.startswith(starts) else line for line in lines)
        + "\n\n# the end\n"
    )


@pytest.mark.parametrize("room", ROOMS)
def test_a_comment_in_any_file_of_a_room_changes_no_version(
    room: str, copy: Path, edited: Edit
) -> None:
    before = version(copy)
    for file in sorted((copy / room).rglob("*.py")):
        edited(str(file.relative_to(copy)), comment_everywhere)
    assert version(copy) == before


def test_nor_does_one_in_a_file_outside_the_rooms(copy: Path, edited: Edit) -> None:
    before = version(copy)
    for file in sorted(copy.glob("*.py")):
        edited(file.name, comment_everywhere)
    assert version(copy) == before


CHECKED = "def checked(boundaries: Boundaries) -> Boundaries"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Where contexts are scored', '"""At which places contexts are scored'),
        ("\n\n\n", "\n\n\n\n"),
        (CHECKED, CHECKED.replace("Boundaries", "object")),
        (CHECKED, f"if TYPE_CHECKING:\n    import json\n\n{CHECKED}"),
    ],
    ids=[
        "a docstring",
        "a blank line",
        "an annotation of a function",
        "an import for type checkers",
    ],
)
def test_what_changes_nothing_at_run_time_changes_no_version(
    old: str, new: str, copy: Path, edited: Edit
) -> None:
    before = version(copy)
    edited("evaluation/replays/boundaries.py", lambda text: text.replace(old, new, 1))
    assert version(copy) == before


@pytest.mark.parametrize(
    "file",
    [
        "evaluation/watching/hook.py",
        "report/page/rendering.py",
        "live/runner.py",
        "recordings/importers/values.py",
        "engine/transcript/personal.py",
        "engine/compaction/presets/opal.py",
        "engine/compaction/prompts/opal_headings.md",
    ],
)
def test_code_that_a_replay_does_not_use_changes_no_version(
    file: str, copy: Path, edited: Edit
) -> None:
    before = version(copy)
    edited(file, lambda text: f"{text}\nANOTHER = 7\n")
    assert version(copy) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("evaluation/replays/budgets.py", "return", "return 1 or"),
        ("engine/models/tokenizer.py", "SHA256 = ", "SHA256 = 'x' + "),
        ("engine/compaction/strategy.py", "    threshold: float", "    threshold: int"),
        ("engine/compaction/prompts/headings.md", "", "Mood: how the user feels"),
        ("evaluation/metrics/work_exam/work_reader.json", "", " "),
        ("evaluation/metrics/background.tsv", "", "x\t1\n"),
        ("engine/extraction/lexicon.toml", "", "# x"),
    ],
)
def test_code_and_data_that_it_uses_change_the_version(
    file: str, old: str, new: str, copy: Path, edited: Edit
) -> None:
    before = version(copy)
    edited(file, lambda text: text.replace(old, new, 1) if old else text + new)
    assert version(copy) != before


@pytest.mark.parametrize(
    ("preset", "file"),
    [
        ("opal", "engine/compaction/presets/opal.py"),
        ("opal", "engine/compaction/prompts/opal_headings.md"),
        ("claude_code", "engine/compaction/prompts/claude_headings.md"),
        ("learned", "engine/models/learned/weights.json"),
        ("learned", "engine/compaction/presets/learned.py"),
    ],
)
def test_what_one_strategy_uses_changes_its_version_alone(
    preset: str, file: str, copy: Path, edited: Edit
) -> None:
    before, others = version(copy, preset), version(copy, "truncate")
    change = "\nANOTHER = 7\n" if file.endswith(".py") else "\n "
    edited(file, lambda text: text + change)
    assert version(copy, preset) != before
    assert version(copy, "truncate") == others


def test_a_lazy_import_counts(tmp_path: Path) -> None:
    package = tmp_path / "workbench"
    (package / "room").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "room/__init__.py": "",
        "room/late.py": "X = 1\n",
        "room/typed.py": "Y = 1\n",
        "room/first.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .typed import Y\n"
        "def use():\n    from . import late\n    return late.X\n",
    }.items():
        (package / name).write_text(text)
    assert PackageCode(package).reached(["workbench.room.first"]) == [
        "workbench",
        "workbench.room",
        "workbench.room.first",
        "workbench.room.late",
    ]


def test_annotations_count_in_the_body_of_a_class_alone(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        package = tmp_path / "workbench"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text(text)
        return PackageCode(package).module("workbench").digest

    assert digest("class A:\n    x: int = 1\n") != digest("class A:\n    x: float = 1\n")
    assert digest("x: int = 1\n") == digest("x: float = 1\n")
    assert digest("def f(x: int) -> int:\n    y: int = x\n") == digest(
        "def f(x):\n    y: float = x\n"
    )
    assert digest("def f():\n    return 1\n") != digest("def f():\n    return 2\n")
    assert digest("class A:\n    pass\n") == digest("class A:\n    '''A class.'''\n")


def test_a_process_takes_from_the_run_s_folder_what_another_one_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version_in_a_fresh_process() -> dict[str, str]:
        fresh = PackageCode()
        monkeypatch.setattr(code_module, "installed_code", lambda: fresh)
        return code_versions(REPLAY_BEGINS, {"summarize": wb.preset("summarize")}, UNSEEN, tmp_path)

    def refuse(*module: object) -> None:
        raise AssertionError("a file was read again")

    versions = version_in_a_fresh_process()
    monkeypatch.setattr(PackageCode, "_read", refuse)
    assert version_in_a_fresh_process() == versions


def test_a_folder_elsewhere_takes_what_this_user_has_found_out_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))

    def version_in_a_fresh_process(folder: str) -> object:
        monkeypatch.setattr(code_module, "installed_code", PackageCode)
        (tmp_path / folder).mkdir()
        return code_versions(REPLAY_BEGINS, {"": ()}, UNSEEN, tmp_path / folder)

    def refuse(*module: object) -> None:
        raise AssertionError("a file was read again")

    versions = version_in_a_fresh_process("here")
    kept_file = known_file(PACKAGE)
    kept_file.write_text("damaged")
    assert version_in_a_fresh_process("there") == versions
    monkeypatch.setattr(PackageCode, "_read", refuse)
    assert version_in_a_fresh_process("elsewhere") == versions


@pytest.mark.parametrize(
    "text", ["", "[]", '{"layout": 1}', '{"layout": 1, "modules": {"workbench": {}}}']
)
def test_a_damaged_file_of_what_was_found_is_made_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    versions = code_versions(REPLAY_BEGINS, {"": ()}, UNSEEN, tmp_path)
    assert versions == code_versions(REPLAY_BEGINS, {"": ()}, UNSEEN)


def modules_that_run(work: Callable[[], object]) -> set[str]:
    """The package's modules of which any function ran."""
    ran: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            ran.add(str(frame.f_globals.get("__name__")))

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {name for name in ran if name.startswith("workbench.")}


@pytest.mark.parametrize("name", ["pipeline", "learned_summary", "opal"])
def test_whatever_runs_in_a_replay_is_covered(name: str) -> None:
    ready = prepared(min(wb.bundled(), key=lambda session: len(session.messages)))
    preset: Preset = wb.preset(name)
    spec = RunSpec(strategies=[name], shares=[0.2])
    used = PartsUsed()
    used.add(preset)
    reached = PackageCode().reached([*REPLAY_BEGINS, *used.modules], UNSEEN)
    model = wb.find_model("extractive")
    ran = modules_that_run(lambda: replay_rows(ready, preset, model, spec))
    assert ran <= set(reached), sorted(ran - set(reached))


def test_every_data_file_that_the_package_reads_is_named_in_it() -> None:
    code = PackageCode()
    words = {word for name in code.every_module() for word in code.module(name).words}
    for name in BUILTIN_PRESETS:
        used = PartsUsed()
        used.add(wb.preset(name))
        words |= used.words
    files = {file for named in code.data.values() for file in named}
    # JupyterLab looks for this name in the folder that it is given
    words.add("default_setting_overrides")
    # and Claude Code for these in the folder of a plug-in
    words |= {"plugin.json", ".mcp.json"}
    orphans = sorted(
        str(file.relative_to(PACKAGE)) for file in files if not {file.name, file.stem} & words
    )
    assert not orphans
