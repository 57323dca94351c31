"""Sentences of a run, made from the text templates in `templates/report`."""

from collections.abc import Iterable

from workbench.base.markup import render


def sentences(template: str, **values: object) -> list[str]:
    """The sentences that a text template makes of values by name, one a line of it."""
    text = render(f"report/{template}.txt", **values)
    stripped = [line.strip() for line in text.splitlines()]
    return [line for line in stripped if line]


def paragraphs(template: str, **values: object) -> list[str]:
    """The paragraphs that a text template makes, in which `---` stands between them."""
    text = render(f"report/{template}.txt", **values)
    return [" ".join(block.split()) for block in text.split("---")]


def one_paragraph(texts: Iterable[str]) -> str:
    """Texts behind one another, those that are there."""
    return " ".join(filter(None, texts))
