"""Which needs are certain: the answer could hardly have written the name without the history.

Certain is what an edit quotes, what the answer tells in its own words, and what stands in a file
that it writes, if the session's lines show that the name is the project's own. A name in the
arguments of a call or in lines that an edit adds may have been guessed: a file's usual name, a
pattern to search for, a method of a library. What the context still names is never certain.
"""

import re
from typing import Literal, TypeAlias

from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.indexes.inverted_index import InvertedIndex
from workbench.evaluation.metrics.uses import text_of_use

Certainty: TypeAlias = Literal["needed", "perhaps"]

_FORMS_OF_USE = frozenset({"quoted", "words"})
_NAMES_OF_CODE = frozenset({"identifier", "error"})
_STATEMENTS = (
    r"\b(?:async|class|const|def|enum|fn|func|function|interface|let|struct|trait|type|var) +{name}\b",
    r"[\"'`]{name}[\"'`]",
    r"(?<![\w.]){name}\??[\"']?\s*(?:=(?!=)|:(?!:))",
    r"\b(?:self|this)(?:\.|->)_?{name}\b",
)
"""A line defines a name, quotes it, gives it a value, or has it as a member of its own object."""


class CertainNeeds:
    """Tells the needs of one session that are certain."""

    def __init__(self, index: InvertedIndex) -> None:
        self._index = index
        self._answers: dict[tuple[object, ...], bool] = {}

    def is_certain(self, need: Need) -> bool:
        """Whether a need is certain where the context does not name the thing; many contexts lose
        the same.
        """
        question = need.entity, need.use, need.use_text
        if question not in self._answers:
            self._answers[question] = self._is_certain(need)
        return self._answers[question]

    def _is_certain(self, need: Need) -> bool:
        use = text_of_use(self._index.messages[need.use], need.use_text)
        if use is None:
            return False
        if use.form in _FORMS_OF_USE:
            return True
        if use.form != "file":
            return False
        return need.entity.kind not in _NAMES_OF_CODE or self._is_of_project(need)

    def _is_of_project(self, need: Need) -> bool:
        """Whether a line of the session shows that the project makes a name."""
        any_statement = "|".join(_STATEMENTS)
        escaped_name = re.escape(need.entity.text)
        pattern = re.compile(any_statement.format(name=escaped_name))
        entity = self._index.extractor.entities[need.entity]
        for span in self._index.spans_with_entity(entity).tolist():
            line = self._index.texts[span]
            if pattern.search(line):
                return True
        return False
