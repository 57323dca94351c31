"""The face of the package."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import workbench as wb


def test_every_name_of_the_face_can_be_loaded() -> None:
    for name in wb.__all__:
        assert getattr(wb, name) is not None


def without(package: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run code where a package is not installed."""
    hidden = f"import sys; sys.modules[{package!r}] = None; {code}"
    return subprocess.run(
        [sys.executable, "-c", hidden], check=False, capture_output=True, text=True
    )


def test_without_the_extras_a_sentence_says_what_to_install() -> None:
    advice = "pip install 'compaction-workbench[all]'"
    compare = without("pydantic", "import workbench as wb; wb.compare")
    assert compare.returncode == 1 and compare.stderr.strip().endswith(
        f"needs the package pydantic: {advice}"
    )
    command = without("typer", "from workbench.cli import main; sys.exit(main(['compare']))")
    assert (
        command.returncode == 2
        and command.stderr == f"the command line needs the package typer: {advice}\n"
    )


def test_without_the_loader_of_names_a_sentence_says_what_to_install() -> None:
    use = without("lazy_loader", "import workbench as wb; wb.Compactor")
    assert use.returncode == 1 and use.stderr.strip().endswith(
        "wb.Compactor needs the package lazy_loader: pip install compaction-workbench"
    )
    assert without("lazy_loader", "import workbench").returncode == 0


def test_it_has_at_most_forty_names_beside_errors_and_what_users_asked_for() -> None:
    asked_for = {
        "AsyncCompactor",
        "Cancel",
        "Settings",
        "advise",
        "composition",
        "events",
        "judge_exam",
        "judge_losses",
        "learn",
    }
    of_embedders = {"Due", "Model", "Scripted", "Situation", "SummaryRequest", "Trigger"}
    of_the_log = {"ClearingEntry", "CompactionEntry", "Log", "MessageEntry", "NoteEntry"}
    returned = {
        "Advice",
        "Compaction",
        "Exam",
        "ExamResults",
        "Explorer",
        "Findings",
        "JudgedLosses",
        "Learned",
        "MetricInput",
        "Prepared",
        "Replay",
        "Results",
        "Simulation",
        "TrialResults",
    }
    others = set(wb.__all__) - {"__version__"} - asked_for - of_embedders - of_the_log - returned
    errors = {name for name in others if inspect.isclass(getattr(wb, name))}
    errors = {name for name in errors if issubclass(getattr(wb, name), Exception)}
    assert len(others - errors) <= 40


def test_an_unknown_name_is_an_attribute_error() -> None:
    try:
        _ = wb.nonsense  # type: ignore[attr-defined]  # there is no such name
    except AttributeError as error:
        assert "nonsense" in str(error)
    else:
        raise AssertionError("an unknown name was found")


def test_no_folder_or_module_of_the_package_is_named_like_a_public_name() -> None:
    package = Path(wb.__file__).parent
    inside = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/*.py")
    }
    assert not inside & set(wb.__all__)
