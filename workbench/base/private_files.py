"""Files that hold session text: readable by this user alone, whatever the umask, as the agents'
own are.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing. One that is there stays as its owner
    set it.
    """
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    try:
        folder.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        folder.chmod(FOLDER_MODE)


def make_private(file: Path) -> None:
    """Make a file where there is none, and take the rights of all others away."""
    file.touch(mode=FILE_MODE)
    with suppress(PermissionError):  # it belongs to someone else, who shares it
        file.chmod(FILE_MODE)


def open_private(file: Path) -> BinaryIO:
    """Open a file for new content."""
    stream = os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE), "wb")
    with suppress(PermissionError):
        file.chmod(FILE_MODE)
    return stream


def write_private(file: Path, content: str | bytes) -> None:
    """Write a file, and make its folder where there is none."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    make_private_folder(file.parent)
    with open_private(file) as stream:
        stream.write(content)
