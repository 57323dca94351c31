"""Recall: what a compaction takes out goes to an archive, and what is sent shows the ids that bring
it back.

The stages know nothing of it. They get a target that leaves room for ids. What they removed or
rewrote is archived as it first was, and the ids stand in what is *sent*, never in what is kept, so
that no stage meets them: behind each marker of a tool result, and in one list at the end of the
newest summary, or in a message of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain, zip_longest

from workbench.engine.compaction.clip import head, reference
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.prompt_template import harmless
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.message import (
    Message,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    argument_texts,
    plain_text,
)

SHARE, MOST = 0.04, 1_000
"""What ids take at most: a share of what the target leaves beside protected messages, and
tokens.
"""
LEAST = 40
"""Tokens that ids may take where the target is missed anyway: room for the first line of the
list.
"""
TOOL = "recall"
"""The tool's name. Its own answers are not archived: they quote the archive."""
ID_LENGTH = 8
WORDS = 60
"""Characters that the list shows of what it names."""
MARK = "[recall {}]"
LIST = "[{n} earlier messages are archived; the tool `recall` brings them back by query, or by id:"
MORE = "and {n} more]"


def archive_id(message: str) -> str:
    """The id under which the message with this id is archived: the same in every run, and after
    save and load.
    """
    return reference(message)[:ID_LENGTH]


def with_room(budget: Budget, context: Context) -> Budget:
    """The budget of the stages: less what ids may take, unless nothing is archived or to be
    done.
    """
    if not context.archive and context.tokens <= budget.target:
        return budget
    return replace(budget, target=budget.target - _room(budget, context))


def _room(budget: Budget, context: Context) -> int:
    fixed = context.overhead + sum(context.sizes[i] for i in protected(context.messages))
    return min(int(SHARE * max(budget.target - fixed, 0)), MOST)


def with_ids(
    original: Context, compacted: Context, sent: Context, budget: Budget
) -> tuple[Context, Context]:
    """What is kept, and what is sent: both with the archive, the latter with ids.

    Args:
        original: the history that was compacted.
        compacted: what became of it.
        sent: the same as it is sent.
        budget: whose target holds for the whole, ids included.
    """
    kept_context = replace(compacted, archive=_archived(original, compacted, compacted.archive))
    archive = (
        kept_context.archive
        if sent is compacted
        else _archived(compacted, sent, {**sent.archive, **kept_context.archive})
    )
    room, spare = _room(budget, original), budget.target - sent.tokens
    room = min(room, spare) if spare >= 0 else max(room, LEAST)
    return kept_context, _Shown(replace(sent, archive=archive), room).context(original)


def _archived(
    original: Context, compacted: Context, archive: Mapping[str, str]
) -> Mapping[str, str]:
    """The archive with what is no longer there as it was; what was archived before stays as it
    first was.
    """
    remaining_objects = set(map(id, compacted.messages))
    new_archive = dict(archive)
    for i, message in enumerate(original.messages):
        call = original.calls.get(i)
        quotes = call is not None and call.name == TOOL
        if id(message) not in remaining_objects and not quotes and not _restates(message, archive):
            archived_page = page(message, call)
            if archived_page:
                new_archive.setdefault(archive_id(message.id), archived_page)
    return new_archive


def _restates(message: Message, archive: Mapping[str, str]) -> bool:
    """Whether it is a summary of what is archived."""
    return isinstance(message, Summary) and any(
        archive_id(name) in archive for name in message.replaces
    )


def page(message: Message, call: ToolCall | None = None) -> str:
    """A message as it is archived: who said it or what was called, then its words and calls; empty
    without any.

    Thoughts and pictures are not archived.
    """
    parts = [plain_text(message)]
    if message.role == "assistant":
        parts += [
            "\n".join((made_call.name, *argument_texts(made_call.arguments)))
            for made_call in message.calls
        ]
    body = "\n".join(part for part in parts if part.strip())
    about = (
        " ".join((call.name, *argument_texts(call.arguments)))
        if call
        else message.name or message.role
    )
    return f"{_words(about)}\n{body}" if body else ""


def _words(text: str) -> str:
    return head(" ".join(text[: 4 * WORDS].split()), WORDS)


