"""The pages of docs/reference that the package itself knows: commands, also as a manual page, formats,
tables with their columns, errors.

`python docs/reference.py` writes them; with `--check` it names those that are stale and exits with
1.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc, getdoc, isclass
from pathlib import Path
from typing import Any

from typer.main import get_command

import workbench as wb
from workbench.cli.app import ABOUT, commands
from workbench.cli.commands import COMMANDS, GROUPS, Command
from workbench.cli.help_pages import ABOUT_OPTIONS, long_name
from workbench.evaluation.experiment.columns import SOURCE
from workbench.recordings.importers.importer import formats

FOLDER = Path(__file__).parent / "reference"
FEATURES = (
    "calls",
    "thinking",
    "images",
    "usage",
    "times",
    "model",
    "system",
    "tree",
    "compactions",
)
"""What a format may carry, in the order of the columns."""


def formats_page() -> str:
    """The formats, and what each carries."""
    return "\n".join(_format_lines()) + "\n"


def _format_lines() -> Iterator[str]:
    yield "# Formats"
    yield ""
    yield (
        "Formats are recognised by content, never by name. `workbench list formats` prints this"
        " list."
    )
    yield ""
    yield f"| format | what it is | {' | '.join(FEATURES)} |"
    yield "|---" * (len(FEATURES) + 2) + "|"
    for importer in formats():
        cells = ["yes" if feature in importer.carries else "" for feature in FEATURES]
        yield f"| `{importer.name}` | {importer.description} | {' | '.join(cells)} |"


def tables_page() -> str:
    """The tables of a run and their columns."""
    return SOURCE.read_text(encoding="utf-8")


def commands_page() -> str:
    """Every command with its options."""
    return "\n".join(_command_lines()) + "\n"


def _command_lines() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield (
        "`workbench COMMAND --help` shows the options for every day, `--help-all` all of them."
        " `--config FILE` reads"
    )
    yield (
        "options from a TOML file, each by its long name, such as `max-dollars = 2`; the command"
        " line wins."
    )
    panels = dict.fromkeys(entry.panel for entry in (*COMMANDS, *GROUPS) if " " not in entry.path)
    for panel in panels:
        yield ""
        yield f"## {panel}"
        tops = [
            entry.path
            for entry in (*COMMANDS, *GROUPS)
            if entry.panel == panel and " " not in entry.path
        ]
        for command in COMMANDS:
            if command.path.split()[0] in tops:
                yield from _lines_of_command(command)


def _described(entry: Command) -> Any:  # noqa: ANN401 - a command of the click that typer uses
    """The command as the command line describes it."""
    command: Any = get_command(commands(entry.path))
    for name in entry.path.split():
        command = command.commands[name]
    return command


def _lines_of_command(entry: Command) -> Iterator[str]:
    command = _described(entry)
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    words = " ".join(f"[{argument.name.upper()}]" for argument in arguments)
    yield ""
    yield f"### `{f'workbench {entry.path} {words}'.strip()}`"
    yield ""
    yield cleandoc(command.help).partition("\n\nExample")[0]
    yield ""
    yield "| option | meaning |"
    yield "|---|---|"
    for argument in arguments:
        yield f"| {argument.name.upper()} | {_cell(argument.help)} |"
    for option in command.params:
        if option.param_type_name == "option" and long_name(option) not in ABOUT_OPTIONS:
            yield (
                f"| `{'`, `'.join(option.opts)}` | {_cell(option.help)}{_default(option.default)} |"
            )


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _default(value: object) -> str:
    """The value that holds where none is given, if there is one to speak of."""
    return (
        ""
        if value is None or value is False or value == "" or callable(value)
        else f" Default: `{value}`."
    )


def manual() -> str:
    """The manual page, as `man` reads it."""
    return "\n".join(_manual_lines()) + "\n"


def _manual_lines() -> Iterator[str]:
    yield '.TH WORKBENCH 1 "" "workbench" "User Commands"'
    yield ".SH NAME"
    yield f"workbench \\- {_roff(ABOUT[0].lower() + ABOUT[1:].rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield ".B workbench"
    yield r"[\fICOMMAND\fR [\fIOPTIONS\fR]]"
    yield ".SH DESCRIPTION"
    yield "Without a command: whose sessions are on this machine, and what to type next."
    yield ".SH COMMANDS"
    for entry in COMMANDS:
        yield from _manual_of_command(entry)
    yield ".SH EXIT STATUS"
    yield "0 success, 1 a failed replay or gate, 2 unusable input, 3 a model did not answer."


def _manual_of_command(entry: Command) -> Iterator[str]:
    command = _described(entry)
    yield f'.SS "workbench {_roff(entry.path)}"'
    description = cleandoc(command.help).partition("\n\nExample")[0]
    for number, paragraph in enumerate(description.split("\n\n")):
        if number:
            yield ".PP"
        yield _roff(" ".join(paragraph.split()))
    for parameter in command.params:
        name = long_name(parameter)
        if name in ABOUT_OPTIONS:
            continue
        is_argument = parameter.param_type_name == "argument"
        names = [parameter.name.upper()] if is_argument else parameter.opts
        yield ".TP"
        yield f".B {_roff(', '.join(names))}"
        default = "" if is_argument else _default(parameter.default).replace("`", "")
        yield _roff(" ".join((parameter.help or "").split()) + default)


def _roff(text: str) -> str:
    """Text in which nothing is a command of the formatter's."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def errors_page() -> str:
    """The errors and warnings of the face, and which of its calls raise them."""
    return "\n".join(_error_lines()) + "\n"


