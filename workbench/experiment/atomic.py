"""Files that are there whole or not at all."""

from pathlib import Path
from uuid import uuid4


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write a file so that at any moment the old one or the new one is there, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        part.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
        part.replace(path)
    except OSError as error:  # a full disk, say, of which Python does not tell the file
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
