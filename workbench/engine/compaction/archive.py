"""Answers a call of `recall` from the archive of one session: by id, by query, or by a query
within one id.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from workbench.base.errors import SettingError
from workbench.engine.compaction.clip import clipped
from workbench.engine.compaction.recall import ID_LENGTH
from workbench.engine.transcript.context_lookup import tokens_of_text
from workbench.engine.transcript.message import TokenCounter, chars_per_token

TOKENS = 1_500
"""What an answer takes at most."""
PASSAGE = 1_000
"""Characters of a passage: what a query finds."""
MOST = 5
"""Passages in an answer."""
WORDS = 64
"""Words of a query that are looked for."""
NO_SEARCH = (
    "this Python's SQLite has no FTS5, which `recall` searches with: install a Python whose sqlite3"
    " has it"
)


class ArchivedPassage(NamedTuple):
    """A part of an archived text: the id, its number and how many there are, and the words."""

    id: str
    part: int
    parts: int
    text: str


class Archive:
    """What a session's compactions took out, made ready to be searched."""

    def __init__(self, texts: Mapping[str, str], count: TokenCounter = chars_per_token) -> None:
        """An archive of these texts by id, the oldest first.

        Raises:
            SettingError: this Python's SQLite cannot search.
        """
        self._texts: dict[str, str] = {}
        self._count = count
        self._passages: list[ArchivedPassage] = []
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            self._index.execute(
                "create virtual table passages using fts5(text, id unindexed, tokenize='porter"
                " unicode61')"
            )
        except sqlite3.OperationalError:
            raise SettingError(NO_SEARCH) from None
        self._add(texts)

    def grown(self, texts: Mapping[str, str]) -> "Archive":
        """An archive of these texts: this one, if they continue its own, else a new one."""
        old_count = len(self._texts)
        first_items = list(islice(texts.items(), old_count))
        if first_items != list(self._texts.items()):
            return Archive(texts, self._count)
        self._add(dict(islice(texts.items(), old_count, None)))
        return self

    def _add(self, texts: Mapping[str, str]) -> None:
        self._texts |= texts
        rows: list[tuple[int, str, str]] = []
        for id, text in texts.items():
            if len(id) != ID_LENGTH:
                continue
            for passage in _passages(id, text):
                number = len(self._passages)
                rows.append((number, passage.text, passage.id))
                self._passages.append(passage)
        self._index.executemany("insert into passages(rowid, text, id) values (?, ?, ?)", rows)

    def answer(
        self,
        id: str = "",
        query: str = "",
        tokens: int = TOKENS,
    ) -> str:
        """The answer to a call: the archived text, or a sentence that says what is wrong.

        Args:
            id: as a marker or a list shows it.
            query: words; gives the passages that fit best by BM25, of this id or of all, oldest
                first.
            tokens: the most that it takes, by the archive's counter.
        """
        if id and id not in self._texts:
            hint = "ids stand in the conversation, and a query needs none"
            return f"Nothing is archived under the id {id!r:.80}; {hint}."
        if query.strip():
            passages = self.search(query, id, tokens)
            if not passages:
                return f"Nothing in the archive has a word of {query!r:.80}."
            text = "\n\n".join(map(_headed, passages))
            return clipped(text, tokens, self._count)
        if not id:
            return "recall needs an id or a query."
        return clipped(self._texts[id], tokens, self._count)

    def search(
        self,
        query: str,
        id: str = "",
        tokens: int = TOKENS,
    ) -> list[ArchivedPassage]:
        """The best passages that fit into so many tokens, at least one, oldest first."""
        words = list(dict.fromkeys(re.findall(r"\w+(?:[-./:@]\w+)*", query)))
        if not words:
            return []
        match_expression = " OR ".join([f'"{word}"' for word in words[:WORDS]])
        statement = (
            "select rowid from passages where passages match ? and (? = '' or id = ?) "
            "order by bm25(passages), rowid desc limit ?"
        )
        parameters = (match_expression, id, id, 4 * MOST)
        number_by_text: dict[str, int] = {}  # what was said twice is found once
        for (number,) in self._index.execute(statement, parameters):
            passage = self._passages[number]
            if passage.text in number_by_text:
                continue
            tokens -= tokens_of_text(f"{_headed(passage)}\n\n", self._count)
            if (number_by_text and tokens < 0) or len(number_by_text) == MOST:
                break
            number_by_text[passage.text] = number
        return [self._passages[number] for number in sorted(number_by_text.values())]


def _headed(passage: ArchivedPassage) -> str:
    return f"[{passage.id}, part {passage.part} of {passage.parts}]\n{passage.text}"


def _passages(id: str, text: str) -> Iterator[ArchivedPassage]:
    """The text in parts of whole lines; a longer line is cut."""
    passages = [""]
    size = 0
    for line in text.splitlines():
        for start in range(0, max(len(line), 1), PASSAGE):
            piece = line[start : start + PASSAGE]
            if size and size + len(piece) > PASSAGE:
                passages.append("")
                size = 0
            passages[-1] += piece + "\n"
            size += len(piece) + 1
    for number, passage in enumerate(passages, 1):
        yield ArchivedPassage(id, number, len(passages), passage.strip("\n"))
