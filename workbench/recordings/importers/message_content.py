"""The parts of one message, as they are read."""

from collections import Counter
from dataclasses import dataclass, field

from workbench.engine.transcript.message import (
    AnswerBlock,
    Image,
    Json,
    SaidBlock,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from workbench.recordings.importers.reading_account import Unknown
from workbench.recordings.importers.values import strings


@dataclass(slots=True)
class Content:
    """The parts of one message: its blocks, the tool results in it, and the parts that are
    unknown.
    """

    blocks: list[AnswerBlock] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)

    @property
    def said(self) -> tuple[SaidBlock, ...]:
        """The words and pictures alone."""
        return tuple(block for block in self.blocks if isinstance(block, Text | Image))

    def add_unknown(self, kind: str, part: Json) -> None:
        """Add a part of a kind that is unknown, with its texts."""
        self.unknown.append(Unknown(kind, tuple(strings(part))))

    def said_by(self, role: str, unknown: Counter[str]) -> tuple[SaidBlock, ...]:
        """What one who is no model says; thoughts and calls, which only a model has, are counted
        as unknown.
        """
        for block in self.blocks:
            if isinstance(block, Thinking | ToolCall):
                unknown[f"{block.type} of a {role}"] += 1
        return self.said

    @property
    def texts(self) -> list[str]:
        """The texts alone."""
        return [block.text for block in self.blocks if isinstance(block, Text)]

    @property
    def words(self) -> str:
        """The texts, joined by newlines."""
        return "\n".join(self.texts)

    @property
    def first_text(self) -> str:
        """The first of the texts; empty where there is none."""
        return next(iter(self.texts), "")

    @property
    def calls(self) -> list[ToolCall]:
        """The calls alone."""
        return [block for block in self.blocks if isinstance(block, ToolCall)]
