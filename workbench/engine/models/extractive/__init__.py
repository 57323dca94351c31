"""The rule-based writer: a summary made of the conversation's own lines."""

from workbench.engine.models.extractive.writer import Extractive

__all__ = ["Extractive"]
