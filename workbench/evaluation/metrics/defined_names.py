"""The names that the lines of a session define: those of the project, as far as it shows."""

import re
from collections.abc import Iterable

DEFINITION = re.compile(
    r"\b(?:def|class|function|func|fn|struct|enum|interface|trait|type|const|let|var)\s+(\w+)"
)
_METHOD = re.compile(r"^[\W\d]*func\s+\([^)]*\)\s*(\w+)")
"""As Go defines one, behind whose it is."""
_FIELD = re.compile(
    r"^[\W\d]*(?:[\w*&<>\[\].]+\s+){0,3}[\"'`]?(\w+)[\"'`]?\s*(?:\??:(?!:)|=(?!=)|\(.*[{:]\s*$)"
)
"""A line that begins with a name, perhaps behind its type, and gives it a value, a type or a body.
"""


def defined_names(lines: Iterable[str]) -> frozenset[str]:
    """Each name that some line defines: a function, a type, a variable, a field or its key."""
    names: set[str] = set()
    for line in lines:
        names.update(DEFINITION.findall(line))
        for form in (_METHOD, _FIELD):
            definition = form.match(line)
            if definition:
                names.add(definition[1])
    return frozenset(names)
