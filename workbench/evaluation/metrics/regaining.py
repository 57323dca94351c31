"""What it takes to get a lost thing back, judged by the line that states it."""

import re
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Flags, Ints
from workbench.engine.extraction.entities import KINDS
from workbench.engine.transcript.message import Message, ToolResult, said_text
from workbench.evaluation.metrics.evidence import Evidence
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.sources import WAYS, commands_of

_DECIDES = re.compile(
    r"\b(?:decided|decision|chose|chosen|go(?:ing)? with|opted for|settled on|agreed)\b",
    re.IGNORECASE,
)
_CODE_NAME = re.compile(r"\w*[a-z0-9]_\w+|\w*[a-z][A-Z]\w*")
"""A name that only code has: words joined by underscores or by capitals."""
_AS_CODE = (
    r"`[^`]*{name}[^`]*`|{name}\(|\w\.\w+\.{name}\b"
    r"|(?:def|func|fn|function|class|struct|enum|trait|interface|type)\s+{name}"
)
"""How a line speaks of a name as of something that the project has."""
_CODE_FORM = re.compile(
    r"[=(]|^(?:return|import|from|export|if|for|while|def|class|func|fn|const|let|var|type|struct)\b"
)
"""What a line of code has and a line of settings or data lacks."""
_SEARCH = r"\b(?:grep|rg|ag|ack|git grep|findstr|Select-String)\s[^;&]*{name}"
_FENCES = ("```", "<source>", "</source>")
_LOCAL_ADDRESS = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d+)?(?:/\S*)?")
"""An address of this machine: its port and its route stand in the project's code or settings."""
_ISSUE = re.compile(r"#\d+")
_TRACKER = re.compile(r"(?:^|[\s;&|(])(?:gh|glab) ")
_CALL = WAYS.index("call")
_PATH = KINDS.index("path")
_URL = KINDS.index("url")
_VERSION = KINDS.index("version")
_HASH = KINDS.index("hash")
_IDENTIFIER = KINDS.index("identifier")
_KINDS_THAT_STAY = (_IDENTIFIER, _URL, _VERSION)
"""What a run shows of these stands in a file or on a page as well."""
_KINDS_IN_CODE = [_IDENTIFIER, KINDS.index("quote"), KINDS.index("error")]
_AGENT = WAYS.index("agent")
_RUN = WAYS.index("run")
_USER = WAYS.index("user")


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
    agent's repetition of it, for a name of code that a run or the agent restates, and for the name
    of a file that some call met or a person gave from inside the working directory. The hash of a
    commit stands in the log. A name of code, and a file inside the working directory, is found by a
    search where the agent or an old run spoke of it as of something that is there, unless the line
    says that something was decided; so is a name that was searched for, an address of this
    machine, and a name, a quoted text or an error in a line of code that anybody showed in a fence.
    A name of code, an address or a version that a run showed stands in a file or on a page, too.

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
        by_call = self._ways[holders.message] == _CALL
        self.at_hand: Flags = by_call | in_file
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
        is_code = kind == _IDENTIFIER
        by_agent_or_run = (self.way == _AGENT) | (self.way == _RUN)
        is_code_restated = is_code & by_agent_or_run & ~self._decides(evidence)
        name_is_enough = self._is_repetition(evidence) | is_path | is_hash | is_code_restated
        by_user = self._ways[message] == _USER
        is_by_agent = self.way == _AGENT
        said_by_both = by_user & is_by_agent[slot]
        self.way[slot[said_by_both]] = _USER
        would_tell = was_met & (holders.bound | name_is_enough[slot])
        self.way[slot[would_tell]] = _CALL
        self.way[is_path & self._is_relative(evidence)] = _CALL
        self.way[self._is_found_by_search(evidence)] = _CALL
        self.way[self._is_in_tracker(evidence)] = _CALL

    def _way_of_evidence(self) -> Ints:
        """(slots,) the way back to the message that states each one last."""
        return self._ways[self._evidence_message].copy()

    def _is_relative(self, evidence: Evidence) -> Flags:
        """(slots,) whether a person named each one, and not by a path from the root."""
        is_given: Flags = self.way == _USER
        for slot, entity in enumerate(evidence.entities.tolist()):
            path = self._index.names[entity].text
            if _is_from_root(path):
                is_given[slot] = False
        return is_given

    def _is_found_by_search(self, evidence: Evidence) -> Flags:
        """(slots,) whether the agent, an old run or a user showed what a search in the project
        finds.
        """
        is_found: Flags = np.zeros(len(self.way), dtype=bool)
        for slot, entity in enumerate(evidence.entities.tolist()):
            if self.way[slot] == _CALL:
                continue
            name = self._index.names[entity].text
            span = int(evidence.span[slot])
            line = self._index.texts[span]
            if _DECIDES.search(line):
                continue
            kind = self._index.kind[entity]
            if kind in _KINDS_THAT_STAY and self._is_shown_by_run(slot):
                is_found[slot] = True
            elif kind == _PATH:
                is_inside = self.way[slot] == _AGENT and not _is_from_root(name)
                is_found[slot] = is_inside and _speaks_as_of_code(name, line)
            elif kind == _IDENTIFIER:
                is_found[slot] = self._shows_code(slot, name, line)
            elif kind == _URL:
                is_found[slot] = _LOCAL_ADDRESS.fullmatch(name) is not None
            if not is_found[slot] and kind in _KINDS_IN_CODE:
                message_index = int(self._evidence_message[slot])
                message = self._index.messages[message_index]
                is_found[slot] = _is_line_of_code(message, line)
        return is_found

    def _is_shown_by_run(self, slot: int) -> bool:
        """Whether a run that did not fail states a thing last, and nobody else has to say it."""
        message = self._index.messages[int(self._evidence_message[slot])]
        has_failed = isinstance(message, ToolResult) and message.is_error
        return bool(self.way[slot] == _RUN) and not has_failed

    def _shows_code(self, slot: int, name: str, line: str) -> bool:
        """Whether the agent or a run speaks of a name as the project's, or searches for it; a user
        may have said it too.
        """
        if self._way_of_evidence()[slot] not in (_AGENT, _RUN):
            return False
        if _CODE_NAME.fullmatch(name) and _speaks_as_of_code(name, line):
            return True
        escaped = re.escape(name)
        search = _SEARCH.format(name=escaped)
        return re.search(search, line) is not None

    def _is_in_tracker(self, evidence: Evidence) -> Flags:
        """(slots,) whether each one is an issue's number, where the agent can look up issues."""
        is_found: Flags = np.zeros(len(self.way), dtype=bool)
        for slot, entity in enumerate(evidence.entities.tolist()):
            if self.way[slot] not in (_AGENT, _RUN):
                continue
            name = self._index.names[entity].text
            if _ISSUE.fullmatch(name):
                is_found[slot] = True
        if is_found.any() and not self._looks_up_issues():
            is_found[:] = False
        return is_found

    def _looks_up_issues(self) -> bool:
        """Whether the agent runs the command of a tracker."""
        for message in self._index.messages:
            for command in commands_of(message):
                if _TRACKER.search(command):
                    return True
        return False

    def _is_repetition(self, evidence: Evidence) -> Flags:
        """(slots,) whether the evidence is the agent's own words, and no decision."""
        source = self._index.sources[self._evidence_message]
        is_repetition: Flags = (source == "mention") & ~self._decides(evidence)
        return is_repetition

    def _decides(self, evidence: Evidence) -> Flags:
        """(slots,) whether the line that states each one says that something was decided."""
        decides: Flags = np.zeros(len(self.way), dtype=bool)
        for slot, span in enumerate(evidence.span.tolist()):
            line = self._index.texts[span]
            if _DECIDES.search(line):
                decides[slot] = True
        return decides


def _is_from_root(path: str) -> bool:
    """Whether a path begins at the root or at somebody's home."""
    return path[:1] in ("/", "~")


def _speaks_as_of_code(name: str, line: str) -> bool:
    """Whether a line speaks of a name as of something that the project has: as code does, or
    behind the file that has it.
    """
    escaped = re.escape(name)
    behind_file = rf"`[\w./-]+\.\w{{1,4}}`: .*\b{escaped}\b"
    if re.search(behind_file, line):
        return True
    as_code = _AS_CODE.format(name=escaped)
    return re.search(as_code, line) is not None


def _is_line_of_code(message: Message, line: str) -> bool:
    """Whether a message shows a line of code between fences."""
    if not _CODE_FORM.search(line):
        return False
    in_fence = False
    for shown_line in said_text(message).split("\n"):
        if shown_line.lstrip().startswith(_FENCES):
            in_fence = not in_fence
        elif in_fence and line in shown_line:
            return True
    return False
