"""Copies on this machine of runs that lie in a store: tables are read from a copy, and what is
written into it is written into the store too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from workbench.base import remote
from workbench.base.errors import MissingPath, SettingError
from workbench.base.private_files import make_private_folder, write_private
from workbench.base.remote import Place, RemoteFile, RemoteFolder
from workbench.engine.models.weights import cache_folder

ENDINGS = (".json", ".parquet", ".html", ".ipynb")
"""Of the files of a run, but for its replays, which stay in the store."""
DEEPEST = 3
"""Levels of folders below an address that are searched for runs."""


def local_folder(place: Place) -> Path:
    """The folder on this machine of a run or of runs: of an address, the copy, without a look at
    the store.
    """
    address = remote.address_of(place)
    if not address:
        return Path(remote.name_of(place))
    scheme, _, path = address.partition("://")
    return _copies().joinpath(scheme, *filter(None, path.split("/")))


def address_of_copy(path: Path) -> str:
    """The address that a file in a copy is of; empty where it lies in none."""
    copies = _copies()
    if not path.is_relative_to(copies):
        return ""
    scheme, *names = path.relative_to(copies).parts
    return f"{scheme}://{'/'.join(names)}"


def fetched(place: Place) -> Path:
    """The folder of a run or of runs; of an address the copy, in which all is as in the store.

    Raises:
        MissingPath: nothing is at the address.
        SetupError: the store cannot be asked, or refuses.
    """
    address = remote.address_of(place)
    if address:
        _fetch(address, DEEPEST)
    return local_folder(place)


def fetched_where_there(place: Place) -> Path:
    """As `fetched`; an address at which nothing is has an empty copy."""
    try:
        return fetched(place)
    except MissingPath:
        return local_folder(place)


def check_writable(address: str) -> None:
    """Nothing where something can be written below an address.

    Raises:
        SettingError, SetupError: it cannot.
    """
    trial = remote.below(address, ".writable.part")
    try:
        remote.write(trial, b"")
        remote.remove(trial)
    except MissingPath:
        raise SettingError(
            f"{address} cannot hold a run, since its bucket is not there; create the bucket first"
        ) from None


def _copies() -> Path:
    return cache_folder() / "remote"


def _fetch(address: str, levels: int) -> None:
    """Fetch the run at an address, or the runs below it."""
    listed = remote.folder(address)
    is_run = _is_run(listed)
    if is_run or levels == 0:
        _fetch_files(address, listed)
        return
    for folder in listed.folders:
        _fetch(folder, levels - 1)


def _is_run(listed: RemoteFolder) -> bool:
    file_names = {file.name for file in listed.files}
    folder_names = {folder.rpartition("/")[2] for folder in listed.folders}
    return "manifest.json" in file_names or "replays" in folder_names


def _fetch_files(address: str, listed: RemoteFolder) -> None:
    """Make the files of a copy those of the store: only those that have changed are fetched."""
    copy = local_folder(address)
    make_private_folder(copy)
    versions_file = copy.with_name(f".{copy.name}.versions.json")
    earlier_versions = _versions(versions_file)
    versions: dict[str, str] = {}
    for remote_file in listed.files:
        name = remote_file.name
        if not name.endswith(ENDINGS):
            continue
        versions[name] = _version(remote_file)
        is_there = (copy / name).is_file()
        if not is_there or earlier_versions.get(name) != versions[name]:
            part = copy / f".{name}.part"
            remote.download(remote_file.address, part)
            part.chmod(0o600)
            part.replace(copy / name)
    for name in earlier_versions.keys() - versions.keys():
        (copy / name).unlink(missing_ok=True)
    write_private(versions_file, json.dumps(versions))


def _version(remote_file: RemoteFile) -> str:
    return f"{remote_file.size} {remote_file.version}"


def _versions(file: Path) -> Mapping[str, str]:
    """What was fetched earlier; nothing where that is not known."""
    try:
        versions = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(versions, dict):
        return {}
    return {str(name): str(version) for name, version in versions.items() if "/" not in str(name)}
