"""Codex, local: nothing stays but the user's own words, up to 20,000 tokens of them, and a hand-over that comes last.

Restates the local compaction of OpenAI's Codex CLI (openai/codex, an older stored copy, and a current fork), in
`codex-rs/` the files `core/src/compact.rs`, `protocol/src/openai_models.rs` and `core/templates/compact/`. Prompts are
our own words.

Where it differs from those sources, and why:

- The newest user message is never cut, whatever its size; of older ones the first that does not fit is cut in its
  middle, as there. Pinned messages stay with their partners.
- The original asks with the live request and one more message, so that the provider's cache holds. Here the
  conversation is put to the model as a transcript, its oldest part left out where it exceeds the window; the original
  drops the oldest item after each refusal.
- An earlier hand-over is given to the model as what is to be carried on. The original has no word for that: the old
  one is a message of the history like others.
- The initial context that it sends again (instructions, surroundings) is the overhead and the pinned system message.
- No ghost snapshots; the cap of 0.95 of the window on a configured limit is not built, since nothing is configured.
- When the model fails, a note of what was left out stands in. The original's error ends the turn.
- Approximate: in a small window the user's words take at most half of what may be kept, and the summary a quarter.
- Where a comparison sets the size of the context, at most half of it is kept and the rest is for the summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.compaction.clip import shortened
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.due import reached
from workbench.compaction.presets.loose import Loose
from workbench.compaction.presets.modest import modest
from workbench.compaction.presets.question import question
from workbench.compaction.presets.swap import LEAST, bound
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Situation
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, is_real_user
from workbench.transcript.pairing import last_user

SHARE = 0.9
USER_TOKENS = 20_000
MOST_SUMMARY = 16_000
WORDING = PromptTemplate(headings="codex_headings", lead="codex_lead")


@dataclass(frozen=True, slots=True)
class CodexTrigger:
    """Due when the provider's last count and the estimate of what came after reach nine tenths of the window."""

    share: float = SHARE
    name: ClassVar[str] = "codex_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `tokens >= 0.9 * window`."""
        return reached(situation, int(self.share * situation.window))


@dataclass(frozen=True, slots=True)
class CodexCompact:
    """Drops all answers, calls and results, keeps the newest user messages that fit, and puts a summary behind them.

    Attributes:
        user_tokens: what user messages may take together.
        most: tokens of the summary; the original leaves it to the model.
    """

    user_tokens: int = USER_TOKENS
    most: int = MOST_SUMMARY
    wording: PromptTemplate = WORDING
    name: ClassVar[str] = "codex_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """What goes, what is cut, and the draft at the end; None where nothing new would go."""
        loose = Loose.of(context, budget)
        said = _kept_words(context, loose, loose.kept(self.user_tokens))
        gone = [i for i in loose.indices if i not in said]
        if all(isinstance(context.messages[i], Summary) for i in gone):
            return None
        earlier = tuple(message for i in gone if isinstance(message := context.messages[i], Summary))
        told = tuple(context.messages[i] for i in loose.indices if not isinstance(context.messages[i], Summary))
        before = [id for summary in earlier for id in summary.replaces]
        replaced = [context.messages[i].id for i in gone if not isinstance(context.messages[i], Summary)]
        draft = Draft(requests=(), lead=self.wording.opening, replaces=tuple(dict.fromkeys([*before, *replaced])))
        frame = context.count(draft.frame()) + 2
        most = min(bound(context, budget, gone, frame), max(modest(context, budget, self.most), LEAST))
        if most < LEAST:
            return None
        requests = (question(context, budget, self.wording, told, earlier, most),)
        drops = [Replace(i, i + 1) for i in gone]
        cuts = [Replace(i, i + 1, (now,)) for i, now in said.items() if now is not context.messages[i]]
        n = len(context.messages)
        last = Replace(n, n, (Draft(requests=requests, lead=draft.lead, replaces=draft.replaces),))
        return Plan((*sorted([*drops, *cuts], key=lambda edit: edit.start), last))


def _kept_words(context: Context, loose: Loose, tokens: int) -> dict[int, Message]:
    """The user messages that stay, newest first, the oldest of them cut to what is left; by index."""
    newest = last_user(context.messages)
    kept: dict[int, Message] = {}
    for i in reversed(loose.indices):
        message, size = context.messages[i], context.sizes[i]
        if not is_real_user(message):
            continue
        if size <= tokens or i == newest:
            kept[i] = message
            tokens -= size
            continue
        short = shortened(message, tokens, size, context.count) if tokens > LEAST else None
        if short is not None:
            kept[i] = short
        break
    return kept


CODEX_LOCAL = Preset(
    "codex_local",
    Strategy("codex_local", (CodexCompact(),)),
    CodexTrigger(),
    source="openai/codex codex-rs/core/src/compact.rs, protocol/src/openai_models.rs, core/templates/compact",
)
