"""A headless Chromium; tests that need one say so where there is none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.chromium import find_chromium, launched

from profiles import FULL

SCREENSHOTS = Path(__file__).parent.parent.parent / "build" / "screenshots"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium is installed on this machine")
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with launched(path) as browser:
        yield browser


@pytest.fixture(scope="session")
def keep() -> Any:
    """Keeps a picture of a page for people to look at, in the full profile."""
    if not FULL:
        return lambda page, name, **how: None
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return lambda page, name, **how: page.screenshot(path=str(SCREENSHOTS / f"{name}.png"), **how)
