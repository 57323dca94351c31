"""Files in an object store or on a web server, by their addresses, such as `s3://bucket/sessions`.

A `Path` made of an address has lost one of its slashes; it is read as the same address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any, TypeAlias

from workbench.base.errors import MissingPath, SettingError, SetupError

SCHEMES = ("s3", "gs", "az", "https", "http", "file", "memory")
_ADDRESS = re.compile(rf"({'|'.join(SCHEMES)}):/+(.+)", re.DOTALL)
DRIVERS = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "az": "adlfs",
    "https": "aiohttp",
    "http": "aiohttp",
}
"""The package that fsspec needs for each scheme."""
Place: TypeAlias = str | Path


def address_of(place: Place) -> str:
    """The address that a text or a path is; empty where it is a path on this machine."""
    match = _ADDRESS.fullmatch(str(place))
    if match is None or match[1] == "file":
        return ""
    address = f"{match[1]}://{match[2].rstrip('/')}"
    if ".." in address.split("/"):
        raise SettingError(f"{address} has a part `..`; an address has none")
    return address


def name_of(place: Place) -> str:
    """The address that a place is, else its path: that of `file:///tmp/a` is `/tmp/a`."""
    match = _ADDRESS.fullmatch(str(place))
    if match is not None and match[1] == "file":
        return f"/{match[2]}"
    address = address_of(place)
    return address or str(place)


def is_pattern(address: str) -> bool:
    """Whether an address means all files that match it; a question mark belongs to a web address."""
    return has_magic(address) and not address.startswith("http")


def below(address: str, *names: str) -> str:
    """The address of what lies below another one."""
    return "/".join((address, *names))


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as its store lists it.

    Attributes:
        version: another one where the content has changed.
        changed: when it was written, as the store says it.
    """

    address: str
    size: int
    version: str
    changed: str = ""

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.address.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The address of the folder that it lies in."""
        return self.address.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """What lies directly in a folder: files, and the addresses of folders."""

    files: tuple[RemoteFile, ...]
    folders: tuple[str, ...]


def files_below(address: str) -> list[RemoteFile]:
    """The file at an address, all files below it, or those that match it as a pattern, by name.

    Raises:
        MissingPath: there is none.
        SetupError: the store cannot be asked, or refuses.
    """
    with _store(address) as (store, root):
        search = store.find
        if is_pattern(address):
            search = store.glob
        listed = search(root, detail=True)
        descriptions = iter(listed.values())
        first_facts: dict[str, Any] = next(descriptions, {})
        # a web server's search does not describe a single file
        if address.startswith("http") and "type" not in first_facts:
            facts = store.info(root)
            listed = {root: facts}
    files: list[RemoteFile] = []
    for facts in listed.values():
        if facts["type"] == "file":
            file = _file(address, facts)
            files.append(file)
    if not files:
        raise MissingPath(address)
    return sorted(files, key=lambda file: file.address)


def folder(address: str) -> RemoteFolder:
    """What lies directly at an address.

    Raises:
        MissingPath: nothing does.
        SetupError: the store cannot be asked, or refuses.
    """
    with _store(address) as (store, root):
        listed = store.ls(root, detail=True)
    files: list[RemoteFile] = []
    folders: list[str] = []
    for facts in listed:
        entry = _file(address, facts)
        if facts["type"] == "directory":
            folders.append(entry.address)
        elif entry.address != address:
            files.append(entry)
    if not files and not folders:
        raise MissingPath(address)
    return RemoteFolder(tuple(files), tuple(sorted(folders)))


def read(address: str) -> bytes | None:
    """The content of a file; None where there is none.

    Raises:
        SetupError: the store cannot be asked, or refuses.
    """
    try:
        with _store(address) as (store, path):
            content: bytes = store.cat_file(path)
            return content
    except MissingPath:
        return None


def write(address: str, content: str | bytes) -> None:
    """Write a file, which is there whole or not at all.

    Raises:
        SetupError: the store cannot be asked, or refuses.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    with _store(address) as (store, path):
        store.pipe_file(path, content)


def upload(file: Path, address: str) -> None:
    """Write a file of this machine to an address."""
    with _store(address) as (store, path):
        store.put_file(str(file), path)


def download(address: str, file: Path) -> None:
    """Write what is at an address into a file of this machine."""
    with _store(address) as (store, path):
        store.get_file(path, str(file))


def remove(address: str) -> None:
    """Remove a file; one that is not there is no error."""
    try:
        with _store(address) as (store, path):
            store.rm_file(path)
    except MissingPath:
        return


def _file(asked_address: str, facts: dict[str, Any]) -> RemoteFile:
    """A file of a listing, whose name has the scheme that was asked with."""
    name = str(facts["name"])
    if "://" not in name:
        scheme = asked_address.partition("://")[0]
        name = f"{scheme}://{name.lstrip('/')}"
    changed = _first_told(facts, "LastModified", "mtime", "created")
    version = _first_told(facts, "ETag", "etag")
    size = facts.get("size") or 0
    return RemoteFile(
        address=name.rstrip("/"),
        size=int(size),
        version=version or changed,
        changed=changed,
    )


def _first_told(facts: dict[str, Any], *names: str) -> str:
    """The first of these facts that a store tells; empty where it tells none."""
    for name in names:
        if facts.get(name):
            return str(facts[name])
    return ""


@contextmanager
def _store(address: str) -> Iterator[tuple[Any, str]]:
    """The store of an address and the path in it; what fails there is told in one sentence.

    Raises:
        MissingPath: the file, the folder or the bucket is not there.
        SetupError: a package is missing, there are no credentials, or the store does not answer.
    """
    scheme = address.partition("://")[0]
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(address, use_listings_cache=False)
    except FileNotFoundError as error:
        cause = error.__cause__
        # of a web server that does not answer
        if isinstance(cause, OSError):
            sentence = _sentence(cause)
            raise SetupError(f"{address} cannot be reached: {sentence}") from None
        raise MissingPath(address) from None
    except ImportError as error:
        package = DRIVERS.get(scheme, "fsspec")
        if error.name == "fsspec":
            package = "fsspec"
        raise _missing_package(address, package) from None
    except PermissionError as error:
        raise SetupError(f"{address} is refused by its store: {_sentence(error)}") from None
    except (MissingPath, SettingError, SetupError):
        raise
    except Exception as error:  # noqa: BLE001 - each store's client raises errors of its own kinds
        kind = type(error).__name__
        if "redential" in f"{kind} {error}":
            raise SetupError(
                f"{address} needs credentials, and none were found; set them as for the store's own"
                " tools, such as AWS_PROFILE or AWS_ACCESS_KEY_ID for s3://"
            ) from None
        raise SetupError(f"{address} cannot be reached: {_sentence(error)}") from None


def _missing_package(address: str, package: str) -> SetupError:
    command = "pip install 'compaction-workbench[remote]'"
    if package in ("gcsfs", "adlfs"):
        command += f" {package}"
    return SetupError(f"{address} needs the package {package}: {command}")


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    if not text:
        return type(error).__name__
    return text[:200]
