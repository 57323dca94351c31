"""Which files a compacted conversation touched, carried on from summary to summary and listed
for the agent.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from workbench.engine.compaction.prompt_template import harmless
from workbench.engine.transcript.files import FileOps, merged, touched
from workbench.engine.transcript.message import Message

_LIST = re.compile(r"\n*<(read-files|modified-files)>\n?(.*?)(?:</\1>|\Z)", re.DOTALL)


def file_ops(messages: Iterable[Message]) -> FileOps:
    """What these messages did to files: what earlier summaries say, then each call that did not
    fail.

    A file that was read and later changed is listed as changed.
    """
    all_messages = tuple(messages)
    failed = {
        message.call_id for message in all_messages if message.role == "tool" and message.is_error
    }
    operations: list[FileOps] = []
    for message in all_messages:
        if message.role == "assistant":
            for block in message.blocks:
                if block.type == "tool_call" and block.id not in failed:
                    operations.append(touched(block.name, block.arguments))
        elif message.role == "summary":
            operations.append(message.files)
    return merged(operations)


def footer(files: FileOps, chars: int | None = None) -> str:
    """Both lists in their tags, changed files first, with a count of those without room.

    Args:
        files: what to list.
        chars: the most that all paths take together; changed files and newer ones go first. None
            for no bound.
    """
    modified, read = _shown(files, chars)
    lists = (("modified-files", files.modified, modified), ("read-files", files.read, read))
    return "".join(
        _tagged(
            tag,
            [*shown_paths, f"(and {len(paths) - len(shown_paths)} more)"]
            if len(shown_paths) < len(paths)
            else shown_paths,
        )
        for tag, paths, shown_paths in lists
        if paths
    )


def listed(files: FileOps, chars: int | None = None) -> str:
    """The same for the text of a summary: read files first, nothing about those without room,
    paths made harmless.
    """
    modified, read = _shown(files, chars)
    lists = (("read-files", read), ("modified-files", modified))
    return "".join(
        _tagged(tag, [*map(harmless, shown_paths)]) for tag, shown_paths in lists if shown_paths
    )


def without_lists(text: str) -> str:
    """The text without such lists."""
    return _LIST.sub("", text).strip()


def parted(text: str) -> tuple[str, str]:
    """The text, and the lists below it."""
    end = len(text)
    for match in reversed([*_LIST.finditer(text)]):
        if match.end() != end:
            break
        end = match.start()
    return text[:end], text[end:]


def lists_in(text: str) -> FileOps:
    """The paths that the lists in a text name."""
    paths_by_tag: dict[str, Sequence[str]] = {}
    for tag, paths in _LIST.findall(text):
        paths_by_tag[tag] = [path.strip() for path in paths.splitlines() if path.strip()]
    return FileOps(
        tuple(paths_by_tag.get("read-files", ())), tuple(paths_by_tag.get("modified-files", ()))
    )


def _shown(files: FileOps, chars: int | None) -> tuple[Sequence[str], Sequence[str]]:
    """The newest changed files that fit, and the newest read ones that fit beside them."""
    if chars is None:
        return files.modified, files.read
    used = _used(files.modified)
    many = bisect_right(used, chars)
    read_room = chars - (used[many - 1] if many else 0)
    return (
        files.modified[len(used) - many :],
        files.read[len(files.read) - bisect_right(_used(files.read), read_room) :],
    )


def _used(paths: Sequence[str]) -> list[int]:
    """Characters that the newest 1, 2, ... paths take."""
    return [*accumulate(len(path) + 1 for path in reversed(paths))]


def _tagged(tag: str, lines: Sequence[str]) -> str:
    return "\n\n" + "\n".join((f"<{tag}>", *lines, f"</{tag}>"))
