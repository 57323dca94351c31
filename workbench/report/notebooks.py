"""Where the notebooks are that come with the workbench."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import SetupError

PLACES = (Path(__file__).parent.parent.parent / "notebooks", Path(__file__).parent.parent / "notebooks")
"""In a checkout, and in an installed package."""


def notebook(name: str) -> Path:
    """The notebook of that name, without its ending.

    Raises:
        SetupError: it was not installed.
    """
    for folder in PLACES:
        if (folder / f"{name}.ipynb").is_file():
            return folder / f"{name}.ipynb"
    raise SetupError(
        f"the notebook {name}.ipynb is neither in {PLACES[0]} nor in {PLACES[1]}; install the workbench anew"
    )