def _error_lines() -> Iterator[str]:
    yield "# Errors and warnings"
    yield ""
    yield (
        "Each text is a sentence for a user. All are names of `workbench`, such as"
        " `wb.FormatError`; `wb.WorkbenchError` catches every error."
    )
    raising_calls = _raising_calls()
    yield ""
    yield "| error | kind of | what it means | who says that it may come |"
    yield "|---|---|---|---|"
    for error in _public_classes(wb.WorkbenchError):
        calls = ", ".join(f"`{call}`" for call in raising_calls.get(error.__name__, ()))
        yield f"| `{error.__name__}` | `{error.__base__.__name__}` | {_meaning(error)} | {calls} |"
    yield ""
    yield "| warning | what it means |"
    yield "|---|---|"
    for warning in _public_classes(Warning):
        yield f"| `{warning.__name__}` | {_meaning(warning)} |"


def _public_classes(root: type) -> list[Any]:
    """The classes of the face that are of a kind, without the kind itself."""
    classes: list[Any] = []
    for name in sorted(wb.__all__):
        face = getattr(wb, name)
        if isclass(face) and issubclass(face, root) and face is not root:
            classes.append(face)
    return classes


def _meaning(error: type) -> str:
    """The first paragraph of a class's docstring, on one line."""
    return _cell((getdoc(error) or "").partition("\n\n")[0])


def _raising_calls() -> Mapping[str, list[str]]:
    """By the name of an error: the public calls whose docstring names it."""
    calls: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(wb.__all__):
        face = getattr(wb, name)
        for error in _raised_errors(face):
            calls[error].append(name)
        if isclass(face):
            for method_name, method in vars(face).items():
                for error in _raised_errors(method):
                    calls[error].append(_call_name(name, method_name))
    return calls


def _call_name(class_name: str, method_name: str) -> str:
    """What a user writes to call a method."""
    if method_name == "__init__":
        return class_name
    return f"{class_name}.{method_name}"


def _raised_errors(call: object) -> list[str]:
    """The errors that the docstring of a call names below `Raises:`."""
    if isclass(call):
        return []
    section = re.search(r"^Raises:\n((?:    .*\n?)+)", getdoc(call) or "", re.MULTILINE)
    if section is None:
        return []
    errors: list[str] = []
    for names in re.findall(r"^    (\w[\w, ]*):", section[1], re.MULTILINE):
        errors += names.split(", ")
    return errors


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "errors.md": errors_page,
    "formats.md": formats_page,
    "tables.md": tables_page,
    "workbench.1": manual,
}


def stale_pages() -> list[str]:
    """The pages that say something else than the package."""
    return [name for name, made in PAGES.items() if _text(FOLDER / name) != made()]


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


def main(check: bool) -> int:
    """Write the pages, or name the stale ones."""
    if check:
        stale = stale_pages()
        sys.stdout.write(
            "".join(f"{name} is stale: run python docs/reference.py\n" for name in stale)
        )
        return int(bool(stale))
    for name, made in PAGES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
