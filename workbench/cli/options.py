"""Options of commands, made from the specifications: one option a field, with the field's
description as its help.
"""

from collections.abc import Callable, Collection, Sequence
from glob import has_magic
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer
from pydantic import Field
from pydantic.fields import FieldInfo

from workbench.base.errors import MissingPath, SettingError, Unanswered
from workbench.base.formats import some
from workbench.base.remote import address_of, name_of
from workbench.cli.foresee import FOLDER
from workbench.cli.output import PENDING, complain
from workbench.engine.models import find_model
from workbench.engine.models.folder import Folder
from workbench.engine.models.folder_requests import waiting
from workbench.engine.models.settings import ModelSettings, local_weights
from workbench.engine.models.summary_quality import CHOICES
from workbench.engine.models.weights import weights
from workbench.evaluation.experiment.checked_spec import Spec
from workbench.evaluation.experiment.spec_fields import Flag, Whole
from workbench.recordings.importers.importer import STDIN
from workbench.recordings.importers.importer import files as recording_files


def existing(path: str) -> str:
    """The path of a recording; a pattern and standard input stay as they are, and an address is
    looked up when it is read.

    Raises:
        MissingPath: there is no such file or folder.
    """
    name = name_of(path)
    is_looked_up = path == STDIN or has_magic(name) or address_of(name)
    if not is_looked_up and not Path(name).exists():
        raise MissingPath(path)
    return name


def _all_existing(paths: list[str] | None) -> list[str] | None:
    for path in paths or ():
        existing(path)
    return paths


def written_last(paths: Sequence[str], count: int | None) -> Sequence[str]:
    """The files behind these names that were written last.

    Args:
        paths: files, folders or patterns on this machine.
        count: how many at most; None: the names as they are.

    Raises:
        SettingError: a file has no time, such as one at an address.
        FormatError: a pattern matches nothing.
    """
    if count is None:
        return paths
    times: dict[str, float] = {}
    for file in recording_files(paths):
        try:
            times[file] = Path(file).stat().st_mtime
        except OSError:
            raise SettingError(
                f"--newest takes files of this machine, which {file} is not"
            ) from None
    return sorted(times, key=times.__getitem__, reverse=True)[:count]


