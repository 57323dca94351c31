"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("MPLBACKEND", "agg")

CORPORA = Path(__file__).parent.parent.parent / "shared" / "corpora"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real recordings beside the checkout; tests that need it say so when it is not there."""
    if not CORPORA.is_dir():
        pytest.skip("no real recordings: the folder ../shared/corpora is not beside this checkout")
    return CORPORA
