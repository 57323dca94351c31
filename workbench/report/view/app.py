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
from typing import TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.formats import some
from workbench.base.markup import TEMPLATES
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.run_notes import RunNotes, delete_run
from workbench.report.view.changes import changes_page
from workbench.report.view.chart import chart_page
from workbench.report.view.contexts import NotShown
from workbench.report.view.filling import filling_page
from workbench.report.view.guard import HOST, REPORTS, Guard
from workbench.report.view.page import Page, Query, path_of
from workbench.report.view.pages import (
    all_losses,
    loss_address,
    queue_page,
    run_page,
    runs_page,
)
from workbench.report.view.responses import HEADERS, download, html, refused, report_html
from workbench.report.view.runs import RunEntry, runs
from workbench.report.view.search import search_page
from workbench.report.view.session import session_page

STATIC = {
    "report.css": TEMPLATES / "page" / "report.css",
    "explorer.css": TEMPLATES / "explore" / "explorer.css",
    "view.css": TEMPLATES / "view" / "view.css",
    "view.js": TEMPLATES / "view" / "view.js",
}
"""The only files that are served beside the reports of runs."""
Answer: TypeAlias = Callable[[Request], Response]
Fields: TypeAlias = Mapping[str, str]
Change: TypeAlias = Callable[[RunEntry, Fields], dict[str, str]]
"""Changes what is kept of a run; says in `told` what it did, and in `go` which page to show next,
if another one.
"""
MOST_POSTED = 64 << 10
"""Bytes of a change."""


class ViewPages:
    """All pages of the runs in a folder.

    Args:
        root: the folder.
        token: begins the address of every page.
    """

    def __init__(self, root: Path, token: str) -> None:
        self.root = root
        self.token = token
        self.base = f"/{token}/"

    def routes(self) -> list[Route]:
        """Every address, and what answers there."""
        changes: Mapping[str, Change] = {
            "/runs/{run}/notes": _take_notes,
            "/runs/{run}/marks": _take_mark,
            "/runs/{run}/delete": _delete,
        }
        answers: Mapping[str, Answer] = {
            "/": self.runs,
            "/changes": self.changes,
            "/chart": self.chart,
            "/runs/{run}": self._of_run(run_page),
            "/runs/{run}/queue": self._of_run(queue_page),
            "/runs/{run}/search": self._of_run(search_page),
            "/runs/{run}/session": self._of_run(session_page),
            "/runs/{run}/filling": self._of_run(filling_page),
            "/runs/{run}/loss/{key}": self.loss,
            "/runs/{run}/report.html": self.report,
            f"/{REPORTS}/{{key}}": self.framed_report,
            "/state": self.state,
            "/static/{name}": self.static,
            "/{rest:path}": self.nothing,
        }
        routes = []
        for path, change in changes.items():
            routes.append(Route(path, self._taking(change), methods=["POST"]))
        for path, answer in answers.items():
            routes.append(Route(path, self._safe(answer), methods=["GET"]))
        return routes

    def runs(self, request: Request) -> Response:
        """The list of runs."""
        page = runs_page(runs(self.root), request.query_params)
        return self._shown(page, request)

    def changes(self, request: Request) -> Response:
        """What changed from one run to another."""
        page = changes_page(runs(self.root), request.query_params)
        return self._shown(page, request)

    def chart(self, request: Request) -> Response:
        """One metric over several runs."""
        page = chart_page(runs(self.root), request.query_params)
        return self._shown(page, request)

    def report(self, request: Request) -> Response:
        """A run's report in a frame."""
        run = self._entry(request)
        self._report_file(run)
        frame = f"/{REPORTS}/{_report_key(self.token, run.name)}"
        page = Page("report", f"The report of {run.name}", {"run": run, "frame": frame})
        return self._shown(page, request)

    def framed_report(self, request: Request) -> Response:
        """The report with the key of the address, for the frame in a page of ours."""
        key = str(request.path_params["key"]).encode("utf-8", "replace")
        for run in runs(self.root).values():
            if compare_digest(_report_key(self.token, run.name).encode(), key):
                text = text_of(self._report_file(run))
                text = text.replace('<html lang="en">', '<html lang="en" data-view="">', 1)
                return report_html(text)
        return refused("There is no such page.", 404)

    def loss(self, request: Request) -> Response:
        """Leads to where a loss is shown."""
        key = str(request.path_params["key"])
        place = loss_address(self._entry(request), key)
        if not place:
            raise NotShown(f"The run has no loss {key!r}.")
        return RedirectResponse(self.base + place, 303)

    def state(self, request: Request) -> Response:
        """Whether something changed since a page was made."""
        return JSONResponse(self._stamp(request))

    def static(self, request: Request) -> Response:
        """A style sheet or script of ours."""
        path = STATIC.get(str(request.path_params["name"]))
        if path is None:
            return refused("There is no such file.", 404, self.base)
        return FileResponse(path)

    def nothing(self, request: Request) -> Response:
        """Where no page is."""
        return refused("There is no such page.", 404, self.base)

    def _of_run(self, make_page: Callable[[RunEntry, Query], Page]) -> Answer:
        """Shows a page of the run that the address names."""

        def answer(request: Request) -> Response:
            page = make_page(self._entry(request), request.query_params)
            return self._shown(page, request)

        return answer

    def _safe(self, answer: Answer) -> Answer:
        """The same answer, which refuses in a sentence what cannot be shown."""

        def safe(request: Request) -> Response:
            try:
                return answer(request)
            except WorkbenchError as error:
                return refused(str(error), 404, self.base)

        return safe

    def _shown(self, page: Page, request: Request) -> Response:
        """A page, or its rows as a file where the address asks for that."""
        form = request.query_params.get("format", "")
        if form:
            return download(page, form)
        query = []
        for name, value in request.query_params.multi_items():
            if name != "format":
                query.append((name, value))
        values = {
            "base": self.base,
            "title": page.title,
            "query": query,
            "stamp": self._stamp(request),
            **page.values,
        }
        return html(f"view/{page.template}.html", values)

    def _stamp(self, request: Request) -> dict[str, str]:
        """How far the run of the address is, or all runs, and what changes whenever they do."""
        entries = runs(self.root)
        name = request.path_params.get("run") or request.query_params.get("run")
        shown_runs = [run for run in entries.values() if name in (None, run.name)]
        going_runs = [run for run in shown_runs if not run.finished]
        words = "The run is finished."
        if going_runs:
            replay_count = sum(run.replays for run in going_runs)
            words = f"The run goes on: {some(replay_count, 'replay is', 'replays are')} done."
        stamps = [run.stamp for run in shown_runs]
        return {"stamp": " ".join(stamps), "words": words}

    def _entry(self, request: Request) -> RunEntry:
        """The run that an address names.

        Raises:
            NotShown: there is none of that name.
        """
        name = str(request.path_params["run"])
        entries = runs(self.root)
        if name not in entries:
            raise NotShown(f"There is no run {name!r} here.")
        return entries[name]

    def _report_file(self, run: RunEntry) -> Path:
        path = run.path / "report.html"
        if not path.is_file() or not path.resolve().is_relative_to(self.root.resolve()):
            raise NotShown("This run has no report; `workbench runs report` writes it.")
        return path

    def _taking(self, change: Change) -> Callable[[Request], Awaitable[Response]]:
        """What takes a change of a run from a page, and says what came of it."""

        async def take(request: Request) -> Response:
            try:
                fields = await _posted(request)
                answer = await run_in_threadpool(change, self._entry(request), fields)
            except WorkbenchError as error:
                return JSONResponse({"told": f"{error}."}, 400)
            if "go" in answer:
                answer["go"] = self.base + answer["go"]
            return JSONResponse(answer)

        return take


