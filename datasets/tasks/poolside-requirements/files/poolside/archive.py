"""Reports in out/, and which of them are too old."""

import re
from datetime import timedelta

from poolside import weeks

NAMES = re.compile(r"(?:week|letter-[A-Z]{2})-(\d{4})-(\d{2})(?:-\d+)?\.(?:txt|csv)")


def store(config, name, content):
    """Writes a report; text is UTF-8."""
    config.out.mkdir(parents=True, exist_ok=True)
    path = config.out / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def stored(config):
    """The reports with their weeks, by name. Other files are none of our business."""
    found = []
    for path in sorted(config.out.glob("*")):
        match = NAMES.fullmatch(path.name)
        if match:
            found.append((path, weeks.Week(int(match[1]), int(match[2]))))
    return found


def old(config, today):
    """The reports of weeks that ended more than `keep_days` before today."""
    last = today - timedelta(days=config.keep_days)
    return [path for path, week in stored(config) if weeks.days(week)[-1] < last]


def prune(config, today):
    """Removes them and returns their paths."""
    found = old(config, today)
    for path in found:
        path.unlink()
    return found
