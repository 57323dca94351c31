"""What the pages say where they cannot show a thing."""

from __future__ import annotations

from workbench.base.errors import WorkbenchError

SHARED = "This is a shared copy: it holds figures, and no text of the recordings."


class NotShown(WorkbenchError):
    """The contexts of a session cannot be shown; says why in one sentence."""
