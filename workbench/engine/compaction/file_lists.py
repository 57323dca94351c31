"""Which files a compacted conversation touched, carried on from summary to summary and listed
for the agent.
"""

import re
from collections.abc import Iterable, Sequence

from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.transcript.files import FileOps, merged, touched
from workbench.engine.transcript.message import Message

_LIST = re.compile(r"\n*<(read-files|modified-files)>\n?(.*?)(?:</\1>|\Z)", re.DOTALL)


def file_ops(messages: Iterable[Message]) -> FileOps:
    """What earlier summaries say of files, and what calls that did not fail did to them.

    A file that was read and later changed is listed as changed.
    """
    all_messages = list(messages)
    failed_calls: set[str] = set()
    for message in all_messages:
        if message.role == "tool" and message.is_error:
            failed_calls.add(message.call_id)
    operations: list[FileOps] = []
    for message in all_messages:
        if message.role == "assistant":
            for block in message.blocks:
                if block.type == "tool_call" and block.id not in failed_calls:
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
    shown_files = _fitting_files(files, chars)
    modified_list = _counted_list("modified-files", files.modified, shown_files.modified)
    read_list = _counted_list("read-files", files.read, shown_files.read)
    return modified_list + read_list


def _counted_list(
    tag: str,
    paths: Sequence[str],
    shown_paths: Sequence[str],
) -> str:
    """The list of those shown, with a count of the others; empty where there are no paths."""
    if not paths:
        return ""
    lines = list(shown_paths)
    if len(shown_paths) < len(paths):
        lines.append(f"(and {len(paths) - len(shown_paths)} more)")
    return _tagged(tag, lines)


def listed(files: FileOps, chars: int | None = None) -> str:
    """The same for the text of a summary: read files first, without counts of the rest."""
    shown_files = _fitting_files(files, chars)
    lists = ""
    if shown_files.read:
        lists += _tagged("read-files", list(map(harmless, shown_files.read)))
    if shown_files.modified:
        lists += _tagged("modified-files", list(map(harmless, shown_files.modified)))
    return lists


def without_lists(text: str) -> str:
    """The text without such lists."""
    return _LIST.sub("", text).strip()


def parted(text: str) -> tuple[str, str]:
    """The text, and the lists below it."""
    end = len(text)
    for match in reversed(list(_LIST.finditer(text))):
        if match.end() != end:
            break
        end = match.start()
    return text[:end], text[end:]


def lists_in(text: str) -> FileOps:
    """The paths that the lists in a text name."""
    paths_by_tag: dict[str, tuple[str, ...]] = {}
    for tag, lines in _LIST.findall(text):
        paths = [line.strip() for line in lines.splitlines()]
        paths_by_tag[tag] = tuple([path for path in paths if path])
    return FileOps(
        read=paths_by_tag.get("read-files", ()),
        modified=paths_by_tag.get("modified-files", ()),
    )


def _fitting_files(files: FileOps, chars: int | None) -> FileOps:
    """The newest changed files that fit, and the newest read ones that fit beside them."""
    if chars is None:
        return files
    modified = _newest(files.modified, chars)
    read = _newest(files.read, chars - _chars(modified))
    return FileOps(read, modified)


def _newest(paths: Sequence[str], chars: int) -> tuple[str, ...]:
    """The newest paths that take at most so many characters together."""
    shown_count = 0
    for path in reversed(paths):
        chars -= len(path) + 1
        if chars < 0:
            break
        shown_count += 1
    return tuple(paths[len(paths) - shown_count :])


def _chars(paths: Sequence[str]) -> int:
    """Characters of these paths, each on a line of its own."""
    newlines = len(paths)
    return sum(map(len, paths)) + newlines


def _tagged(tag: str, lines: Sequence[str]) -> str:
    text = "\n".join((f"<{tag}>", *lines, f"</{tag}>"))
    return f"\n\n{text}"
