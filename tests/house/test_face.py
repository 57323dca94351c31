"""The face of the package."""

from __future__ import annotations

import subprocess
import sys

import workbench as wb


def test_every_name_of_the_face_can_be_loaded() -> None:
    for name in wb.__all__:
        assert getattr(wb, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    try:
        _ = wb.nonsense
    except AttributeError as error:
        assert "nonsense" in str(error)
    else:
        raise AssertionError("an unknown name was found")


def test_a_folder_never_hides_the_function_of_its_name() -> None:
    code = (
        "import workbench as wb, workbench.replay.natural, workbench.explore.explorer; "
        "assert callable(wb.replay) and callable(wb.explore)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
