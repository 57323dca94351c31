"""The server of the view: on this machine's loopback, and only for who knows the token in the
address.
"""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from typing import Any, TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.formats import some
from workbench.base.markup import TEMPLATES, render
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.exports import csv_text
from workbench.evaluation.experiment.run_notes import RunNotes, delete_run
from workbench.report.view.changes import changes_page
from workbench.report.view.contexts import NotShown
from workbench.report.view.filling import filling_page
from workbench.report.view.pages import (
    Page,
    all_losses,
    loss_address,
    path_of,
    queue_page,
    run_page,
    runs_page,
)
from workbench.report.view.runs import RunEntry, runs
from workbench.report.view.session import session_page

HOST = "127.0.0.1"
STATIC = {
    "report.css": TEMPLATES / "page" / "report.css", "explorer.css": TEMPLATES / "explore" / "explorer.css",
    "view.css": TEMPLATES / "view" / "view.css", "view.js": TEMPLATES / "view" / "view.js",
}  # fmt: skip
"""The only files that are served beside the reports of runs."""
OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
    " img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors"
    " 'none'; frame-src 'self'"
)
"""`frame-src` holds for all that a framed report opens in its own place: it leads nowhere but to
this server.
"""
REPORT = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)
"""A report has its script and its style in itself; it is kept apart from all other pages, and
may ask for nothing.
"""
REPORTS = "report"
"""Begins the address of a report in its frame, which has no token: what runs in a report reads
its own address.
"""
HEADERS = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
}  # fmt: skip
Answer: TypeAlias = Callable[[Request], Response]
Fields: TypeAlias = Mapping[str, str]
Change: TypeAlias = Callable[[RunEntry, Fields], dict[str, str]]
"""Changes what is kept of a run; says in `told` what it did, and in `go` which page to show next,
if another one.
"""
MOST_POSTED = 64 << 10
"""Bytes of a change."""


