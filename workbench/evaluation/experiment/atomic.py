"""Files that are there whole or not at all, and are this user's alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from workbench.base import remote
from workbench.base.private_files import make_private, make_private_folder, write_private
from workbench.evaluation.experiment.run_copies import address_of_copy, local_folder


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that at any moment the old one or the new one is there, whole.

    What is written at an address, or in the copy of a run from a store, is written into the store.
    """
    with replacing(path) as part:
        write_private(part, content)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file, which takes the place of another one when the `with` ends without an error."""
    file = local_folder(path)
    make_private_folder(file.parent)
    part = file.with_name(f".{file.name}.{uuid4().hex}.part")
    try:
        make_private(part)
        yield part
        part.replace(file)
    except OSError as error:  # a full disk, say, of which Python does not tell the file
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)
    address = address_of_copy(file)
    if address:
        remote.upload(file, address)
