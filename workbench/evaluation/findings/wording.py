"""Sentences of a run, made from the text templates in `templates/report`."""

from workbench.base.markup import render


def sentences(template: str, **values: object) -> list[str]:
    """The sentences that a text template makes of values by name, one a line of it."""
    text = render(f"report/{template}.txt", **values)
    lines: list[str] = []
    for line in text.splitlines():
        sentence = line.strip()
        if sentence:
            lines.append(sentence)
    return lines


def paragraphs(template: str, **values: object) -> list[str]:
    """The paragraphs that a text template makes, in which `---` stands between them."""
    text = render(f"report/{template}.txt", **values)
    texts: list[str] = []
    for block in text.split("---"):
        words = block.split()
        texts.append(" ".join(words))
    return texts
