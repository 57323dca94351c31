"""A run over one recording with hostile words in it, and a view of it that answers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from builders import remembering, rules, said
from workbench import Session, compare, save
from workbench.engine.transcript.message import Message
from workbench.report.view.app import ViewServer

HOSTILE = (
    "<script>window.hit=1</script><img src=x"
    ' onerror="window.hit=1"></code></main><style>main{display:none}</style>'
)


def made_run(folder: Path, turns: int = 40) -> None:
    """`folder/reports/run`, of a session in `folder/session.jsonl`."""
    folder.mkdir()
    first: list[Message] = [rules("be brief"), said(f"please keep {HOSTILE} in mind", "u-in")]
    save(
        Session.of([*first, *remembering(turns)], id="s/1", title=f"Hostile {HOSTILE}"),
        folder / "session.jsonl",
    )
    compare(
        [folder / "session.jsonl"],
        strategies=["truncate", "summarize"],
        window=6_000,
        shares=(),
        out=folder / "reports" / "run",
        quiet=True,
    )


@contextmanager
def served(root: Path) -> Iterator[ViewServer]:
    """A view that answers while the `with` lasts."""
    server = ViewServer(root)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(10)


def losses_of(view: ViewServer, run: str) -> list[dict[str, Any]]:
    """The losses of a run as the view lists them, worst first; `loss` is the name of one."""
    text = get(f"{view.address}runs/{run}?of=losses&format=json")[1]
    rows: list[dict[str, Any]] = json.loads(text)
    return rows


def get(address: str, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
    """Status, text and headers of an answer; a redirect is not followed, and the path is sent as
    it is written.
    """
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    path = place.path + (f"?{place.query}" if place.query else "")
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers
