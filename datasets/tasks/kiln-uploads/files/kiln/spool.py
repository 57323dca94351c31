"""Firings in spool files: one JSON file each."""

import json
from pathlib import Path


def firings(folder="spool"):
    for file in sorted(Path(folder).glob("*.json")):
        yield json.loads(file.read_text())


def key(firing):
    return f"{firing['kiln']}-{firing['started']}"
