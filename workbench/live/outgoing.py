"""Messages as they are sent: in the host's format, its own objects where nothing was changed."""

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
    for place, run in groupby(messages, key=lambda message: places.get(message.id)):
        group = tuple(run)
        if place is None:
            outgoing += _new_messages(group, writer)
        elif _are_unchanged(group, path[place].messages):
            outgoing += _host_objects(path, place)
        else:
            for record in path[place].rewritten(group, writer.rewritten):
                outgoing.append(OutgoingMessage(record, at=place))
    return writer.finished(outgoing, path)


def _new_messages(messages: Sequence[Message], writer: HostFormat) -> list[OutgoingMessage]:
    outgoing: list[OutgoingMessage] = []
    for message in messages:
        if not is_empty(message):
            outgoing += map(OutgoingMessage, writer.new(message))
    return outgoing


def _are_unchanged(group: Sequence[Message], messages: Sequence[Message]) -> bool:
    """Whether these are all of the host's message, as they were read."""
    return [*map(id, group)] == [*map(id, messages)]


def _host_objects(path: Sequence[HostMessage], place: int) -> list[OutgoingMessage]:
    """The host's own objects of one message."""
    stop = place + 1
    outgoing: list[OutgoingMessage] = []
    start = stop - path[place].span
    for index in range(start, stop):
        host_object = path[index].object
        outgoing.append(OutgoingMessage(host_object, made=False, at=index))
    return outgoing
