"""A real HTTP server in the place of a provider."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine.models.provider import Provider, serving


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        yield server
