from meterly import server


def test_lines_are_accepted():
    store = []
    assert server.accept('{"meter": "H1", "at": "2026-03-01T00:00:00", "kwh": "1.5"}\n', store) == (200, {"accepted": 1})
    assert store[0].kwh == 1.5


def test_a_bad_line_is_named():
    status, answer = server.accept('{"meter": "H1", "at": "2026-03-01T00:00:00", "kwh": "1.5"}\n{"meter": "H1"}\n', [])
    assert (status, answer["line"], answer["accepted"]) == (400, 2, 1)
