"""Status page and reports over HTTP, for the managers' screen and for monitoring."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from poolside import archive, weeks

TYPES = {".txt": "text/plain; charset=utf-8", ".csv": "text/csv; charset=iso-8859-1"}


def answer(config, path):
    """Status, content type and body for a path."""
    if path == "/health":
        return 200, "application/json", b'{"status": "ok"}'
    if path == "/weeks":
        found = sorted({weeks.shown(week) for _, week in archive.stored(config)})
        return 200, "application/json", json.dumps(found).encode()
    for file, _ in archive.stored(config):
        if path == f"/reports/{file.name}":
            return 200, TYPES[file.suffix], file.read_bytes()
    return 404, "text/plain; charset=utf-8", b"not found\n"


def server(config, port=None):
    """A server that is not yet serving; port 0 takes any free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, kind, body = answer(config, self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return ThreadingHTTPServer((config.host, config.port if port is None else port), Handler)
