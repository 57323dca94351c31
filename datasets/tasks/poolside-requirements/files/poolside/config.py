"""Settings from config/poolside.ini."""

import configparser
from collections import namedtuple
from pathlib import Path

from poolside.errors import ConfigError

Config = namedtuple("Config", "data out host port recipient due_weekday due_time run_length keep_days")

# name of the setting -> section, type, smallest and largest value of a number
SETTINGS = {
    "data": ("paths", Path, None, None),
    "out": ("paths", Path, None, None),
    "host": ("server", str, None, None),
    "port": ("server", int, 1024, 65535),
    "recipient": ("office", str, None, None),
    "due_weekday": ("office", int, 1, 7),
    "due_time": ("office", str, None, None),
    "run_length": ("alarms", int, 1, 28),
    "keep_days": ("archive", int, 1, 4000),
}


def load(path="config/poolside.ini"):
    """The settings of a file; every one of them must be there, and no other."""
    parser = configparser.ConfigParser(interpolation=None)
    if not parser.read(path, encoding="utf-8"):
        raise ConfigError(f"there is no file {path}")
    known = {(section, name) for name, (section, _, _, _) in SETTINGS.items()}
    for section in parser.sections():
        for name in parser[section]:
            if (section, name) not in known:
                raise ConfigError(f"{path}: [{section}] {name} is not a setting")
    return Config(**{name: value(parser, path, name) for name in SETTINGS})


def value(parser, path, name):
    section, kind, low, high = SETTINGS[name]
    text = parser.get(section, name, fallback=None)
    if text is None:
        raise ConfigError(f"{path}: [{section}] {name} is missing")
    try:
        found = kind(text)
    except ValueError:
        raise ConfigError(f"{path}: [{section}] {name} is {text!r}, not a number") from None
    if low is not None and not low <= found <= high:
        raise ConfigError(f"{path}: [{section}] {name} is {found}, not from {low} to {high}")
    return found


def shown(config):
    return "".join(f"{name} = {getattr(config, name)}\n" for name in Config._fields)
