"""Who may read the view: who knows the token in its address, on this machine, from its own pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from secrets import compare_digest

from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.report.view.responses import refused

HOST = "127.0.0.1"
REPORTS = "report"
"""Begins the address of a report in its frame, which has no token: what runs in a report reads
its own address.
"""


LACKING = (
    "This address lacks the token, or has that of an earlier start. Open the one that"
    " `workbench view` printed; what follows the token stays the same."
)


class Guard:
    """Refuses each request without the token, for another host, or from another page."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = (f"{HOST}:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse in one sentence."""
        if scope["type"] != "http":
            return
        refusal = self.refusal(scope)
        if refusal:
            await refused(refusal, 403)(scope, receive, send)
            return
        path = scope["path"]
        if not _is_framed(path):
            path = path[len(self.token) + 1 :]
        await self.app({**scope, "path": path}, receive, send)

    def refusal(self, scope: Scope) -> str:
        """Why a request is refused; empty where it is not."""
        path = scope["path"]
        headers = _headers(scope)
        hosts = headers.get("host", ())
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return f"The view answers for {' and '.join(self.hosts)} only."
        origins = headers.get("origin", ())
        own_origins = {f"http://{host}" for host in self.hosts}
        if not own_origins.issuperset(origins):
            return "The view answers its own pages only."
        if scope["method"] == "POST":
            # a page of another origin can send neither without being asked for leave first
            is_own = origins and not _is_framed(path)
            is_json = headers.get("content-type") == ["application/json"]
            if not is_own or not is_json:
                return "A change is taken from the view's own pages only."
        if _is_framed(path):
            if headers.get("sec-fetch-dest", ["iframe"]) == ["iframe"]:
                return ""
            return "A report is shown in a page of the view only."
        if not compare_digest(_token(path).encode("utf-8", "replace"), self.token.encode()):
            return LACKING
        return ""


def _headers(scope: Scope) -> Mapping[str, Sequence[str]]:
    """All values of each header of a request."""
    headers: dict[str, list[str]] = defaultdict(list)
    for name, value in scope["headers"]:
        headers[name.decode("latin-1")].append(value.decode("latin-1"))
    return dict(headers)


def _token(path: str) -> str:
    """The first part of an address; empty where it has none."""
    if not path.startswith("/"):
        return ""
    return path.split("/")[1]


def _is_framed(path: str) -> bool:
    """Whether an address is that of a report in its frame, which has a key of its own in the
    place of the token.
    """
    return path.startswith(f"/{REPORTS}/")
