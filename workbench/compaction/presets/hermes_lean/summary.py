"""The log that Hermes puts in the place of what lies before the tail; the user's words stay, the index is below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.cut import Cut
from workbench.compaction.pins import Pins
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.presets.hermes_lean.anchors import CHARS, anchors, index
from workbench.compaction.presets.hermes_lean.prune import whole
from workbench.compaction.presets.hermes_lean.tail import tail_start
from workbench.compaction.presets.loose import Loose
from workbench.compaction.presets.modest import modest
from workbench.compaction.presets.question import question
from workbench.compaction.presets.swap import LEAST, bound
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Summary, is_real_user
from workbench.transcript.pairing import last_user

HEAD = 3
USER_TOKENS = 10_000
RESULT_CHARS = 6_000
LEAST_SUMMARY, MOST_SUMMARY = 2_000, 10_000
SHARE_OF_OLD, SHARE_OF_WINDOW = 0.2, 0.05
POINTER = "\n\nA result that is named with a ref can be read again in full by that reference."


def summary_tokens(old: int, window: int) -> int:
    """A fifth of what is summarised and a twentieth of the window, at least 2,000 and at most 10,000 tokens."""
    return max(LEAST_SUMMARY, min(int(SHARE_OF_OLD * old), int(SHARE_OF_WINDOW * window), MOST_SUMMARY))


@dataclass(frozen=True, slots=True)
class HermesSummary:
    """Summarises what lies before the tail but its first messages and the user's words.

    Attributes:
        head: messages that stay at the beginning as long as there is no summary.
        user_tokens: what older user messages may take together.
    """

    head: int = HEAD
    user_tokens: int = USER_TOKENS
    wording: PromptTemplate = PromptTemplate(headings="hermes_headings", result_chars=RESULT_CHARS)
    name: ClassVar[str] = "hermes_summary"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft and what it replaces; None where nothing new lies before the tail, or too little room is left."""
        loose = Loose.of(context, budget)
        cut = loose.cut(tail_start(loose, budget.window))
        gone = [] if cut is None else self._gone(context, budget, loose, cut)
        new = [i for i in gone if not isinstance(context.messages[i], Summary)]
        if not new:
            return None
        earlier = tuple(message for i in gone if isinstance(message := context.messages[i], Summary))
        said = tuple([whole(context.messages[i], context.archive) for i in new])
        draft = self._draft(context, earlier, [context.messages[i].id for i in new])
        freed = sum(context.sizes[i] for i in gone)
        room = max(min(budget.target, context.tokens - 1) - context.tokens + freed, 0)
        below = index(anchors([*earlier, *said]), min(CHARS, room))
        for tail in (draft.tail + below, ""):
            draft = replace(draft, tail=tail)
            most = bound(context, budget, gone, context.count(draft.frame()) + 2)
            if most >= LEAST:
                break
        else:
            return None
        most = min(most, max(modest(context, budget, summary_tokens(freed, budget.window)), LEAST))
        requests = (question(context, budget, self.wording, said, earlier, most),)
        return Plan(swapped(context.messages, gone, replace(draft, requests=requests)))

    def _gone(self, context: Context, budget: Budget, loose: Loose, cut: Cut) -> list[int]:
        first = Pins(prefix=0 if loose.earlier else self.head).fixed(context, budget)
        old = [i for i in loose.indices if i < cut.keep and i not in first]
        left = loose.kept(2 * self.user_tokens) // 2
        newest, kept = last_user(context.messages), set[int]()
        for i in reversed(old):
            if is_real_user(context.messages[i]) and i != newest:
                left -= context.sizes[i]
                if left < 0:
                    break
                kept.add(i)
        return [i for i in old if i not in kept and i != newest]

    def _draft(self, context: Context, earlier: Sequence[Summary], new: Sequence[str]) -> Draft:
        before = [id for summary in earlier for id in summary.replaces]
        return Draft(
            requests=(),
            lead=self.wording.opening,
            tail=POINTER if context.archive else "",
            replaces=tuple(dict.fromkeys([*before, *new])),
        )
