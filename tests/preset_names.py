"""The names of all presets, built in and variants."""

from __future__ import annotations

from workbench import UnknownName, preset


def preset_names() -> list[str]:
    """Those that the error about an unknown name lists."""
    try:
        preset("no such preset")
    except UnknownName as error:
        return list(error.known)
    raise AssertionError("such a preset is known")
