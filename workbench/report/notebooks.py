"""Where the notebooks are that come with the workbench."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import SetupError

PLACES = (Path(__file__).parent.parent.parent / "notebooks", Path(__file__).parent.parent / "notebooks")
"""In a checkout, and in an installed package."""


def notebook(name: str) -> Path:
    """The notebook of that name, without its ending; a `SetupError` where it was not installed."""
    for folder in PLACES:
        if (folder / f"{name}.ipynb").is_file():
            return folder / f"{name}.ipynb"
    raise SetupError(f"the notebook {name}.ipynb is not in {PLACES[0]} or {PLACES[1]}; install the workbench anew")


def course() -> list[Path]:
    """The course in reading order, and the template for experiments behind it."""
    folder = notebook("01_first_replay").parent
    return [*sorted(folder.glob("[0-9][0-9]_*.ipynb")), notebook("experiment")]


def copy_course(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy the course into a folder; the notebooks that were copied, and those that were there and stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    targets = {folder / source.name: source for source in course()}
    there = [target for target in targets if target.exists()]
    copied = [target for target in targets if target not in there]
    for target in copied:
        target.write_bytes(targets[target].read_bytes())
    return copied, there
