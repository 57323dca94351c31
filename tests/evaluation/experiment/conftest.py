"""A provider behind a real HTTP server that writes summaries, named in the environment as a user
names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from engine.models.provider import Provider, serving
from evaluation.experiment.outages import configured, summary


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Provider]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving() as server:
        for name, value in configured(tmp_path, server.address).items():
            monkeypatch.setenv(name, value)
        server.by = partial(summary, usage=None)
        yield server
