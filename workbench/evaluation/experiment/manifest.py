"""The manifest of a run: how it was made."""

import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time

from workbench.base.registry import DISTRIBUTION
from workbench.engine.models import recorded_name
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.store import SCHEMA
from workbench.evaluation.experiment.work import ReplayJob, code_of_replays


def manifest_of(
    job: ReplayJob, sources: Sequence[SessionSource], seconds: float
) -> dict[str, object]:
    """How a run was made.

    Args:
        job: the run.
        sources: what it read.
        seconds: that it took.
    """
    command = ["workbench", *sys.argv[1:]] if Path(sys.argv[0]).name == "workbench" else []
    names = [
        str(source.path) if source.path else f"session {index}"
        for index, source in enumerate(sources)
    ]
    return {
        "schema": SCHEMA,
        "command": [job.masked(_without_secrets(word)) for word in command],
        "settings": job.spec.settings(),
        "presets": [described(preset) for preset in job.presets],
        "sources": [job.masked(name) for name in names],
        "code": code_of_replays(job.spec.redaction, {"": ()}, job.folder.path)[""],
        "python": platform.python_version(),
        "packages": {
            name: _version(name)
            for name in (DISTRIBUTION, "tiktoken", "litellm", "numpy", "pandas")
        },
        "jobs": job.spec.jobs,
        "seconds": round(seconds, 1),
        "created": round(time()),
    }


def _without_secrets(word: str) -> str:
    """A word of our own command line; the command line of a model may hold a key."""
    before, command, line = word.partition("command:")
    return before + recorded_name(command + line) if command else word


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
