"""Keeps a request within the number of pictures and the bytes that its API takes: the oldest go."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeGuard

from workbench.engine.compaction.engine import compact
from workbench.engine.compaction.plan import Budget, Plan, Replace
from workbench.engine.models.provider_errors import Diagnosis
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import AnswerBlock, Image, Message, Text, counted_text
from workbench.live.events import ImagesLeftOut
from workbench.live.formats.table import LIMITS, RequestLimits
from workbench.live.hooks import is_cancelled
from workbench.live.meter import NoModel
from workbench.live.runner import Runner

LEFT_OUT = "[{} left out: the request was too large]"
"""What stands in the place of a picture, with its media type."""
ENVELOPE = 120
"""Bytes that the JSON around a message has: its role, its type, its ids."""

_encoded = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class StripMedia:
    """Puts a marker in the place of the oldest pictures, sounds and documents until few and small
    enough are left.

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
        media: list[tuple[int, Image]] = []
        image_count = 0
        byte_count = 0
        for index, message in enumerate(context.messages):
            for block in media_of(message):
                media.append((index, block))
                image_count += is_picture(block)
                byte_count += sent_bytes(block)
        dropped: defaultdict[int, set[int]] = defaultdict(set)
        for index, block in media:
            are_few = self.images is None or image_count <= self.images
            are_small = self.bytes is None or byte_count <= self.bytes
            if are_few and are_small:
                break
            is_of_no_use = are_small and not is_picture(block)
            if is_of_no_use or context.messages[index].pinned:
                continue
            dropped[index].add(id(block))
            image_count -= is_picture(block)
            byte_count -= sent_bytes(block)
        if not dropped:
            return None
        edits: list[Replace] = []
        for index, blocks in dropped.items():
            stripped = _without(context.messages[index], blocks)
            edit = Replace(index, index + 1, (stripped,))
            edits.append(edit)
        return Plan(tuple(edits))


def media_of(message: Message) -> Iterator[Image]:
    """The pictures, sounds and documents of a message; not what only its provider understands."""
    for block in message.blocks:
        if _is_media(block):
            yield block


def is_picture(block: Image) -> bool:
    """Whether it counts against a provider's limit of pictures."""
    return block.media_type.startswith("image/")


def sent_bytes(block: Image) -> int:
    """The length of its base64 text."""
    return -(-block.bytes // 3) * 4


def _is_media(block: AnswerBlock) -> TypeGuard[Image]:
    return block.type == "image" and "/" in block.media_type


def _without(message: Message, dropped_blocks: set[int]) -> Message:
    blocks: list[AnswerBlock] = []
    for block in message.blocks:
        if _is_media(block) and id(block) in dropped_blocks:
            marker = LEFT_OUT.format(block.media_type)
            blocks.append(Text(marker))
        else:
            blocks.append(block)
    return replace(message, blocks=tuple(blocks))  # type: ignore[arg-type]  # a summary has no pictures


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes of a request as JSON, those of them that are media, and the number of pictures."""

    bytes: int = 0
    media: int = 0
    images: int = 0

    def __add__(self, weight: Weight) -> Weight:
        return Weight(
            bytes=self.bytes + weight.bytes,
            media=self.media + weight.media,
            images=self.images + weight.images,
        )


class MediaBudget:
    """Weighs what would be sent, and takes the oldest pictures out where it is too much.

    Then half of the limit is left, so that not every further picture changes what a provider has in
    its cache.
    """

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.memory = runner.memory
        # so many messages of this version
        self._version = -1
        self._weighed = 0
        self._weight = Weight()
        self._each: dict[int, tuple[Message, Weight]] = {}  # of the messages in it, by identity

    @property
    def limits(self) -> RequestLimits:
        """What the host set, or what the API of the messages takes."""
        settings = self.runner.gauge.settings
        limits = LIMITS[self.memory.reader.present_format]
        images = settings.most_images
        bytes = settings.most_bytes
        if images is None:
            images = limits.images
        if bytes is None:
            bytes = limits.bytes
        return RequestLimits(images, bytes)

    @property
    def weight(self) -> Weight:
        """Of the request that would be sent now; only what is new is weighed."""
        messages = self.memory.state.sent.messages
        version = self.memory.version
        earlier_weights = self._each
        if self._version != version or self._weighed > len(messages):
            self._version = version
            self._weighed = 0
            self._weight = Weight()
            self._each = {}
        for message in messages[self._weighed :]:
            weighed = earlier_weights.get(id(message))
            if weighed is None:
                weighed = (message, _weigh(message))
            self._each[id(message)] = weighed
            _, message_weight = weighed
            self._weight += message_weight
        self._weighed = len(messages)
        return self._weight

    def fit(self) -> None:
        """Take the oldest pictures out if there are too many, or too many bytes."""
        weight = self.weight
        limits = self.limits
        most_images = None
        most_bytes = None
        if weight.images > limits.images:
            most_images = limits.images // 2
        if weight.bytes > limits.bytes:
            bytes_of_text = weight.bytes - weight.media
            most_bytes = max(limits.bytes // 2 - bytes_of_text, 0)
        self._strip(most_images, most_bytes)

    def lighten(self, diagnosis: Diagnosis) -> bool:
        """Take media out after a request was refused, half of them or, where one of them is at
        fault, all.

        Returns:
            Whether anything was taken out.
        """
        share = self.weight.images + 1
        if diagnosis.kind == "bytes" or "many" in diagnosis.text:
            share = 2
        weight = self.weight
        return self._strip(weight.images // share, weight.media // share)

    def _strip(self, images: int | None, bytes: int | None) -> bool:
        weight_before = self.weight
        memory = self.memory
        gauge = self.runner.gauge
        is_limited = images is not None or bytes is not None
        has_media = weight_before.media or weight_before.images
        if not is_limited or not has_media or is_cancelled():
            return False
        budget = Budget(target=gauge.tokens, window=gauge.window, reason="images", force=True)
        stage = StripMedia(images, bytes)
        strategy = replace(gauge.preset.strategy, stages=(stage,))
        no_model = NoModel(gauge.preset.name)
        with self.runner.lock:
            history = memory.state.kept.closed()
            compaction = compact(history, strategy, budget, no_model)
            if not compaction.stages:
                return False
            objection = memory.take(compaction, memory.state.heard, memory.version)
            if objection:
                return False
            weight_after = self.weight
            left_out = ImagesLeftOut(
                weight_before.images - weight_after.images,
                weight_before.bytes,
                weight_after.bytes,
            )
            self.runner.tell(left_out)
            return True


def _weigh(message: Message) -> Weight:
    media = list(media_of(message))
    placeholders = 0
    for block in message.blocks:
        if block.type == "image" and block not in media:
            placeholders += block.bytes
    size = sum(map(sent_bytes, media))
    encoded_text = _encoded(counted_text(message))
    text_bytes = encoded_text.encode("utf-8", "surrogatepass")
    return Weight(
        bytes=len(text_bytes) + placeholders + size + ENVELOPE,
        media=size,
        images=sum(map(is_picture, media)),
    )
