"""Sentences of a run, made from the text templates in `templates/report`."""

from workbench.base.markup import render


def sentences(template: str, **values: object) -> list[str]:
    """The sentences that a text template makes of values by name, one a line of it."""
    text = render(f"report/{template}.txt", **values)
    stripped = [line.strip() for line in text.splitlines()]
    return [line for line in stripped if line]
