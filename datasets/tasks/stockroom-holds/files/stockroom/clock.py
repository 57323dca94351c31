"""Now, in UTC, as text that sorts; tests set it."""

from datetime import datetime, timedelta, timezone

_fixed = None


def now():
    return _fixed or datetime.now(timezone.utc)


def stamp(moment=None):
    return (moment or now()).strftime("%Y-%m-%dT%H:%M:%S")


def after(minutes, start=None):
    return (start or now()) + timedelta(minutes=minutes)


def set_now(text):
    """For tests: the clock stands still at this time, or runs again with None."""
    global _fixed
    _fixed = None if text is None else datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
