"""The server of the view: on this machine's loopback, and only for who knows the token in the
address.
"""

from __future__ import annotations

import hmac
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
from workbench.report.view.changes import changes_page
from workbench.report.view.chart import chart_page
from workbench.report.view.filling import filling_page
from workbench.report.view.guard import HOST, REPORTS, Guard
from workbench.report.view.losses import loss_address, queue_page
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import Page, Query
from workbench.report.view.pages import run_page, runs_page
from workbench.report.view.responses import (
    HEADERS,
    download,
    html,
    refused,
    report_html,
)
from workbench.report.view.runs import RunEntry, runs
from workbench.report.view.search import search_page
from workbench.report.view.sent_changes import (
    Change,
    delete,
    posted_fields,
    take_mark,
    take_notes,
)
from workbench.report.view.session import session_page

STATIC = {
    "report.css": TEMPLATES / "page" / "report.css",
    "explorer.css": TEMPLATES / "explore" / "explorer.css",
    "view.css": TEMPLATES / "view" / "view.css",
    "view.js": TEMPLATES / "view" / "view.js",
}
"""The only files that are served beside the reports of runs."""
Answer: TypeAlias = Callable[[Request], Response]


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
            "/runs/{run}/notes": take_notes,
            "/runs/{run}/marks": take_mark,
            "/runs/{run}/delete": delete,
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
        return self._rendered(page, request)

    def changes(self, request: Request) -> Response:
        """What changed from one run to another."""
        page = changes_page(runs(self.root), request.query_params)
        return self._rendered(page, request)

    def chart(self, request: Request) -> Response:
        """One metric over several runs."""
        page = chart_page(runs(self.root), request.query_params)
        return self._rendered(page, request)

    def report(self, request: Request) -> Response:
        """A run's report in a frame."""
        run = self._entry(request)
        self._report_file(run)
        key = _report_key(self.token, run.name)
        values = {
            "run": run,
            "frame": f"/{REPORTS}/{key}",
        }
        page = Page("report", f"The report of {run.name}", values)
        return self._rendered(page, request)

    def framed_report(self, request: Request) -> Response:
        """The report with the key of the address, for the frame in a page of ours."""
        path_key = str(request.path_params["key"])
        key = path_key.encode("utf-8", "replace")
        for run in runs(self.root).values():
            key_of_run = _report_key(self.token, run.name)
            if compare_digest(key_of_run.encode(), key):
                text = text_of(self._report_file(run))
                text = text.replace('<html lang="en">', '<html lang="en" data-view="">', 1)
                return report_html(text)
        return refused("There is no such page.", 404)

    def loss(self, request: Request) -> Response:
        """Leads to where a loss is shown."""
        key = str(request.path_params["key"])
        run = self._entry(request)
        place = loss_address(run, key)
        if not place:
            raise NotShown(f"The run has no loss {key!r}.")
        return RedirectResponse(self.base + place, 303)

    def state(self, request: Request) -> Response:
        """Whether something changed since a page was made."""
        return JSONResponse(self._stamp(request))

    def static(self, request: Request) -> Response:
        """A style sheet or script of ours."""
        name = str(request.path_params["name"])
        path = STATIC.get(name)
        if path is None:
            return refused("There is no such file.", 404, self.base)
        return FileResponse(path)

    def nothing(self, request: Request) -> Response:
        """Where no page is."""
        return refused("There is no such page.", 404, self.base)

    def _of_run(self, make_page: Callable[[RunEntry, Query], Page]) -> Answer:
        """Shows a page of the run that the address names."""

        def answer(request: Request) -> Response:
            run = self._entry(request)
            page = make_page(run, request.query_params)
            return self._rendered(page, request)

        return answer

    def _safe(self, answer: Answer) -> Answer:
        """The same answer, which refuses in a sentence what cannot be shown."""

        def safe(request: Request) -> Response:
            try:
                return answer(request)
            except WorkbenchError as error:
                return refused(str(error), 404, self.base)

        return safe

    def _rendered(self, page: Page, request: Request) -> Response:
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
        name = request.path_params.get("run") or request.query_params.get("run")
        stamps = []
        going_runs = []
        for run in runs(self.root).values():
            if name not in (None, run.name):
                continue
            stamps.append(run.stamp)
            if not run.finished:
                going_runs.append(run)
        words = "The run is finished."
        if going_runs:
            replay_count = sum(run.replays for run in going_runs)
            replays_are = some(replay_count, "replay is", "replays are")
            words = f"The run goes on: {replays_are} done."
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
        root = self.root.resolve()
        is_inside = path.resolve().is_relative_to(root)
        if not path.is_file() or not is_inside:
            raise NotShown("This run has no report; `workbench runs report` writes it.")
        return path

    def _taking(self, change: Change) -> Callable[[Request], Awaitable[Response]]:
        """What takes a change of a run from a page, and says what came of it."""

        async def take(request: Request) -> Response:
            try:
                fields = await posted_fields(request)
                run = self._entry(request)
                answer = await run_in_threadpool(change, run, fields)
            except WorkbenchError as error:
                return JSONResponse({"told": f"{error}."}, 400)
            if "go" in answer:
                answer["go"] = self.base + answer["go"]
            return JSONResponse(answer)

        return take


def application(root: Path, token: str, port: int) -> Starlette:
    """The view of a folder, which answers only who knows the token."""
    pages = ViewPages(root, token)
    app = Starlette(routes=pages.routes())
    app.add_middleware(Guard, token=token, port=port)
    return app


def _report_key(token: str, run: str) -> str:
    """What the address of a run's report has in the place of the token; the token does not
    follow from it.
    """
    name = run.encode("utf-8", "replace")
    code = hmac.new(token.encode(), name, sha256)
    return code.hexdigest()


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
