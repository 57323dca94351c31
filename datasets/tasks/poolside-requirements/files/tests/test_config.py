import pytest

from poolside import config
from poolside.errors import ConfigError

TEXT = open("config/poolside.ini", encoding="utf-8").read()


def loaded(folder, text):
    path = folder / "poolside.ini"
    path.write_text(text, "utf-8")
    return config.load(path)


def test_the_settings_that_we_ship():
    known = config.load()
    assert (known.port, known.due_weekday, known.due_time) == (8090, 5, "12:00")
    assert (known.run_length, known.keep_days) == (3, 90)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("port = 8090", "", "port is missing"),
        ("port = 8090", "port = http", "not a number"),
        ("port = 8090", "port = 80", "not from 1024 to 65535"),
        ("run_length = 3", "run_length = 3\nruns = 2", "runs is not a setting"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, old, new, words):
    with pytest.raises(ConfigError, match=words):
        loaded(tmp_path, TEXT.replace(old, new))


def test_every_setting_is_shown():
    assert config.shown(config.load()).count("\n") == len(config.Config._fields)
