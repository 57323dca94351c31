"""`workbench list`: what there is to choose from."""

from inspect import getdoc
from typing import Annotated, Literal, TypeAlias

import typer

from workbench.base.errors import SettingError
from workbench.base.markup import first_paragraph
from workbench.base.registry import found
from workbench.cli.options import AsJson
from workbench.cli.output import say, say_json, table
from workbench.engine.compaction.presets import catalogue, preset
from workbench.engine.compaction.setting_text import accepted, shown_value
from workbench.engine.compaction.settings import settings, short_names
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.evaluation.experiment.columns import table_text, table_texts
from workbench.evaluation.metrics.builtin import BUILTIN as METRICS
from workbench.recordings.importers.importer import formats

MODELS = {
    "bundled": (
        "A real model's summaries of the bundled sessions; `extractive` writes those that are not"
        " there."
    ),
    "command:LINE": "A program, such as `command:claude -p`: reads the prompt, writes the answer.",
    "extractive": "No language model: picks lines of the messages themselves; offline.",
    "folder:PATH": (
        "Requests are written to files; answers are files that anybody writes beside them."
    ),
    "litellm:NAME": "Any model that litellm reaches, by litellm's name for it.",
    "local": "A small real model on this machine (extra `local`); also local:FILE.gguf.",
    "scripted:TEXT": "Says this text whatever it is asked; for tests and examples.",
}
What: TypeAlias = Literal["strategies", "stages", "metrics", "formats", "models", "columns"]


def show(
    what: Annotated[What, typer.Argument(help="What to list.")],
    name: Annotated[
        str,
        typer.Argument(help="A strategy, to list its settings; or a table, to list its columns."),
    ] = "",
    as_json: AsJson = False,
) -> int:
    """List the strategies, stages, metrics, formats or models that are known, or the columns of a
    run's tables.

    Behind `strategies` the name of one lists its settings. The end of a setting's name will do
    where it names one thing: `--strategies claude_code:result_chars=2000`. Behind `columns` the
    name of a table lists its columns.

    Examples:

      workbench list strategies

      workbench list strategies claude_code

      workbench list columns losses
    """
    if name and what == "columns":
        return _show_columns(name, as_json=as_json)
    if name and what != "strategies":
        raise SettingError(f"{what} have no settings; write `workbench list strategies {name}`")
    rows = _settings(name) if name else _rows(what)
    if as_json:
        say_json(rows)
    else:
        say(table(rows))
    return 0


def _show_columns(name: str, *, as_json: bool) -> int:
    """Print what the columns of a table mean."""
    description = table_text(name)
    if as_json:
        say_json({"table": name, "columns": description.text})
    else:
        say(description.text)
    return 0


def _settings(strategy: str) -> list[dict[str, str]]:
    """The settings of a strategy by the names that are enough, the documented ones first."""
    part = preset(strategy)
    names = short_names(part)
    rows: dict[str, dict[str, str]] = {}
    for path, setting in settings(part).items():
        name, words = names[path], accepted(setting)
        if words and name not in rows:
            rows[name] = {
                "setting": name,
                "value": shown_value(setting),
                "may be": words,
                "what it is": setting.meaning,
            }
    return list(rows.values())


def _rows(what: What) -> list[dict[str, str]]:
    """A row for each thing of a kind."""
    rows = []
    if what == "strategies":
        for name, words in catalogue().items():
            rows.append({"strategy": name, "what it does": words})
    elif what == "stages":
        for name, stage in found("stage", STAGES).items():
            rows.append({"stage": name, "what it does": _summary(stage)})
    elif what == "metrics":
        for name, metric in found("metric", METRICS).items():
            row = {
                "metric": name,
                "unit": metric.unit,
                "better": metric.better,
                "what it measures": _summary(metric.score) or _summary(metric),
            }
            rows.append(row)
    elif what == "formats":
        for importer in formats():
            carries = ", ".join(importer.carries)
            row = {
                "format": importer.name,
                "what it is": importer.description,
                "carries": carries,
            }
            rows.append(row)
    elif what == "columns":
        for name, description in table_texts().items():
            rows.append({"table": name, "a row is": description.row})
    else:
        for name, words in MODELS.items():
            rows.append({"model": name, "what it is": words})
    return rows


def _summary(part: object) -> str:
    return first_paragraph(getdoc(part))
