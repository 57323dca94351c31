"""A compacted context in the host's own shape: what was kept whole is the host's own message, the rest is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from workbench.live.formats.shape import HostMessage, OutgoingMessage
from workbench.live.formats.table import FORMATS, MessageFormat
from workbench.transcript.message import Message, is_empty


def write_messages(
    messages: Sequence[Message], path: Sequence[HostMessage], place: Mapping[str, int], format: MessageFormat
) -> list[OutgoingMessage]:
    """The messages in the host's format; new ones in `format`.

    `place` has, by the id of each of our messages, the index in `path` of the host's entry that it came in.
    """
    writer = FORMATS[format]
    shown: list[OutgoingMessage] = []
    for at, run in groupby(messages, key=lambda message: place.get(message.id)):
        group = tuple(run)
        if at is None:
            shown += [OutgoingMessage(new) for one in group if not is_empty(one) for new in writer.new(one)]
        elif [*map(id, group)] == [*map(id, path[at].messages)]:
            own = range(at + 1 - path[at].span, at + 1)
            shown += [OutgoingMessage(path[i].object, made=False, at=i) for i in own]
        else:
            shown += [OutgoingMessage(record, at=at) for record in writer.rewritten(group, path[at])]
    return writer.finished(shown, path)
