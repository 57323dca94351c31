"""Takes a report's picture for the README: `python tests/browser/picture.py REPORT.html
docs/images/report.png`.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def take(report: Path, out: Path, width: int = 1080) -> None:
    """Save the report's first screen, down to its first chart."""
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(report.resolve().as_uri())
        chart = page.locator("figure").first.bounding_box()
        assert chart is not None
        height = chart["y"] + chart["height"] + 16
        page.screenshot(
            path=str(out), full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height}
        )
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
