"""JSON lines whose records were printed over several lines each, as `jq .` prints them."""

from collections.abc import Iterator

OPENING, CLOSING = "{", "}"
BOUNDARY = f"\n{CLOSING}\n{OPENING}\n"
"""Where one record ends and the next one begins."""


def is_printed_series(text: str) -> bool:
    """Whether a text begins with such records, at least two."""
    return text.startswith(f"{OPENING}\n") and BOUNDARY in text


def joined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines of each record as one text, with the number of the first of them."""
    start = 0
    record: list[str] = []
    for number, line in lines:
        if not record:
            start = number
        record.append(line)
        if line == CLOSING:
            yield start, "\n".join(record)
            record = []
    if record:
        yield start, "\n".join(record)