class _Shown:
    """What is sent, as ids are put into it.

    Ids behind markers go to the oldest first, and the list stands where the newest change is: so
    the beginning of the request stays as it was, and with it the provider's cache.
    """

    def __init__(self, sent: Context, room: int) -> None:
        self.sent, self.left = sent, room
        self.messages, self.sizes = list(sent.messages), list(sent.sizes)

    def context(self, original: Context) -> Context:
        """The context with as many ids as there is room for; with a list only where it is no
        larger than `before`.
        """
        sent = self.sent
        changed = [
            (i, name)
            for i, message in enumerate(self.messages)
            if (name := archive_id(message.id)) in sent.archive
        ]
        listed_ids = dict.fromkeys(name for name in sent.archive if len(name) == ID_LENGTH)
        marks = len(changed) * sent.count(
            UserMessage(id="", blocks=(Text(MARK.format("0" * ID_LENGTH)),))
        )
        keep = LEAST if len(listed_ids) > len(changed) or marks > self.left else 0
        for i, name in changed:
            if self._marks(i, name, keep):
                del listed_ids[name]
        if listed_ids:
            self.left = min(self.left, original.tokens - sent.overhead - sum(self.sizes))
            self._list([*listed_ids], original)
        return Context(
            tuple(self.messages), tuple(self.sizes), sent.overhead, sent.count, sent.archive
        )

    def _marks(self, i: int, name: str, keep: int) -> bool:
        """Put its id behind a rewritten result, where there is room and the archived text is
        longer.
        """
        message = self.messages[i]
        if not isinstance(message, ToolResult) or message.pinned:
            return False
        marked = _marked(message, name)
        size = self.sent.count(marked)
        if size - self.sizes[i] > self.left - keep or len(plain_text(marked)) >= len(
            self.sent.archive[name]
        ):
            return False
        self.left -= size - self.sizes[i]
        self.messages[i], self.sizes[i] = marked, size
        return True

    def _list(self, names: list[str], original: Context) -> None:
        """List these at the end of a new summary, else in a message where the newest change is."""
        old = set(map(id, original.messages))
        new = [
            i
            for i, message in enumerate(self.messages)
            if isinstance(message, Summary) and id(message) not in old
        ]
        index = new[-1] if new else self._newest_change(original)
        summary = self.messages[index] if new else Summary(id="archive-list", text="")
        assert isinstance(summary, Summary)
        stop, size = (index + 1, self.sizes[index]) if new else (index, 0)
        for text in self._forms(names, self.left):
            listed = replace(summary, tail=f"{summary.tail}\n\n{text}" if new else text)
            if (new_size := self.sent.count(listed)) - size <= self.left:
                self.messages[index:stop], self.sizes[index:stop] = [listed], [new_size]
                return

    def _newest_change(self, original: Context) -> int:
        """The index behind what stood before the newest message that is no longer there as it
        was.
        """
        sent_objects = set(map(id, self.sent.messages))
        newest_removed = max(
            (i for i, message in enumerate(original.messages) if id(message) not in sent_objects),
            default=0,
        )
        earlier = {message.id for message in original.messages[: newest_removed + 1]}
        start = (
            max((i for i, message in enumerate(self.messages) if message.id in earlier), default=-1)
            + 1
        )
        flags = self.sent.cut_points
        candidates = (
            i
            for i in range(start, len(self.messages))
            if flags[i] and self.messages[i].role != "system"
        )
        return next(candidates, len(self.messages))

    def _forms(self, names: list[str], room: int) -> Iterator[str]:
        """The list in ever shorter forms: with as many lines as may fit, then fewer, then none."""
        archive, count = self.sent.archive, self.sent.count
        people = [name for name in names if archive[name].startswith("user\n")]
        lines: dict[str, str] = {}
        # half of it a person's words
        newest = chain.from_iterable(zip_longest(reversed(people), reversed(names)))
        for name in dict.fromkeys(name for name in newest if name is not None):
            line = f"{name} {harmless(_words(archive[name])).replace('<', '&lt;')}"
            room -= count(UserMessage(id="", blocks=(Text(line),)))
            if room < 0:
                break
            lines[name] = line
        while True:
            shown_lines = [lines[name] for name in names if name in lines]
            yield "\n".join(
                (
                    LIST.format(n=len(names)),
                    *shown_lines,
                    MORE.format(n=len(names) - len(shown_lines)),
                )
            )
            if not lines:
                return
            lines = dict(list(lines.items())[: len(lines) * 7 // 8])


@lru_cache(maxsize=4096)
def _marked(message: ToolResult, name: str) -> ToolResult:
    """The result with its id behind it; the same object again for the same result."""
    return replace(message, blocks=(*message.blocks, Text(MARK.format(name))))
