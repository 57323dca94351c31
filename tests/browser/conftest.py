"""A headless Chromium, as the operating system has it; tests that need one say so where there is
none.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from profiles import FULL

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
SCREENSHOTS = Path(__file__).parent.parent.parent / "build" / "screenshots"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = next(
        (
            found
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (found := shutil.which(name))
        ),
        None,
    )
    if path is None:
        pytest.skip("no Chromium is installed on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    home = tmp_path_factory.mktemp("home")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(
            executable_path=path,
            headless=True,
            args=list(ARGUMENTS),
            env={**os.environ, "HOME": str(home)},
        )
        yield found
        found.close()


@pytest.fixture(scope="session")
def keep() -> Any:
    """Keeps a picture of a page for people to look at, in the full profile."""
    if not FULL:
        return lambda page, name, **how: None
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return lambda page, name, **how: page.screenshot(path=str(SCREENSHOTS / f"{name}.png"), **how)
