"""Messages as they are sent: in the host's format, its own objects where nothing was changed."""

import operator
from collections.abc import Mapping, Sequence
from itertools import groupby

from workbench.engine.transcript.message import Message, is_empty
from workbench.live.formats.shape import HostFormat, HostMessage, OutgoingMessage
from workbench.live.formats.table import FORMATS, MessageFormat


def places_of(path: Sequence[HostMessage]) -> dict[str, int]:
    """By the id of each of our messages, the index in the path of the host's that it came in."""
    places: dict[str, int] = {}
    for place, host_message in enumerate(path):
        for message in host_message.messages:
            places[message.id] = place
    return places


def write_messages(
    messages: Sequence[Message],
    path: Sequence[HostMessage],
    places: Mapping[str, int],
    format: MessageFormat,
) -> list[OutgoingMessage]:
    """The messages in the host's format.

    Args:
        messages: of a context.
        path: the host's messages.
        places: by the id of each message the index in `path` of the host's that it came in.
        format: of new ones.
    """
    writer = FORMATS[format]
    outgoing: list[OutgoingMessage] = []

    def place_of(message: Message) -> int | None:
        return places.get(message.id)

    for place, run in groupby(messages, key=place_of):
        group = tuple(run)
        if place is None:
            outgoing += _new_messages(group, writer)
            continue
        host_message = path[place]
        if _are_unchanged(group, host_message.messages):
            outgoing += _host_objects(path, place)
            continue
        for record in host_message.rewritten(group, writer.rewritten):
            rewritten = OutgoingMessage(record, at=place)
            outgoing.append(rewritten)
    return writer.finished(outgoing, path)


def _new_messages(messages: Sequence[Message], writer: HostFormat) -> list[OutgoingMessage]:
    outgoing: list[OutgoingMessage] = []
    for message in messages:
        if not is_empty(message):
            records = writer.new(message)
            outgoing += map(OutgoingMessage, records)
    return outgoing


def _are_unchanged(group: Sequence[Message], messages: Sequence[Message]) -> bool:
    """Whether these are all of the host's message, as they were read."""
    if len(group) != len(messages):
        return False
    return all(map(operator.is_, group, messages))


def _host_objects(path: Sequence[HostMessage], place: int) -> list[OutgoingMessage]:
    """The host's own objects of one message."""
    stop = place + 1
    outgoing: list[OutgoingMessage] = []
    start = stop - path[place].span
    for index in range(start, stop):
        host_object = path[index].object
        unchanged = OutgoingMessage(host_object, made=False, at=index)
        outgoing.append(unchanged)
    return outgoing
