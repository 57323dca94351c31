"""The command line: `workbench`."""

from __future__ import annotations

from workbench.cli.app import main

__all__ = ["main"]
