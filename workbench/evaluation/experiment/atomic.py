"""Files that are there whole or not at all, and are this user's alone."""

from pathlib import Path
from uuid import uuid4

from workbench.base.private_files import make_private_folder, write_private


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write a file so that at any moment the old one or the new one is there, whole."""
    make_private_folder(path.parent)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        write_private(part, data)
        part.replace(path)
    except OSError as error:  # a full disk, say, of which Python does not tell the file
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
