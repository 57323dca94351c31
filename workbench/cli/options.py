"""Options of commands, made from the specifications: one option a field, with the field's description as its help."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from workbench.cli.output import complain
from workbench.experiment.spec import Spec
from workbench.models.settings import ModelSettings, local_weights
from workbench.models.summary_repair import CHOICES
from workbench.models.weights import weights

Paths: TypeAlias = Annotated[
    list[str] | None, typer.Argument(help="Recordings: files, folders or patterns. None: the bundled sessions.")
]
Run: TypeAlias = Annotated[Path, typer.Argument(help="Folder of a finished run.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Predict replays, tokens, requests and dollars. Ask nothing.")
]
Lenient: TypeAlias = Annotated[bool, typer.Option("--lenient", help="Skip damaged lines and say so.")]
NoReport: TypeAlias = Annotated[bool, typer.Option("--no-report", help="Write the tables without a report.")]

SHORT = {
    "strategies": "-s", "window": "-w", "model": "-m", "out": "-o", "jobs": "-j", "quiet": "-q", "reader": "-r",
}  # fmt: skip
PANEL = "Real models"
MODEL_OPTIONS: dict[str, tuple[Any, object, str]] = {
    "cache": (Path | None, None, "Folder with the answers of real models. None: the usual one."),
    "no_cache": (bool, False, "Ask everything again, and keep no answer."),
    "cache_only": (bool, False, "Ask nothing; take all answers from the cache."),
    "max_dollars": (float | None, None, "Stop before the run has spent more than this."),
    "concurrency": (int | None, None, "Calls at the same time, over all workers, at most."),
    "on_bad_summary": (str, "fallback", f"What happens to a useless summary: {', '.join(CHOICES)}."),
}
"""Type, default and help of each option that makes up `ModelSettings`."""

Command: TypeAlias = Callable[..., int]


def names(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def takes(kind: type[Spec], only: Collection[str] = (), **defaults: object) -> Callable[[Command], Command]:
    """A decorator: the parameter `spec` of a command becomes an option for each field of `kind`.

    Args:
        kind: its field `model_settings` becomes the options under which models are asked.
        only: the fields that become options; none named stand for all.
        **defaults: in the place of the fields' own.
    """
    chosen = {name: field for name, field in kind.fields().items() if not only or name in only}
    fields = {name: field for name, field in chosen.items() if name != "model_settings"}
    options = [
        _option(name, _kind(field.annotation), _text(defaults.get(name, field.get_default())), str(field.description))
        for name, field in fields.items()
    ]
    asks = "model_settings" in chosen

    def spec(given: dict[str, Any]) -> Spec:
        how = {"model_settings": model_settings(given)} if asks else {}
        return kind(**{name: given.pop(name) for name in fields}, **how)

    return lambda command: _expanded(command, "spec", [*options, *(_model_options() if asks else ())], spec)


def takes_model_settings(command: Command) -> Command:
    """A decorator: the parameter `model_settings` of a command becomes the options under which models are asked."""
    return _expanded(command, "model_settings", _model_options(), model_settings)


def _expanded(
    command: Command, name: str, options: Sequence[Parameter], make: Callable[[dict[str, Any]], object]
) -> Command:
    """The command with options in the place of one parameter, whose value is made of theirs."""
    own = signature(command, eval_str=True)
    kept = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own.parameters.values() if one.name != name]

    def expanded(**given: Any) -> int:  # noqa: ANN401 - whatever typer read
        return command(**{name: make(given)}, **given)

    expanded.__doc__, expanded.__name__, expanded.__annotations__ = command.__doc__, command.__name__, {}
    expanded.__signature__ = own.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]  # typer reads it
    return expanded


def model_settings(given: dict[str, Any]) -> ModelSettings:
    """What the options say; they are taken out of `given`."""
    found = {name: given.pop(name) for name in MODEL_OPTIONS}
    no_cache, max_dollars = found.pop("no_cache"), found.pop("max_dollars")
    return ModelSettings(use_cache=not no_cache, max_usd=max_dollars, **found)


def tell_terms(*models: object) -> None:
    """Show the terms under which weights on this machine are used."""
    for name in local_weights([one for one in models if isinstance(one, str) and one.startswith("local")]):
        found = weights(name)
        complain(f"{found.label}: {found.terms}")


def _model_options() -> list[Parameter]:
    return [_option(name, *one, panel=PANEL) for name, one in MODEL_OPTIONS.items()]


def _option(name: str, kind: Any, default: object, description: str, panel: str | None = None) -> Parameter:  # noqa: ANN401 - a type
    flags = [f"--{name.replace('_', '-')}", *([SHORT[name]] if name in SHORT else [])]
    option = typer.Option(*flags, help=description, rich_help_panel=panel)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _kind(annotation: object) -> Any:  # noqa: ANN401 - a type
    """The type that typer reads: lists and models are text, which the field splits and looks up."""
    leaves = _leaves(annotation)
    for one in (bool, Path, str, float, int):
        if one in leaves:
            found = str if one is float else one
            return found | None if type(None) in leaves else found
    return str


def _leaves(annotation: object) -> set[object]:
    inner = get_args(annotation)
    return set().union(*map(_leaves, inner)) if inner else {annotation}


def _text(default: object) -> object:
    return ",".join(map(str, default)) if isinstance(default, tuple) else default