class Guard:
    """Refuses each request without the token, for another host, or from another page."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = (f"{HOST}:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse in one sentence."""
        refusal = self.refusal(scope) if scope["type"] == "http" else "The view answers HTTP alone."
        if not refusal:
            path = (
                scope["path"] if _is_framed(scope["path"]) else scope["path"][len(self.token) + 1 :]
            )
            await self.app({**scope, "path": path}, receive, send)
        elif scope["type"] == "http":
            await _refused(refusal, 403)(scope, receive, send)

    def refusal(self, scope: Scope) -> str:
        """Why a request is refused; empty where it is not."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
        if len(headers.get("host", [])) != 1 or headers["host"][0] not in self.hosts:
            return f"The view answers for {' and '.join(self.hosts)} only."
        own_origins = [f"http://{host}" for host in self.hosts]
        if not set(headers.get("origin", [])) <= set(own_origins):
            return "The view answers its own pages only."
        path = scope["path"]
        if scope["method"] == "POST":
            # a page of another origin can send neither without being asked for leave first
            is_own = headers.get("origin", []) and not _is_framed(path)
            if not is_own or headers.get("content-type", []) != ["application/json"]:
                return "A change is taken from the view's own pages only."
        if _is_framed(path):
            opened_as = headers.get("sec-fetch-dest", ["iframe"])
            return (
                "" if opened_as == ["iframe"] else "A report is shown in a page of the view only."
            )
        token = path.split("/")[1] if path.startswith("/") else ""
        if not compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return "This address lacks the token; open the one that `workbench view` printed."
        return ""


def _is_framed(path: str) -> bool:
    """Whether an address is that of a report in its frame, which has a key of its own in the
    place of the token.
    """
    return path.startswith(f"/{REPORTS}/")


def application(root: Path, token: str, port: int) -> Starlette:
    """All pages of the runs in a folder."""
    base = f"/{token}/"

    def entry(request: Request) -> RunEntry:
        return _entry(root, request)

    def shown(page: Page, request: Request) -> Response:
        form = request.query_params.get("format", "")
        if form:
            return _download(page, form)
        words = [
            (name, value) for name, value in request.query_params.multi_items() if name != "format"
        ]
        values = {
            "base": base,
            "title": page.title,
            "query": words,
            "stamp": stamp(request),
            **page.values,
        }
        return HTMLResponse(
            _text(f"view/{page.template}.html", values), headers={"Content-Security-Policy": OWN}
        )

    def stamp(request: Request) -> dict[str, str]:
        entries, name = (
            runs(root),
            request.path_params.get("run") or request.query_params.get("run"),
        )
        stamped = [run for run in entries.values() if name in (None, run.name)]
        going = [run for run in stamped if not run.finished]
        replays_stored = some(sum(run.replays for run in going), "replay is", "replays are")
        words = f"The run goes on: {replays_stored} done." if going else "The run is finished."
        return {"stamp": " ".join(run.stamp for run in stamped), "words": words}

    def answering(answer: Answer) -> Answer:
        def safe(request: Request) -> Response:
            try:
                return answer(request)
            except WorkbenchError as error:
                return _refused(str(error), 404, base)

        return safe

    def report(request: Request) -> Response:
        run = entry(request)
        _report_of(run, root)
        values = {"run": run, "frame": f"/{REPORTS}/{_report_key(token, run.name)}"}
        return shown(Page("report", f"The report of {run.name}", values), request)

    def loss(request: Request) -> Response:
        place = loss_address(entry(request), str(request.path_params["key"]))
        if not place:
            raise NotShown(f"The run has no loss {request.path_params['key']!r}.")
        return RedirectResponse(base + place, 303)

    def static(request: Request) -> Response:
        path = STATIC.get(str(request.path_params["name"]))
        return FileResponse(path) if path else _refused("There is no such file.", 404, base)

    pages: Mapping[str, Answer] = {
        "/": lambda request: shown(runs_page(runs(root), request.query_params), request),
        "/changes": lambda request: shown(changes_page(runs(root), request.query_params), request),
        "/runs/{run}": lambda request: shown(
            run_page(entry(request), request.query_params), request
        ),
        "/runs/{run}/queue": lambda request: shown(
            queue_page(entry(request), request.query_params), request
        ),
        "/runs/{run}/session": lambda request: shown(
            session_page(entry(request), request.query_params), request
        ),
        "/runs/{run}/filling": lambda request: shown(
            filling_page(entry(request), request.query_params), request
        ),
        "/runs/{run}/loss/{key}": loss,
        "/runs/{run}/report.html": report,
        f"/{REPORTS}/{{key}}": lambda request: _framed(
            root, token, str(request.path_params["key"])
        ),
        "/state": lambda request: JSONResponse(stamp(request)),
        "/static/{name}": static,
        "/{rest:path}": lambda request: _refused("There is no such page.", 404, base),
    }
    routes = [
        Route(path, _changing(root, base, change), methods=["POST"])
        for path, change in CHANGES.items()
    ]
    routes += [Route(path, answering(answer), methods=["GET"]) for path, answer in pages.items()]
    app = Starlette(routes=routes)
    app.add_middleware(Guard, token=token, port=port)
    return app


def _entry(root: Path, request: Request) -> RunEntry:
    """The run that an address names.

    Raises:
        NotShown: there is none of that name.
    """
    name, entries = str(request.path_params["run"]), runs(root)
    if name not in entries:
        raise NotShown(f"There is no run {name!r} here.")
    return entries[name]


def _changing(root: Path, base: str, change: Change) -> Callable[[Request], Awaitable[Response]]:
    """What takes a change of a run from a page, and says what came of it."""

    async def take(request: Request) -> Response:
        try:
            fields = await _posted(request)
            answer = await run_in_threadpool(change, _entry(root, request), fields)
        except WorkbenchError as error:
            return JSONResponse({"told": f"{error}."}, 400)
        if "go" in answer:
            answer["go"] = base + answer["go"]
        return JSONResponse(answer)

    return take


async def _posted(request: Request) -> Fields:
    """The texts that a page sent.

    Raises:
        NotShown: it is anything else.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_POSTED:
            raise NotShown(f"a change may have {MOST_POSTED:,} bytes")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not all(isinstance(v, str) for v in fields.values()):
        raise NotShown("a change is an object of texts")
    return fields


