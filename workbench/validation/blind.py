"""Whether strategies are blind: another future and other labels must not change what they send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.compaction.presets import preset
from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared, prepared
from workbench.models.extractive import Extractive
from workbench.models.model import Model
from workbench.replay.boundaries import at_shares
from workbench.replay.matched import matched
from workbench.transcript.log import Log, MessageEntry
from workbench.transcript.message import Message, Text, UserMessage
from workbench.validation.check import Check, check

SHARE = 0.2
STRATEGIES = ("truncate", "summarize", "pipeline")


def blindness(
    sessions: Sequence[Prepared], presets: Sequence[Preset] | None = None, model: Model | None = None
) -> Check:
    """The same history under another name and with another future is compacted to the same bytes."""
    tried, apart = 0, []
    for ready in sessions:
        at = at_shares(ready.session, (0.5,))
        for part in presets or map(preset, STRATEGIES) if at else ():
            tried += 1
            sent = set()
            for one in (ready, _relabelled(ready, at[0])):
                writer = one.reader(model or Extractive())  # as a replay asks it: it knows what the index has read
                replay = matched(one.session, part, writer, one.sizing, window=ready.window, at=at, shares=(SHARE,))
                sent.add(repr(replay.snapshots[0].context.messages))
            if len(sent) > 1:
                apart.append(f"{part.name} on {ready.session.id} at {at[0]}")
    return check(
        "blindness",
        "a strategy sends the same bytes whatever the session is called and whatever comes later",
        not apart if tried else None,
        f"{tried - len(apart)} of {tried} contexts are the same",
        apart,
    )


def _relabelled(ready: Prepared, at: int) -> Prepared:
    """The same history with every later message saying something else, under another name."""
    log = Log()
    for i, message in enumerate(ready.session.messages):
        new: Message = message
        if i >= at and message.role == "assistant":
            new = replace(message, blocks=(Text(f"another answer {i}"),), usage=None)
        elif i >= at:
            new = UserMessage(id=message.id, blocks=(Text(f"another wish {i}"),))
        log.append(MessageEntry(id=new.id, parent=log.leaf, message=new))
    known = replace(ready.session, id="relabelled", log=log, title="", project="relabelled")
    sizes = ready.sizing.sizes[:at] + tuple(ready.sizing.count(message) for message in known.messages[at:])
    return replace(prepared(known, ready.window), sizing=replace(ready.sizing, sizes=sizes))
