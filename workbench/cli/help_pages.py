"""What `--help` shows: commands under headings, and of many options those for every day.

A command with more than `MOST` options gets `--help-all`, which shows them all, and `--config`,
which reads any of them from a TOML file.
"""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

from workbench.base.errors import SettingError
from workbench.cli.commands import COMMON

MOST = 12
"""Options that `--help` shows of a command."""
EVERYDAY = (
    "strategies", "strategy", "agent", "families", "seeds", "reader", "grader", "judge", "window", "model", "writer",
    "baseline", "shares", "default", "worth", "candidates", "newest", "space", "exams", "questions", "readings",
    "session", "losses", "parameter", "grid", "out", "redact", "max-dollars", "dry-run", "json", "config",
    "help-all", "help",
)  # fmt: skip
"""Options that `--help` shows where a command has more, in this order."""
HELP_ALL, CONFIG = "help_all", "config"
ABOUT_OPTIONS = frozenset({"help", "help-all", CONFIG})
"""Options about options, which a file cannot set."""
EVERYTHING = "workbench.every_option"
"""Key in a context's `meta` that says that all options are to be shown."""
Context: TypeAlias = Any
"""A context, parameter or formatter of the click that typer uses, which is a copy of its own
from some version on.
"""
HelpRecord: TypeAlias = tuple[str, str]


class CommandGroup(TyperGroup):
    """A group whose help lists its commands under the headings of the table of commands."""

    def format_commands(self, ctx: Context, formatter: Context) -> None:
        """Write a section for each heading."""
        room = formatter.width - 6 - max(map(len, self.commands))
        sections = defaultdict[str, list[HelpRecord]](list)
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None)
            if not isinstance(heading, str):
                heading = COMMON
            sections[heading].append((name, command.get_short_help_str(room)))
        for heading, section in sections.items():
            with formatter.section(heading):
                formatter.write_dl(section)


@dataclass
class HelpSections:
    """The lines of a command's help, by section."""

    arguments: list[HelpRecord] = field(default_factory=list)
    everyday: list[HelpRecord] = field(default_factory=list)
    further: list[HelpRecord] = field(default_factory=list)


class CommandWithOptions(TyperCommand):
    """A command whose help shows the options for every day, and all of them where that is asked
    for.
    """

    def format_options(self, ctx: Context, formatter: Context) -> None:
        """Write the arguments, the options, and how many more there are."""
        sections = self._help_sections(ctx)
        shows_all = ctx.meta.get(EVERYTHING)
        options = list(sections.everyday)
        if shows_all:
            options += sections.further
        _write_section(formatter, "Arguments", sections.arguments)
        _write_section(formatter, "Options", options)
        if sections.further and not shows_all:
            formatter.write_paragraph()
            formatter.write_text(
                f"{len(sections.further)} more options: {ctx.command_path} --help-all"
            )

    def _help_sections(self, ctx: Context) -> HelpSections:
        parameters = self.get_params(ctx)
        is_long = any(parameter.name == HELP_ALL for parameter in parameters)
        if is_long:
            parameters = sorted(parameters, key=_rank)
        sections = HelpSections()
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                sections.arguments.append(record)
            elif is_long and long_name(parameter) not in EVERYDAY:
                sections.further.append(record)
            else:
                sections.everyday.append(record)
        return sections


def _write_section(formatter: Context, title: str, records: list[HelpRecord]) -> None:
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def _rank(parameter: Context) -> int:
    """The place of an option among those for every day; all others come behind them as they are."""
    name = long_name(parameter)
    return EVERYDAY.index(name) if name in EVERYDAY else len(EVERYDAY)


def long_name(option: Context) -> str:
    """The name of an option without its dashes, such as `dry-run`."""
    longest: str = max(option.opts, key=len)
    return longest.lstrip("-")


def with_further_options(command: Callable[..., int]) -> Callable[..., int]:
    """The command with `--help-all` and `--config`, where it has more than `MOST` options."""
    parameters = signature(command, eval_str=True).parameters
    if sum(map(_is_option, parameters.values())) <= MOST:
        return command

    def complete(**values: Any) -> int:  # noqa: ANN401 - whatever typer read
        del values[HELP_ALL], values[CONFIG]
        return command(**values)

    extended = []
    for parameter in parameters.values():
        extended.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
    extended += [
        Parameter(CONFIG, Parameter.KEYWORD_ONLY, default=None, annotation=ConfigFile),
        Parameter(HELP_ALL, Parameter.KEYWORD_ONLY, default=False, annotation=HelpForAll),
    ]
    complete.__doc__, complete.__name__ = command.__doc__, command.__name__
    complete.__annotations__ = {}
    complete.__signature__ = signature(command).replace(parameters=extended)  # type: ignore[attr-defined]
    return complete


def _is_option(parameter: Parameter) -> bool:
    metadata = getattr(parameter.annotation, "__metadata__", ())
    return not any(isinstance(entry, type(typer.Argument())) for entry in metadata)


def _show_everything(ctx: typer.Context, is_wanted: bool) -> None:
    if is_wanted:
        ctx.meta[EVERYTHING] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def _read_config(ctx: typer.Context, file: Path | None) -> Path | None:
    """Take the values of a TOML file as defaults of the options."""
    if file is not None:
        ctx.default_map = {**(ctx.default_map or {}), **_values_of(file, ctx)}
    return file


def _values_of(file: Path, ctx: Context) -> Mapping[str, object]:
    """The values of a TOML file by the name of the parameter that each is for."""
    parameters = {}
    for parameter in ctx.command.params:
        name = long_name(parameter)
        if name not in ABOUT_OPTIONS:
            parameters[name.replace("-", "_")] = parameter
    values = {}
    for name, value in _document(file).items():
        parameter = parameters.get(name.replace("-", "_"))
        if parameter is None:
            raise SettingError(
                f"{file}: `{ctx.command_path}` has no option {name!r};"
                f" {_accepted(name, parameters)}"
            )
        takes_several = getattr(parameter, "multiple", False) or parameter.nargs != 1
        if isinstance(value, list) and not takes_several:
            value = ",".join(map(str, value))
        values[parameter.name] = value
    return values


def _accepted(name: str, parameters: Mapping[str, Context]) -> str:
    """The option that somebody may have meant, else all of them."""
    near = get_close_matches(name.replace("-", "_"), parameters, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"it has {', '.join(sorted(parameters))}"


def _document(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"there is no file {file}") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{file} cannot be read: {error}") from None


HelpForAll: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--help-all", help="Show all options and exit.", callback=_show_everything, is_eager=True
    ),
]
ConfigFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Read options from a TOML file, each by its long name; the command line wins.",
        callback=_read_config,
        is_eager=True,
    ),
]
