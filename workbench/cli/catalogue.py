"""`workbench list`: what there is to choose from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from workbench.cli.options import AsJson
from workbench.cli.output import say, say_json, table
from workbench.compaction.presets import catalogue
from workbench.compaction.stages import BUILTIN as STAGES
from workbench.importers.importer import formats
from workbench.metrics.builtin import BUILTIN as METRICS
from workbench.registry import found


class What(StrEnum):
    """What can be listed."""

    strategies = "strategies"
    stages = "stages"
    metrics = "metrics"
    formats = "formats"
    models = "models"


def show(
    what: Annotated[What, typer.Argument(help="What to list.")],
    as_json: AsJson = False,
) -> int:
    """List the strategies, stages, metrics, formats or models that are known, installed ones included.

    Example:

      workbench list strategies
    """
    rows = {
        What.strategies: _strategies,
        What.stages: _stages,
        What.metrics: _metrics,
        What.formats: _formats,
        What.models: _models,
    }[what]()
    say_json(rows) if as_json else say(table(rows, left=list(rows[0]) if rows else []))
    return 0


def first_sentence(part: object) -> str:
    """The first line of a part's docstring."""
    text = (getattr(part, "__doc__", "") or "").strip()
    return text.splitlines()[0] if text else ""


def _strategies() -> list[dict[str, str]]:
    return [{"strategy": name, "what it does": words} for name, words in catalogue().items()]


def _stages() -> list[dict[str, str]]:
    return [{"stage": name, "what it does": first_sentence(part)} for name, part in found("stage", STAGES).items()]


def _metrics() -> list[dict[str, str]]:
    return [
        {"metric": name, "unit": metric.unit, "better": metric.better, "what it measures": first_sentence(metric)}
        for name, metric in found("metric", METRICS).items()
    ]


def _formats() -> list[dict[str, str]]:
    return [{"format": one.name, "what it is": one.description, "carries": ", ".join(one.carries)} for one in formats()]


def _models() -> list[dict[str, str]]:
    return [
        {"model": "extractive", "what it is": "No language model: picks lines of the messages themselves; offline."},
        {"model": "litellm:NAME", "what it is": "Any model that litellm reaches, by litellm's name for it."},
        {"model": "local", "what it is": "A small real model on this machine (extra `local`); also local:FILE.gguf."},
        {"model": "scripted:TEXT", "what it is": "Says this text whatever it is asked; for tests and examples."},
    ]
