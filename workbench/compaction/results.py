"""Tool results that keep their place and say less, which is what most cheap stages do; and the words in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from operator import itemgetter

from workbench.compaction.clip import byte_length
from workbench.compaction.plan import Plan, Replace
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Text, plain_text

REPEATED = "(repeat)"
EXCERPT = "[microcompact excerpt]"
SNIPPED = "<snipped: stale tool-result for call {}>"
_TRUNCATED = re.compile(r"\[truncated; full=\d+ chars; ref=([0-9a-f]+)\]")


def reference(text: str) -> str:
    """The name under which a text is archived: the same text has the same name, always."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def truncated(chars: int, ref: str) -> str:
    """In the place of a text of `chars` characters that the archive holds under `ref`."""
    return f"[truncated; full={chars} chars; ref={ref}]"


def is_archived(message: Message, archive: Mapping[str, str]) -> bool:
    """Whether the message is a marker whose full text the archive holds."""
    if not archive:
        return False
    text = plain_text(message)
    found = _TRUNCATED.fullmatch(text) if text.startswith("[") else None
    return found is not None and found.group(1) in archive


def rewritten(
    context: Context,
    texts: Iterable[tuple[int, str] | tuple[int, str, str]],
    *,
    pictures: bool = False,
    by_bytes: bool = False,
) -> Plan | None:
    """Puts each text in the place of a tool result that is not pinned and becomes smaller by it; None without effect.

    Args:
        context: with the results.
        texts: what each says from now on, behind its index, and the reference under which its full text moves to the
            archive where it does; in any order.
        pictures: whether pictures stay.
        by_bytes: whether fewer bytes are enough to be smaller where the tokens are as many.
    """
    edits, archive = [], {}
    for i, text, *ref in sorted(texts, key=itemgetter(0)):
        message = context.messages[i]
        if message.role != "tool" or message.pinned:
            continue
        shown = [block for block in message.blocks if block.type == "image"] if pictures else ()
        blocks = (Text(text), *shown)
        if blocks == message.blocks:
            continue
        short = replace(message, blocks=blocks)
        size = context.count(short)
        more = size - context.sizes[i]
        if more < 0 or (by_bytes and more == 0 and byte_length(text) < byte_length(plain_text(message))):
            edits.append(Replace(i, i + 1, (short,), size))
            if ref:
                archive[ref[0]] = plain_text(message)
    return Plan(tuple(edits), archive) if edits else None
