"""Takes pictures, sounds and documents out of a context, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeGuard

from workbench.compaction.plan import Budget, Plan, Replace
from workbench.transcript.context import Context
from workbench.transcript.message import AnswerBlock, Image, Message, Text

LEFT_OUT = "[{} left out: the request was too large]"
"""What stands in the place of a picture, with its media type."""


@dataclass(frozen=True, slots=True)
class StripMedia:
    """Puts a marker in the place of the oldest pictures, sounds and documents until few and small enough are left.

    Those in pinned messages stay.

    Attributes:
        images: the most pictures that may be left; None for any number.
        bytes: the most bytes that all of them may have as base64 text; None for any number.
    """

    images: int | None = None
    bytes: int | None = None
    name: ClassVar[str] = "strip_media"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """Replace the oldest; None where enough room is left."""
        media = [(i, block) for i, message in enumerate(context.messages) for block in media_of(message)]
        images, size = sum(map(is_picture, (one for _, one in media))), sum(sent_bytes(one) for _, one in media)
        gone: dict[int, set[int]] = {}
        for i, block in media:
            few = self.images is None or images <= self.images
            small = self.bytes is None or size <= self.bytes
            if few and small:
                break
            if context.messages[i].pinned or (small and not is_picture(block)):
                continue
            gone.setdefault(i, set()).add(id(block))
            images, size = images - is_picture(block), size - sent_bytes(block)
        edits = [Replace(i, i + 1, (_without(context.messages[i], blocks),)) for i, blocks in gone.items()]
        return Plan(tuple(edits)) if edits else None


def media_of(message: Message) -> Iterator[Image]:
    """The pictures, sounds and documents of a message; not what only its provider understands."""
    return (block for block in message.blocks if _is_media(block))


def is_picture(block: Image) -> bool:
    """Whether it counts against a provider's limit of pictures."""
    return block.media_type.startswith("image/")


def sent_bytes(block: Image) -> int:
    """The length of its base64 text."""
    return -(-block.bytes // 3) * 4


def _is_media(block: AnswerBlock) -> TypeGuard[Image]:
    return block.type == "image" and "/" in block.media_type


def _without(message: Message, gone: set[int]) -> Message:
    blocks = tuple(
        Text(LEFT_OUT.format(block.media_type)) if _is_media(block) and id(block) in gone else block
        for block in message.blocks
    )
    return replace(message, blocks=blocks)  # type: ignore[arg-type]  # a summary has no pictures
