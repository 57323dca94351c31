"""What a bundled session holds that a good context should keep; docs/annotations.md has the
format.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def annotated(session: Path) -> Any:
    """The annotations in the folder of a bundled session."""
    found = tomllib.loads((session.parent / "annotations.toml").read_text("utf-8"))
    return json.loads(json.dumps(found), object_hook=lambda table: SimpleNamespace(**table))
