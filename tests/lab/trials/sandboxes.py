"""Tests of the sandbox need bubblewrap: where it is missing they are skipped by name, but never
in CI.
"""

from __future__ import annotations

import os

import pytest

from workbench import SetupError
from workbench.lab.trials.helper_client import require_sandbox


def need_sandbox() -> None:
    """Skip the test that calls it where no sandbox can be had; in CI that is a failure."""
    try:
        require_sandbox()
    except SetupError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI has no sandbox: {error}")
        pytest.skip(str(error))
