from kiln import spool


def test_a_key_is_kiln_and_start():
    assert spool.key({"kiln": "B04", "started": "2026-05-09T11:00"}) == "B04-2026-05-09T11:00"
