"""Finds and starts a headless Chromium, as the operating system has it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """The path of the program, where there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            return path
    return None


@contextmanager
def launched(path: str) -> Iterator[Any]:
    """A browser with a home of its own.

    Raises:
        ImportError: playwright is not installed.
    """
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            headless=True,
            args=list(ARGUMENTS),
            env={**os.environ, "HOME": home},
        )
        try:
            yield browser
        finally:
            browser.close()