def _take_notes(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Write the name, the tags and the note of a run."""
    tags = [tag for tag in fields.get("tags", "").split(",") if tag.strip()]
    notes = RunNotes.of(run.path).described(fields.get("name"), tags, fields.get("note"))
    notes.write(run.path)
    return {"told": "Saved."}


def _take_mark(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Mark a loss of a run; the page of the next one follows."""
    loss, mark = fields.get("loss", ""), fields.get("mark", "")
    if loss not in {row["loss"] for row in all_losses(run)}:
        raise NotShown(f"The run has no loss {loss!r}")
    RunNotes.of(run.path).marked(loss, mark).write(run.path)
    words = f"Marked as {mark}." if mark else "The mark is taken away."
    return {"told": words, "go": path_of(run.name, "queue", loss=fields.get("next", ""))}


def _delete(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Delete a run whose folder the page names once more."""
    if fields.get("run") != run.name:
        raise NotShown("The name of the run to delete is missing")
    delete_run(run.path)
    return {"told": f"{run.name} is deleted.", "go": ""}


CHANGES: Mapping[str, Change] = {
    "/runs/{run}/notes": _take_notes,
    "/runs/{run}/marks": _take_mark,
    "/runs/{run}/delete": _delete,
}


def _report_key(token: str, run: str) -> str:
    """What the address of a run's report has in the place of the token; the token does not
    follow from it.
    """
    return hmac.new(token.encode(), run.encode("utf-8", "replace"), sha256).hexdigest()


def _framed(root: Path, token: str, key: str) -> Response:
    """The report with this key, for the frame in a page of ours."""
    for run in runs(root).values():
        if compare_digest(_report_key(token, run.name).encode(), key.encode("utf-8", "replace")):
            page = text_of(_report_of(run, root)).replace(
                '<html lang="en">', '<html lang="en" data-view="">', 1
            )
            return HTMLResponse(
                page.encode("utf-8", "replace"), headers={"Content-Security-Policy": REPORT}
            )
    return _refused("There is no such page.", 404)


def _report_of(run: RunEntry, root: Path) -> Path:
    path = run.path / "report.html"
    if not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
        raise NotShown("This run has no report; `workbench runs report` writes it.")
    return path


def _text(template: str, values: Mapping[str, Any]) -> bytes:
    return render(template, **values).encode("utf-8", "replace")


def _refused(reason: str, status: int, base: str = "") -> Response:
    page = _text("view/refused.html", {"why": reason, "base": base, "title": "Not shown"})
    return HTMLResponse(page, status, headers={**HEADERS, "Content-Security-Policy": OWN})


def _download(page: Page, form: str) -> Response:
    """What a page shows, as a file."""
    if form not in ("csv", "json"):
        raise NotShown(f"`format` is {form!r} in this address; it must be csv or json.")
    text = csv_text(page.rows) if form == "csv" else page.rows.to_json(orient="records", indent=2)
    kind = "text/csv" if form == "csv" else "application/json"
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in page.title)[:80]
    return Response(
        text.encode("utf-8", "replace"),
        media_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"'},
    )


class ViewServer:
    """A view that can be run: `address` is its first page.

    Raises:
        SettingError: there is no such folder, or the port is taken.
    """

    def __init__(self, root: Path, port: int = 0) -> None:
        runs(root)
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind((HOST, port))
        except OSError as error:
            raise SettingError(
                f"port {port} cannot be used: {error.strerror}; --port 0 takes a free one"
            ) from None
        self.socket.listen()  # who comes before `run` waits
        port, token = self.socket.getsockname()[1], token_urlsafe(24)
        self.address = f"http://{HOST}:{port}/{token}/"
        app = application(root, token, port)
        headers = list(HEADERS.items())
        self.server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="error",
                access_log=False,
                lifespan="off",
                server_header=False,
                headers=headers,
                timeout_graceful_shutdown=1,
            )
        )

    def run(self) -> None:
        """Answer until `stop`, or until Ctrl-C."""
        self.server.run(sockets=[self.socket])

    def stop(self) -> None:
        """End it, from another thread."""
        self.server.should_exit = True