def application(root: Path, token: str, port: int) -> Starlette:
    """The view of a folder, which answers only who knows the token."""
    app = Starlette(routes=ViewPages(root, token).routes())
    app.add_middleware(Guard, token=token, port=port)
    return app


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
    if not isinstance(fields, dict):
        raise NotShown("a change is an object of texts")
    if not all(isinstance(value, str) for value in fields.values()):
        raise NotShown("a change is an object of texts")
    return fields


def _take_notes(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Write the name, the tags and the note of a run."""
    words = fields.get("tags", "").split(",")
    tags = [word for word in words if word.strip()]
    notes = RunNotes.of(run.path)
    notes = notes.described(fields.get("name"), tags, fields.get("note"))
    notes.write(run.path)
    return {"told": "Saved."}


def _take_mark(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Mark a loss of a run; the page of the next one follows."""
    loss = fields.get("loss", "")
    mark = fields.get("mark", "")
    if loss not in {row["loss"] for row in all_losses(run)}:
        raise NotShown(f"The run has no loss {loss!r}")
    notes = RunNotes.of(run.path).marked(loss, mark)
    notes.write(run.path)
    words = f"Marked as {mark}." if mark else "The mark is taken away."
    next_page = path_of(run.name, "queue", loss=fields.get("next", ""))
    return {"told": words, "go": next_page}


def _delete(run: RunEntry, fields: Fields) -> dict[str, str]:
    """Delete a run whose folder the page names once more."""
    if fields.get("run") != run.name:
        raise NotShown("The name of the run to delete is missing")
    delete_run(run.path)
    return {"told": f"{run.name} is deleted.", "go": ""}


def _report_key(token: str, run: str) -> str:
    """What the address of a run's report has in the place of the token; the token does not
    follow from it.
    """
    return hmac.new(token.encode(), run.encode("utf-8", "replace"), sha256).hexdigest()


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
        _, bound_port = self.socket.getsockname()
        token = token_urlsafe(24)
        self.address = f"http://{HOST}:{bound_port}/{token}/"
        config = uvicorn.Config(
            application(root, token, bound_port),
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            headers=list(HEADERS.items()),
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)

    def run(self) -> None:
        """Answer until `stop`, or until Ctrl-C."""
        self.server.run(sockets=[self.socket])

    def stop(self) -> None:
        """End it, from another thread."""
        self.server.should_exit = True
