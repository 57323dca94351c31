"""Which files a compacted conversation touched, carried on from summary to summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.transcript.files import FileOps, merged, touched
from workbench.transcript.message import Message


def file_ops(messages: Iterable[Message]) -> FileOps:
    """What these messages did to files: what earlier summaries say, then each call that did not fail.

    A file that was read and later changed is promoted to changed.
    """
    said = tuple(messages)
    failed = {message.call_id for message in said if message.role == "tool" and message.is_error}
    return merged(_each(said, failed))


def _each(said: Iterable[Message], failed: set[str]) -> Iterator[FileOps]:
    for message in said:
        if message.role == "assistant":
            for block in message.blocks:
                if block.type == "tool_call" and block.id not in failed:
                    yield touched(block.name, block.arguments)
        elif message.role == "summary":
            yield message.files


def footer(files: FileOps, chars: int | None = None) -> str:
    """The lists as text, newest paths first to stay where there is no room for all; empty where there is nothing.

    Args:
        files: the lists; changed files go before files that were only read.
        chars: the most that the paths may take together; None for no bound.
    """
    modified, left = _newest(files.modified, chars)
    read, _ = _newest(files.read, left)
    lists = (("modified-files", files.modified, modified), ("read-files", files.read, read))
    return "".join(_listed(tag, whole, shown) for tag, whole, shown in lists if whole)


def _newest(paths: Sequence[str], chars: int | None) -> tuple[tuple[str, ...], int | None]:
    if chars is None:
        return tuple(paths), None
    shown: list[str] = []
    for path in reversed(paths):
        if len(path) + 1 > chars:
            break
        chars -= len(path) + 1
        shown.append(path)
    return tuple(reversed(shown)), chars


def _listed(tag: str, whole: Sequence[str], shown: Sequence[str]) -> str:
    more = [f"(and {len(whole) - len(shown)} more)"] if len(shown) < len(whole) else []
    return "\n".join(("", "", f"<{tag}>", *shown, *more, f"</{tag}>"))
