"""The ship's journal. The shore reads only lines that begin with the sender's mark."""

LINES = []
_MARKS = {}


def register(part, mark):
    """A part says once with which mark its lines begin."""
    _MARKS[part] = mark


def note(part, text):
    """A line of the journal; a part that has no mark is refused."""
    if part not in _MARKS:
        raise LookupError(f"{part} has no mark")
    LINES.append(f"{_MARKS[part]} {text}")
