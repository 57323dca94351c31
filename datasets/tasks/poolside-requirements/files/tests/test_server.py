import threading
import urllib.request

from poolside import archive, server
from tests.builders import settings


def test_health_is_exactly_what_monitoring_expects(tmp_path):
    assert server.answer(settings(tmp_path), "/health") == (200, "application/json", b'{"status": "ok"}')


def test_weeks(tmp_path):
    known = settings(tmp_path)
    archive.store(known, "week-2026-22.txt", "x")
    archive.store(known, "week-2026-21.csv", "x")
    assert server.answer(known, "/weeks")[2] == b'["2026-W21", "2026-W22"]'


def test_a_report(tmp_path):
    known = settings(tmp_path)
    archive.store(known, "week-2026-22.txt", "hello")
    assert server.answer(known, "/reports/week-2026-22.txt")[2] == b"hello"


def test_nothing_else_is_served(tmp_path):
    known = settings(tmp_path)
    archive.store(known, "secret.txt", "x")
    for path in ("/", "/reports/secret.txt", "/reports/../config/poolside.ini", "/reports/"):
        assert server.answer(known, path)[0] == 404


def test_over_http(tmp_path):
    with server.server(settings(tmp_path), port=0) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        with urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/health") as response:
            assert response.read() == b'{"status": "ok"}'
        running.shutdown()