Paths: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        help="Recordings: files, folders or patterns. None: the bundled sessions.",
        callback=_all_existing,
    ),
]
NamedPaths: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        help="Recordings: files, folders or patterns; `-` reads standard input.",
        callback=_all_existing,
    ),
]
NamedPath: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A recording; see --session where it holds several sessions.", callback=existing
    ),
]
Newest: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--newest",
        min=1,
        help="Read at most this many of the files: those that were written last.",
    ),
]
Run: TypeAlias = Annotated[Path, typer.Argument(help="Folder of a finished run.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]
DryRun: TypeAlias = Annotated[
    bool,
    typer.Option("--dry-run", help="Predict replays, tokens, requests and dollars. Ask nothing."),
]
Lenient: TypeAlias = Annotated[
    bool, typer.Option("--lenient", help="Read what is intact of damaged files.")
]
NoReport: TypeAlias = Annotated[
    bool, typer.Option("--no-report", help="Write the tables without a report.")
]

SHORT = {
    "baseline": "-b", "strategies": "-s", "window": "-w", "model": "-m", "out": "-o", "jobs": "-j", "quiet": "-q",
    "reader": "-r",
}  # fmt: skip


class ModelOptions(Spec):
    """The options under which models are asked; on the command line they are the fields of
    `ModelSettings`.
    """

    cache: Path | None = Field(
        None, description="Folder with the answers of real models. None: the usual one."
    )
    no_cache: Flag = Field(False, description="Ask everything again, and keep no answer.")
    cache_only: Flag = Field(False, description="Ask nothing; take all answers from the cache.")
    max_dollars: float | None = Field(
        None, description="Stop before the run has spent more than this."
    )
    concurrency: Whole | None = Field(
        None, description="Calls at the same time, over all workers, at most."
    )
    on_bad_summary: str = Field(
        "fallback", description=f"What happens to a useless summary: {', '.join(CHOICES)}."
    )

    def settings(self) -> ModelSettings:
        """What they say."""
        return ModelSettings(
            use_cache=not self.no_cache,
            cache=self.cache,
            cache_only=self.cache_only,
            max_usd=self.max_dollars,
            concurrency=self.concurrency,
            on_bad_summary=self.on_bad_summary,  # type: ignore[arg-type]  # it checks the word
        )


Command: TypeAlias = Callable[..., int]


ONLY_IN_PYTHON = ("metrics",)
"""Fields of specifications that no text can give."""


def takes(
    kind: type[Spec], only: Collection[str] = (), **defaults: object
) -> Callable[[Command], Command]:
    """A decorator: the parameter `spec` of a command becomes an option for each field of `kind`.

    Args:
        kind: its field `model_settings` becomes the `ModelOptions`.
        only: the fields that become options; none: all.
        **defaults: replace the fields' own.
    """
    fields = kind.fields()
    for name in ONLY_IN_PYTHON:
        fields.pop(name, None)
    if only:
        fields = {name: field for name, field in fields.items() if name in only}
    models = ModelOptions.fields() if fields.pop("model_settings", None) else {}
    options = []
    for name, field in (fields | models).items():
        options.append(_option(name, field, defaults.get(name, field.get_default())))

    def decorate(command: Command) -> Command:
        command_signature = signature(command, eval_str=True)
        parameters = []
        for parameter in command_signature.parameters.values():
            if parameter.name != "spec":
                parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

        def expanded(**values: Any) -> int:  # noqa: ANN401 - whatever typer read
            spec_values = {name: values.pop(name) for name in fields}
            if models:
                model_values = {name: values.pop(name) for name in models}
                spec_values["model_settings"] = ModelOptions(**model_values).settings()
            spec = kind(**spec_values)
            try:
                code = command(spec=spec, **values)
            except Unanswered:
                tell_waiting(*dict(spec).values(), *values.values())
                raise
            if code == PENDING:
                tell_waiting(*dict(spec).values(), *values.values())
            return code

        expanded.__doc__, expanded.__name__ = command.__doc__, command.__name__
        expanded.__annotations__ = {}
        seen_by_typer = command_signature.replace(parameters=[*parameters, *options])
        expanded.__signature__ = seen_by_typer  # type: ignore[attr-defined]
        return expanded

    return decorate


def tell_terms(*models: object) -> None:
    """Show the terms under which weights on this machine are used."""
    names = [model for model in models if isinstance(model, str) and model.startswith("local")]
    for name in local_weights(names):
        model_weights = weights(name)
        complain(f"{model_weights.label}: {model_weights.terms}")


def tell_waiting(*values: object) -> None:
    """Say how many requests wait in the folders that are among the values of a command's
    options.
    """
    folders: list[str] = []
    for value in values:
        names = value if isinstance(value, tuple) else (value,)
        for name in names:
            if isinstance(name, str) and name.startswith(FOLDER) and name not in folders:
                folders.append(name)
    for name in folders:
        model = find_model(name)
        if isinstance(model, Folder):
            _tell_waiting_in(model.path)


def _tell_waiting_in(folder: Path) -> None:
    count = waiting(folder)
    if count:
        complain(f"{some(count, 'request waits', 'requests wait')} in {folder}")


def _option(name: str, field: FieldInfo, default: object) -> Parameter:
    """The option for a field, as a parameter that typer reads."""
    flags = [f"--{name.replace('_', '-')}"]
    if name in SHORT:
        flags.append(SHORT[name])
    kind: Any = Annotated[_kind(field.annotation), typer.Option(*flags, help=field.description)]
    if field.is_required():
        default = Parameter.empty
    elif isinstance(default, tuple):
        default = ",".join(map(str, default))
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _kind(annotation: object) -> Any:  # noqa: ANN401 - a type
    """The type that typer reads: lists and models are text, which the field splits and looks up."""
    leaves = _leaves(annotation)
    for leaf in (bool, Path, str, float, int):
        if leaf in leaves:
            kind = str if ... in leaves else leaf
            return kind | None if type(None) in leaves else kind
    return str


def _leaves(annotation: object) -> set[object]:
    """The types that an annotation is made of, such as `int` and `None` of `int | None`."""
    parts = get_args(annotation)
    if not parts:
        return {annotation}
    leaves = set[object]()
    for part in parts:
        leaves |= _leaves(part)
    return leaves
