"""The sessions that come with the package, loaded."""

from __future__ import annotations

from workbench.importers.bundled import bundled as bundled_paths
from workbench.importers.importer import load
from workbench.transcript.session import Session


def bundled() -> list[Session]:
    """The bundled recorded sessions, smallest file first.

    Raises:
        SettingError: none were installed.
    """
    return [session for path in sorted(bundled_paths(), key=lambda p: p.stat().st_size) for session in load(path)]
