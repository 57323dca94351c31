"""The words and atoms of one session as arrays: which message holds which span, which span holds what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from workbench.metrics.ragged import Flags, Floats, Ints, distinct, gather, row_starts, table_of
from workbench.transcript.atoms import KINDS, Atom, is_file_name
from workbench.transcript.message import Message
from workbench.transcript.mining import END, Mined, Miner
from workbench.transcript.paths import SameFile, endings
from workbench.transcript.words import words

KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}


class Postings:
    """One session's spans, words and atoms, numbered as its miner numbers them.

    A *place* is one occurrence of a span: places count on through the session, message by message; inside a message
    what was said comes before what was thought. One file under several paths is one atom: `stands_for` names it.

    Attributes:
        n: number of messages.
        message_start: where each message's places begin, n + 1 entries.
        place_span: the span at each place.
        place_message: the message of each place.
        thought: whether a place is thinking.
        word_start, span_word: the words of each span.
        atom_start, span_atom: the atoms of each span.
        names: the atoms; a file goes by the shortest ending of its path that no other file of the session has.
        stands_for: for each atom the one that stands for it.
        folder: whether an atom is the folder of a path that is known as well, and so says nothing of its own: it
            stands in no span.
        pair_message, pair_atom: each message with each atom that it says, in order.
        first_seen: for each atom the first message that says it; n for one that another stands for or that was left
            out. `first_known` counts thoughts as well.
        kind: the kind of each atom, as its place in `KINDS`.
        idf: how rare each word is: log((n + 1) / (1 + messages that say it)) + 0.1.
    """

    def __init__(self, messages: Sequence[Message], miner: Miner) -> None:
        self.miner = miner
        mined = [miner.mine(message) for message in messages]
        self.n = len(mined)
        miner.forget_lines()
        self._place(mined)
        self._open_spans()
        self._name_files()
        self._count()

    def _place(self, mined: Sequence[Mined]) -> None:
        counts = np.array([(len(one.said), len(one.thought)) for one in mined], dtype=np.int64).reshape(-1, 2)
        sizes = counts.sum(axis=1)
        self.message_start = np.concatenate(([0], np.cumsum(sizes)))
        total = int(self.message_start[-1])
        everything = chain.from_iterable(chain(one.said, one.thought) for one in mined)
        self.place_span = np.fromiter(everything, dtype=np.int64, count=total)
        self.place_message = np.repeat(np.arange(self.n), sizes)
        since_start = np.arange(total) - self.message_start[self.place_message]
        self.thought: Flags = since_start >= counts[self.place_message, 0]

    def _open_spans(self) -> None:
        miner = self.miner
        flat = np.array(miner.flat, dtype=np.int64)
        is_end = flat == END
        span = np.cumsum(is_end)[~is_end]
        more = list(miner.more.items())
        beside = np.repeat(np.array([at for at, _ in more], dtype=np.int64), [len(found) for _, found in more])
        features = np.concatenate(
            (flat[~is_end], np.array([one for _, found in more for one in found], dtype=np.int64))
        )
        self.spans, self.words, atoms = len(miner.spans), len(miner.words), len(miner.atoms)
        keys = distinct((np.concatenate((span, beside)) * (atoms + self.words)) + features + atoms)
        span, features = np.divmod(keys, atoms + self.words)
        is_atom = features < atoms
        self.atom_start = row_starts(span[is_atom], self.spans)
        self.word_start = row_starts(span[~is_atom], self.spans)
        self.span_word = features[~is_atom] - atoms
        self._raw_atom = ~(features[is_atom] - atoms)

    def _name_files(self) -> None:
        known = self.miner.atoms
        self.names = [Atom(kind, text) for kind, text in known]
        self.paths = {atom.text: number for number, atom in enumerate(self.names) if atom.kind == "path"}
        self.files = SameFile(self.paths)
        self.stands_for = np.arange(len(known))
        self.kind = np.array([KIND_NUMBER[atom.kind] for atom in self.names], dtype=np.int64)
        self.folder: Flags = np.zeros(len(known), dtype=bool)
        folders = self.files.folders()
        for text, number in self.paths.items():
            stands = self.paths[self.files.of(text) or text]
            self.stands_for[number] = stands
            self.folder[stands] |= text in folders
            if stands == number:
                parts = 1 if is_file_name(text.rpartition("/")[2]) else 3
                self.names[number] = Atom("path", self.files.short(text, parts))
        self._leave_out(self.folder)

    def _leave_out(self, atoms: Flags) -> None:
        found = self.stands_for[self._raw_atom]
        good = ~atoms[found]
        span = np.repeat(np.arange(self.spans), np.diff(self.atom_start))
        pairs = distinct(span[good] * max(1, len(self.names)) + found[good])  # one file may stand there by two paths
        span, self.span_atom = np.divmod(pairs, max(1, len(self.names)))
        self.atom_start = row_starts(span, self.spans)

    def _count(self) -> None:
        said = np.flatnonzero(~self.thought)
        owner, at = gather(self.atom_start, self.place_span)
        self.first_known = self._firsts(self.place_message[owner], self.span_atom[at])
        owner, at = gather(self.atom_start, self.place_span[said])
        pairs = distinct(self.place_message[said[owner]] * max(1, len(self.names)) + self.span_atom[at])
        self.pair_message, self.pair_atom = np.divmod(pairs, max(1, len(self.names)))
        self.first_seen = self._firsts(self.pair_message, self.pair_atom)
        owner, at = gather(self.word_start, self.place_span[said])
        held = distinct(self.place_message[said[owner]] * max(1, self.words) + self.span_word[at])
        counts = np.bincount(held % max(1, self.words), minlength=self.words)
        self.idf: Floats = np.log((self.n + 1) / (1 + counts)) + 0.1

    def _firsts(self, message: Ints, atom: Ints) -> Ints:
        first = np.full(len(self.names), self.n)
        first[atom[::-1]] = message[::-1]
        return first

    @cached_property
    def of_atom(self) -> tuple[Ints, Ints]:
        """For each atom the spans that hold it."""
        starts, order = table_of(self.span_atom, len(self.names))
        spans = np.repeat(np.arange(self.spans), np.diff(self.atom_start))
        return starts, spans[order]

    @cached_property
    def of_word(self) -> tuple[Ints, Ints]:
        """For each word the spans that hold it."""
        starts, order = table_of(self.span_word, self.words)
        spans = np.repeat(np.arange(self.spans), np.diff(self.word_start))
        return starts, spans[order]

    @cached_property
    def span_first(self) -> Ints:
        """The first message of each span; n for one that stands in no message."""
        first = np.full(self.spans, self.n)
        first[self.place_span[::-1]] = self.place_message[::-1]
        return first

    @cached_property
    def span_said(self) -> Ints:
        """The first message that says each span, not only thinks it; n for one that nobody says."""
        first = np.full(self.spans, self.n)
        said = np.flatnonzero(~self.thought)[::-1]
        first[self.place_span[said]] = self.place_message[said]
        return first

    @cached_property
    def first_ending(self) -> dict[str, int]:
        """For each ending of a path, but the whole, the first message that knows such a path."""
        found: dict[str, int] = {}
        for text, number in self.paths.items():
            first = int(self.first_known[self.stands_for[number]])
            for ending in endings(text):
                if ending != text:
                    found[ending] = min(found.get(ending, self.n), first)
        return found

    @cached_property
    def standing(self) -> dict[Atom, int]:
        """What was found out of names that are no atoms of the session: the first message that holds them somehow."""
        return {}

    @cached_property
    def of_span(self) -> tuple[Ints, Ints]:
        """For each span its places."""
        return table_of(self.place_span, self.spans)

    @cached_property
    def texts(self) -> list[str]:
        """The text of each span."""
        return list(self.miner.spans)[: self.spans]

    def own_words(self, atom: int) -> list[int]:
        """The words of an atom itself: they prove nothing about what stands beside it."""
        numbers = self.miner.words
        found = words(self.names[atom].text)
        return [number for word in found if (number := numbers.get(word, self.words)) < self.words]


def word_table(p: Postings, spans: Ints) -> tuple[Flags, Ints]:
    """For each span a row of flags over the words of all of them; and each word's column, -1 for the other words."""
    owner, found = gather(p.word_start, spans)
    words = p.span_word[found]
    local = np.full(p.words + 1, -1)
    distinct = np.unique(words)
    local[distinct] = np.arange(len(distinct))
    table = np.zeros((len(spans), len(distinct)), dtype=bool)
    table[owner, local[words]] = True
    return table, local
