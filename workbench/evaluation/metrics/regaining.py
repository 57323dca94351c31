"""What it takes to get a lost thing back, judged by the line that states it."""

import re
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Flags, Ints
from workbench.engine.extraction.entities import KINDS
from workbench.evaluation.metrics.evidence import Evidence
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.sources import WAYS

_DECIDES = re.compile(
    r"\b(?:decided|decision|chose|chosen|go(?:ing)? with|opted for|settled on|agreed)\b",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(r"\w*[a-z0-9]_\w+|\w*[a-z][A-Z]\w*")
"""A name that only code has: words joined by underscores or by capitals."""
_AS_CODE = r"`[^`]*{name}[^`]*`|{name}\(|(?:def|func|function|class)\s+{name}"
"""How a line speaks of a name as of something that the project has."""
_CALL = WAYS.index("call")
_PATH = KINDS.index("path")
_HASH = KINDS.index("hash")
_IDENTIFIER = KINDS.index("identifier")
_AGENT, _RUN = WAYS.index("agent"), WAYS.index("run")


@dataclass(frozen=True, slots=True, eq=False)
class Holders:
    """The messages of a history that hold needed entities, a row an entity, a span and a message.

    Attributes:
        slot: (rows,) the needed entity.
        span, message: (rows,) what holds it, and where that was said.
        bound: (rows,) whether the span holds it together with the words of its evidence.
    """

    slot: Ints
    span: Ints
    message: Ints
    bound: Flags


class Regaining:
    """How each needed entity of one boundary could be had again.

    A call brings it back where a call that only looks showed it with the words of its evidence, or
    a file holds it with them. The name alone is enough where the evidence is no more than the
    agent's repetition of it, and for the name of a file that some call met or a person
    gave from inside the working directory. The hash of a commit stands in the log. A name of code,
    and a file inside the working directory, is found by a search where the agent or an old run
    spoke of it as of something that is there, unless the line says that something was decided.

    Attributes:
        at_hand: (rows of the holders,) whether the same call, or the file, would show the row's
            span again.
        way: (slots,) the place of each one's way back in `WAYS`.
    """

    def __init__(self, index: InvertedIndex, evidence: Evidence, holders: Holders) -> None:
        self._index = index
        self._evidence_message = index.place_message[evidence.place]
        self._ways = index.ways_back
        span_in_message = holders.message * index.spans + holders.span
        in_file = np.isin(span_in_message, index.spans_in_files)
        self.at_hand: Flags = (self._ways[holders.message] == _CALL) | in_file
        self.way: Ints = self._way_of_evidence()
        slot = holders.slot
        message = holders.message
        kind = index.kind[evidence.entities]
        is_path = kind == _PATH
        is_hash = kind == _HASH
        shows_files = index.runs_command | index.is_result
        shows_path = is_path[slot] & shows_files[message]
        shows_hash = is_hash[slot] & index.shows_commits[message]
        was_met = self.at_hand | shows_path | shows_hash
        name_is_enough = self._is_repetition(evidence) | is_path | is_hash
        by_user = self._ways[message] == WAYS.index("user")
        is_by_agent = self.way == _AGENT
        said_by_both = by_user & is_by_agent[slot]
        self.way[slot[said_by_both]] = WAYS.index("user")
        would_tell = was_met & (holders.bound | name_is_enough[slot])
        self.way[slot[would_tell]] = _CALL
        self.way[is_path & self._is_relative(evidence)] = _CALL
        self.way[self._is_found_by_search(evidence)] = _CALL

    def _way_of_evidence(self) -> Ints:
        """(slots,) the way back to the message that states each one last."""
        return self._ways[self._evidence_message].copy()

    def _is_relative(self, evidence: Evidence) -> Flags:
        """(slots,) whether a person named each one, and not by a path from the root."""
        is_given: Flags = self.way == WAYS.index("user")
        for slot, entity in enumerate(evidence.entities.tolist()):
            if _is_from_root(self._index.names[entity].text):
                is_given[slot] = False
        return is_given

    def _is_found_by_search(self, evidence: Evidence) -> Flags:
        """(slots,) whether the agent or an old run spoke of what a search in the project shows."""
        is_found: Flags = np.zeros(len(self.way), dtype=bool)
        for slot, entity in enumerate(evidence.entities.tolist()):
            way = self.way[slot]
            kind = self._index.kind[entity]
            name = self._index.names[entity].text
            if kind == _IDENTIFIER:
                is_in_project = way in (_AGENT, _RUN) and bool(_CODE_NAME.fullmatch(name))
            elif kind == _PATH:
                is_in_project = way == _AGENT and not _is_from_root(name)
            else:
                is_in_project = False
            if is_in_project:
                line = self._index.texts[int(evidence.span[slot])]
                is_found[slot] = _speaks_as_of_code(name, line)
        return is_found

    def _is_repetition(self, evidence: Evidence) -> Flags:
        """(slots,) whether the evidence is the agent's own words, and no decision."""
        source = self._index.sources[self._evidence_message]
        is_repetition: Flags = source == "mention"
        for slot, span in enumerate(evidence.span.tolist()):
            if _DECIDES.search(self._index.texts[span]):
                is_repetition[slot] = False
        return is_repetition


def _is_from_root(path: str) -> bool:
    """Whether a path begins at the root or at somebody's home."""
    return path[:1] in ("/", "~")


def _speaks_as_of_code(name: str, line: str) -> bool:
    """Whether a line speaks of a name as of something that the project has, and decides nothing."""
    if _DECIDES.search(line):
        return False
    return re.search(_AS_CODE.format(name=re.escape(name)), line) is not None
