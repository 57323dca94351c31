"""A headless Chromium; tests that need one say so where there is none."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.chromium import find_chromium, launched
from report.page.here import rendered
from report.page.made import KEEPS, made
from report.page.test_cost import bill

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


@pytest.fixture(scope="session")
def priced_run(made_once: Callable[..., Path]) -> Path:
    """A run and its report: bills of many digits, and a strategy with a long name."""
    names = (*KEEPS, "openhands_rolling")
    source = made(9, names)
    parts = dict.fromkeys(("usd_input", "usd_output", "usd_summaries", "usd_fetching"), 12.34)
    source.rows["costs"] = [
        bill(
            f"session-{n:02d}",
            name,
            61.5 + n,
            usd_uncompacted=50.0,
            net_saving=-11.5 - n,
            **parts,
            even_at=None if name == "none" or n % 3 else 12,
        )
        for n in range(9)
        for name in names
    ]
    return made_once("nine", lambda folder: rendered(source.written(folder)))
