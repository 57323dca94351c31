"""Events for the picking line and the shop, kept in memory and written by the CLI."""

import json

from stockroom import clock

_listeners = []


def listen(function):
    _listeners.append(function)
    return function


def forget(function):
    _listeners.remove(function)


def emit(db, kind, **fields):
    event = {"kind": kind, "at": clock.stamp(), **fields}
    for listener in list(_listeners):
        listener(event)
    return event


def to_line(event):
    return json.dumps(event, sort_keys=True)
