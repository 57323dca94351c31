"""Where the package lies, and the data that ships with it."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
"""The folder `workbench`."""


def shipped_folder(name: str) -> Path:
    """Where data lie that ship with the package: in it once it is installed, in `datasets` beside
    it in a checkout.

    Args:
        name: of the folder in `datasets`.
    """
    packed = PACKAGE / "_data" / name
    if packed.is_dir():
        return packed
    return PACKAGE.parent / "datasets" / name
