"""The pages of docs/reference that the package itself knows: formats, and tables with their columns.

`python docs/reference.py` writes them; with `--check` it names those that are stale and exits with 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.evaluation.experiment.columns import SOURCE
from workbench.recordings.importers.importer import formats

FOLDER = Path(__file__).parent / "reference"
FEATURES = ("calls", "thinking", "images", "usage", "times", "model", "system", "tree", "compactions")
"""What a format may carry, in the order of the columns."""


def formats_page() -> str:
    """The formats, and what each carries."""
    return "\n".join(_format_lines()) + "\n"


def _format_lines() -> Iterator[str]:
    yield "# Formats"
    yield ""
    yield "Formats are recognised by content, never by name. `workbench list formats` prints this list."
    yield ""
    yield f"| format | what it is | {' | '.join(FEATURES)} |"
    yield "|---" * (len(FEATURES) + 2) + "|"
    for importer in formats():
        cells = ["yes" if feature in importer.carries else "" for feature in FEATURES]
        yield f"| `{importer.name}` | {importer.description} | {' | '.join(cells)} |"


def tables_page() -> str:
    """The tables of a run and their columns."""
    return SOURCE.read_text(encoding="utf-8")


PAGES: dict[str, Callable[[], str]] = {"formats.md": formats_page, "tables.md": tables_page}


def stale_pages() -> list[str]:
    """The pages that say something else than the package."""
    return [name for name, made in PAGES.items() if _text(FOLDER / name) != made()]


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


def main(check: bool) -> int:
    """Write the pages, or name the stale ones."""
    if check:
        stale = stale_pages()
        sys.stdout.write("".join(f"{name} is stale: run python docs/reference.py\n" for name in stale))
        return int(bool(stale))
    for name, made in PAGES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
