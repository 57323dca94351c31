"""Fills the templates of reports and notebook views. Session text is data: each value is escaped
and made visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING

from workbench.base.formats import (
    NUMBERS,
    OF_UNIT,
    first_sentence,
    interval,
    joined,
    missing,
    some,
)
from workbench.base.package import PACKAGE
from workbench.base.palette import looks

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = PACKAGE / "report" / "templates"
LONGEST = 400
"""Characters of one quoted text in a page; a line of a megabyte says nothing more than its start
and its size.
"""

NO_FORMULAS = "mathjax_ignore tex2jax_ignore"
"""The classes of what a notebook is not to read for formulas: two prices of a line are none."""

_OPTION = re.compile("--[a-z][a-z-]*")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


def first_paragraph(docstring: str | None) -> str:
    """The first paragraph of a docstring on one line; empty where there is none."""
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())


def attribute_sentence(docstring: str | None, name: str) -> str:
    """The first sentence that the section `Attributes:` of a docstring has on a name; empty where
    it has none.
    """
    _, _, section = cleandoc(docstring or "").partition("\nAttributes:\n")
    section, _, _ = section.partition("\n\n")
    text = re.search(
        rf"^ +{re.escape(name)}: (.+?)(?=\n +\w+: |\Z)", section, re.DOTALL | re.MULTILINE
    )
    if text is None:
        return ""
    words = " ".join(text[1].split())
    return words.partition(". ")[0].removesuffix(".")


def visible(text: str) -> str:
    """The text with control characters, direction marks and lone surrogates made visible."""
    return _UNSEEN.sub(_code_point, text)


def _code_point(match: re.Match[str]) -> str:
    return f"\N{SYMBOL FOR SUBSTITUTE FORM TWO}{ord(match[0]):02x}"


def unbroken(text: str) -> Markup:
    """Prose in HTML: no line breaks before a percent sign or inside an option such as `--model`."""
    from markupsafe import Markup, escape

    escaped = str(escape(visible(text)))
    with_spaces = escaped.replace(" %", "\N{NO-BREAK SPACE}%")
    return Markup(_OPTION.sub(r'<span class="option">\g<0></span>', with_spaces))


def clipped(text: object, longest: int = LONGEST) -> str:
    """The value as text, or the first `longest` characters of it and its length."""
    words = str(text)
    if len(words) <= longest:
        return words
    return f"{words[:longest].rstrip()} … ({len(words):,} characters)"


def split_at(text: str, what: str, longest: int = LONGEST) -> list[str]:
    """The text between the occurrences of `what`; clipped around the first one."""
    index = text.find(what)
    if index > longest // 2:
        text = "… " + text[index - longest // 3 :]
    excerpt = clipped(text, longest)
    return excerpt.split(what) if what else [excerpt]


@cache
def environment() -> Environment:
    """The templates, with the number formats as filters."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=lambda name: not str(name).endswith(".txt"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    templates.filters |= {
        **NUMBERS,
        "number": lambda value, name: NUMBERS[name](value),
        "in_unit": lambda value, unit: OF_UNIT[unit](value),
        "clip": clipped,
        "split_at": split_at,
        "interval": interval,
        "joined": joined,
        "whole": lambda number: f"{number:,}",
        "nbsp": unbroken,
        "first_sentence": first_sentence,
    }
    templates.tests["missing"] = missing
    templates.globals |= {
        "NUMBERS": NUMBERS,
        "looks": looks,
        "some": some,
        "no_formulas": NO_FORMULAS,
    }
    return templates


def render(template: str, /, **values: object) -> str:
    """The text of a template, named by its path in the folder `templates`, with these values."""
    return environment().get_template(template).render(values)


def card(
    title: str,
    facts: Mapping[str, object],
    heads: Sequence[str] = (),
    rows: Iterable[Sequence[object]] = (),
    note: str = "",
) -> str:
    """How an object shows itself in a notebook: its name, a line of facts, a table and a note
    below.

    Empty facts are left out. Its colours are those of the page, light or dark.
    """
    named_facts = {name: value for name, value in facts.items() if value not in ("", None)}
    return render(
        "card.html", title=title, facts=named_facts, heads=heads, rows=list(rows), note=note
    )
