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
from itertools import chain, islice, zip_longest

from workbench.engine.compaction.clip import head, reference
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.context_lookup import tokens_of, tokens_of_text
from workbench.engine.transcript.message import (
    Message,
    Summary,
    Text,
    ToolCall,
    ToolResult,
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
    """The id under which a message is archived: the same in every run."""
    return reference(message)[:ID_LENGTH]


def with_room(budget: Budget, context: Context) -> Budget:
    """The budget of the stages: less what ids may take, where there is anything to do."""
    if not context.archive and context.tokens <= budget.target:
        return budget
    return replace(budget, target=budget.target - _room(budget, context))


def _room(budget: Budget, context: Context) -> int:
    """Tokens that ids may take."""
    fixed_tokens = context.overhead + tokens_of(context, protected(context.messages))
    target_room = max(budget.target - fixed_tokens, 0)
    return min(int(SHARE * target_room), MOST)


def with_ids(
    original: Context,
    compacted: Context,
    sent: Context,
    budget: Budget,
) -> tuple[Context, Context]:
    """What is kept, and what is sent: both with the archive, the latter with ids.

    Args:
        original: the history that was compacted.
        compacted: what became of it.
        sent: the same as it is sent.
        budget: whose target holds for the whole, ids included.
    """
    archive = _archived(original, compacted, compacted.archive)
    kept_context = replace(compacted, archive=archive)
    if sent is not compacted:
        archive = _archived(compacted, sent, {**sent.archive, **archive})
    usual_room = _room(budget, original)
    target_room = budget.target - sent.tokens
    room = max(usual_room, LEAST)
    if target_room >= 0:
        room = min(usual_room, target_room)
    outgoing = _Shown(replace(sent, archive=archive), room)
    return kept_context, outgoing.context(original)


def _archived(
    original: Context,
    compacted: Context,
    archive: Mapping[str, str],
) -> Mapping[str, str]:
    """The archive with what is no longer there; nothing that is archived changes."""
    remaining_objects = set(map(id, compacted.messages))
    new_archive = dict(archive)
    for i, message in enumerate(original.messages):
        if id(message) in remaining_objects or _restates(message, archive):
            continue
        call = original.calls.get(i)
        if call is not None and call.name == TOOL:
            continue  # it quotes the archive
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
    texts = [plain_text(message)]
    if message.role == "assistant":
        texts += map(_call_text, message.calls)
    body = "\n".join([text for text in texts if text.strip()])
    if not body:
        return ""
    heading = message.name or message.role
    if call is not None:
        heading = " ".join((call.name, *argument_texts(call.arguments)))
    return f"{_words(heading)}\n{body}"


def _call_text(call: ToolCall) -> str:
    return "\n".join((call.name, *argument_texts(call.arguments)))


def _words(text: str) -> str:
    line = " ".join(text[: 4 * WORDS].split())
    return head(line, WORDS)


class _Shown:
    """What is sent, as ids are put into it.

    Ids behind markers go to the oldest first, and the list stands where the newest change is: so
    the beginning of the request stays as it was, and with it the provider's cache.

    Attributes:
        room: tokens that further ids may take.
    """

    def __init__(self, sent: Context, room: int) -> None:
        self.sent = sent
        self.room = room
        self.messages = list(sent.messages)
        self.sizes = list(sent.sizes)

    def context(self, original: Context) -> Context:
        """The context with as many ids as fit, no larger than `original` by a list."""
        sent = self.sent
        changed_ids: dict[int, str] = {}
        for i, message in enumerate(self.messages):
            message_id = archive_id(message.id)
            if message_id in sent.archive:
                changed_ids[i] = message_id
        listed_ids: dict[str, None] = {}
        for key in sent.archive:
            if len(key) == ID_LENGTH:
                listed_ids[key] = None
        mark_tokens = tokens_of_text(MARK.format("0" * ID_LENGTH), sent.count)
        all_marks_tokens = len(changed_ids) * mark_tokens
        needs_list = len(listed_ids) > len(changed_ids) or all_marks_tokens > self.room
        list_room = LEAST if needs_list else 0
        for i, message_id in changed_ids.items():
            if self._mark(i, message_id, list_room):
                del listed_ids[message_id]
        if listed_ids:
            tokens = sent.overhead + sum(self.sizes)
            self.room = min(self.room, original.tokens - tokens)
            self._list(list(listed_ids), original)
        return Context(
            messages=tuple(self.messages),
            sizes=tuple(self.sizes),
            overhead=sent.overhead,
            count=sent.count,
            archive=sent.archive,
        )

    def _mark(
        self,
        i: int,
        message_id: str,
        list_room: int,
    ) -> bool:
        """Put its id behind a rewritten result, if it fits and more text is archived."""
        message = self.messages[i]
        if not isinstance(message, ToolResult) or message.pinned:
            return False
        marked = _marked(message, message_id)
        size = self.sent.count(marked)
        growth = size - self.sizes[i]
        if growth > self.room - list_room:
            return False
        archived_page = self.sent.archive[message_id]
        if len(plain_text(marked)) >= len(archived_page):
            return False
        self.room -= growth
        self.messages[i], self.sizes[i] = marked, size
        return True

    def _list(self, ids: list[str], original: Context) -> None:
        """List these at the end of a new summary, else in a message where the newest change is."""
        index = self._new_summary(original)
        if index is None:
            index = self._newest_change(original)
            place = slice(index, index)
            self._put_list(place, Summary(id="archive-list", text=""), "", ids)
        else:
            summary = self.messages[index]
            assert isinstance(summary, Summary)
            self._put_list(slice(index, index + 1), summary, f"{summary.tail}\n\n", ids)

    def _put_list(
        self,
        place: slice,
        summary: Summary,
        start: str,
        ids: list[str],
    ) -> None:
        """Put the summary with the longest list that fits in the place of these messages."""
        size = sum(self.sizes[place])
        for text in self._forms(ids, self.room):
            listed = replace(summary, tail=start + text)
            new_size = self.sent.count(listed)
            if new_size - size <= self.room:
                self.messages[place] = [listed]
                self.sizes[place] = [new_size]
                return

    def _new_summary(self, original: Context) -> int | None:
        """The index of the newest summary that this compaction wrote, if there is one."""
        old_objects = set(map(id, original.messages))
        for i in reversed(range(len(self.messages))):
            message = self.messages[i]
            if isinstance(message, Summary) and id(message) not in old_objects:
                return i
        return None

    def _newest_change(self, original: Context) -> int:
        """The index behind what stood before the newest message that is gone or changed."""
        sent_objects = set(map(id, self.sent.messages))
        newest_removed = 0
        for i, message in enumerate(original.messages):
            if id(message) not in sent_objects:
                newest_removed = i
        earlier_ids = {message.id for message in original.messages[: newest_removed + 1]}
        index = 0
        for i, message in enumerate(self.messages):
            if message.id in earlier_ids:
                index = i + 1
        flags = self.sent.cut_points
        while index < len(self.messages):
            if flags[index] and self.messages[index].role != "system":
                break
            index += 1
        return index

    def _forms(self, ids: list[str], room: int) -> Iterator[str]:
        """The list in ever shorter forms: with as many lines as may fit, then fewer, then none."""
        lines = self._lines(ids, room)
        while True:
            shown_lines = [lines[message_id] for message_id in ids if message_id in lines]
            heading = LIST.format(n=len(ids))
            ending = MORE.format(n=len(ids) - len(shown_lines))
            yield "\n".join((heading, *shown_lines, ending))
            if not lines:
                return
            fewer = len(lines) * 7 // 8
            lines = dict(islice(lines.items(), fewer))

    def _lines(self, ids: list[str], room: int) -> dict[str, str]:
        """As many lines as may fit, the newest first, by id; every other one a person's words."""
        archive = self.sent.archive
        people = [message_id for message_id in ids if archive[message_id].startswith("user\n")]
        lines: dict[str, str] = {}
        pairs = zip_longest(reversed(people), reversed(ids))
        for message_id in chain.from_iterable(pairs):
            if message_id is None or message_id in lines:
                continue
            words = harmless(_words(archive[message_id])).replace("<", "&lt;")
            line = f"{message_id} {words}"
            room -= tokens_of_text(line, self.sent.count)
            if room < 0:
                break
            lines[message_id] = line
        return lines


@lru_cache(maxsize=4096)
def _marked(message: ToolResult, name: str) -> ToolResult:
    """The result with its id behind it; the same object again for the same result."""
    mark = Text(MARK.format(name))
    return replace(message, blocks=(*message.blocks, mark))
