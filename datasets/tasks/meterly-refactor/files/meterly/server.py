"""Takes readings from the gateway: one JSON object a line over HTTP POST /readings."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from meterly import readings, settings


def accept(body, store):
    """(status, answer) for a POST body; store is a list."""
    accepted = 0
    for number, line in enumerate(body.splitlines(), 1):
        try:
            store.append(readings.parse(json.loads(line)))
            accepted += 1
        except (ValueError, KeyError) as problem:
            return 400, {"line": number, "error": str(problem), "accepted": accepted}
    return 200, {"accepted": accepted}


class Handler(BaseHTTPRequestHandler):
    store = []

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        status, answer = accept(self.rfile.read(length).decode("utf-8"), self.store)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    HTTPServer(("", settings.PORT), Handler).serve_forever()
