"""A hub on loopback that fails as a plan says: python tools/fake_hub.py PLAN.json PORTFILE. The log goes to hub.log.

A plan is {"number of the request": what happens}: 503, 429, "cut" (half an answer), "lost" (stored, but the line breaks
before the answer), "slow" (no answer for ten seconds), "html" (a proxy's page with status 200).
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

plan = json.loads(Path(sys.argv[1]).read_text())
store, parts, count = {}, {}, [0]
log = open("hub.log", "w", buffering=1)


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, value, headers=(), cut=False):
        data = json.dumps(value).encode() if not isinstance(value, str) else value.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)

    def failure(self, what):
        count[0] += 1
        happens = plan.get(str(count[0]))
        log.write(f"{count[0]:>4} {self.command} {what} -> {happens or 'ok'}\n")
        return happens

    def broken(self, happens):
        if happens == 503:
            self.answer(503, {"error": "backup"})
        elif happens == 429:
            self.answer(429, {"error": "slow down"}, [("Retry-After", "1")])
        elif happens == "html":
            self.answer(200, "<html><body>Please log in to WorkshopNet</body></html>")
        elif happens == "slow":
            time.sleep(10)
            self.answer(504, {"error": "late"})
        else:
            return False
        return True

    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        kiln, page = query["kiln"][0], int(query.get("page", ["1"])[0])
        happens = self.failure(f"keys of {kiln} page {page}")
        if self.broken(happens):
            return
        keys = sorted(k for k in store if k.startswith(kiln))
        part = keys[(page - 1) * 50: page * 50]
        value = {"keys": part, **({"next": page + 1} if len(keys) > page * 50 else {})}
        self.answer(200, value, cut=happens == "cut")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        firing = json.loads(body)
        key = firing["key"]
        happens = self.failure(key + (f" part {firing['part']}/{firing['parts']}" if "part" in firing else ""))
        if self.broken(happens):
            return
        if len(body) > 65536:
            self.answer(413, {"error": f"{len(body)} bytes, at most 65536"})
            return
        if key in store:
            self.answer(409, {"error": "known", "id": store[key]})
            return
        if "part" in firing:
            have = parts.setdefault(key, set())
            have.add(firing["part"])
            if len(have) < firing["parts"]:
                self.answer(202, {"parts": len(have)})
                return
        store[key] = f"f{len(store) + 1:04}"
        if happens == "lost":
            self.close_connection = True
            self.connection.close()
            return
        self.answer(201, {"id": store[key]}, cut=happens == "cut")

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
Path(sys.argv[2]).write_text(str(server.server_port))
server.serve_forever()
