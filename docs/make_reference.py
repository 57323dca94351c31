"""Writes docs/reference.md from the docstrings of everything on the face: `python docs/make_reference.py`."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

import workbench as wb

PAGE = Path(__file__).parent / "reference.md"
HEAD = """# Reference

Everything that `import workbench as wb` gives, from its own docstrings. Written by `python docs/make_reference.py`.
"""


def page() -> str:
    """The whole page."""
    names = [name for name in wb.__all__ if name != "__version__"]
    index = ", ".join(f"[`{name}`](#{name.lower()})" for name in sorted(names, key=str.lower))
    return "\n".join([HEAD, index, "", *(entry(name, getattr(wb, name)) for name in names)])


def entry(name: str, part: object) -> str:
    """One name with its signature, its docstring, and what a class has besides."""
    lines = [f"## {name}", "", f"`{signature(name, part)}`", "", prose(part)]
    if isinstance(part, type):
        lines += [member(one, value) for one, value in vars(part).items() if shown(one, value)]
    return "\n".join(lines).rstrip() + "\n"


def shown(name: str, value: object) -> bool:
    """Whether it is a method or property that a reader may use."""
    inner = getattr(value, "func", None) or getattr(value, "fget", None) or getattr(value, "__func__", value)
    return not name.startswith("_") and inspect.isfunction(inner) and bool(inner.__doc__)


def member(name: str, value: object) -> str:
    """A method or property as one point of a list."""
    inner = getattr(value, "func", None) or getattr(value, "fget", None) or getattr(value, "__func__", value)
    call = name if inner is not value and not hasattr(value, "__func__") else signature(name, inner)
    first = (inspect.getdoc(inner) or "").partition("\n\n")[0].replace("\n", " ")
    return f"- `.{call}`: {first}"


def signature(name: str, part: object) -> str:
    """Its name and what it takes, without the types' homes."""
    try:
        text = str(inspect.signature(part))  # type: ignore[arg-type]  # what cannot be called says so
    except (TypeError, ValueError):
        return name
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are texts
    text = re.sub(r"\b(?:\w+\.)+(?=[A-Z]\w*)", "", text).replace("(self)", "()")
    text = text.replace("(self, ", "(").replace("(cls, ", "(")
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return f"{name}{text if len(text) <= 600 else '(...)'}"


def prose(part: object) -> str:
    """The docstring, its sections as lists."""
    text = inspect.getdoc(part) or ""
    if "\x00" in text or text.startswith(f"{getattr(part, '__name__', '')}("):
        return ""  # a dataclass without words of its own
    parts = re.split(r"^(Args|Attributes|Returns|Raises|Source):\n", text, flags=re.MULTILINE)
    lines = [parts[0].strip()]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        lines += ["", f"*{title}*", "", points(textwrap.dedent(body))]
    return "\n".join(lines) + "\n"


def points(body: str) -> str:
    """The lines of a section, each with what hangs below it, as a list."""
    found: list[str] = []
    for line in body.strip().splitlines():
        if line.startswith(" ") and found:
            found[-1] += " " + line.strip()
        elif line.strip():
            found.append(re.sub(r"^([\w, ]+): ", r"`\1`: ", line.strip()))
    return "\n".join(f"- {one}" for one in found)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
