"""Codex, local: nothing stays but the user's own words, up to 20,000 tokens of them, and a
hand-over that comes last.

Restates the local compaction of OpenAI's Codex CLI (openai/codex e06dd0e, and newer copies such
as 0xdengdeng/codex 71625b4, which cut and keep alike), in `codex-rs/` the files
`core/src/compact.rs`, `protocol/src/openai_models.rs` and `core/templates/compact/`. Codex compacts
so where its provider cannot. OpenAI's server can: beside its sealed text Codex then keeps up to
64,000 tokens of messages (openai/codex 576ee90, `core/src/compact_remote_v2.rs`). Besides the
general differences (`presets`):

- The newest user message is never cut, whatever its size; of older ones the first that does not fit
  is cut in its middle, as there.
- Messages that any client made up in the user's name go; the original knows and drops its own only.
- A user message that stays keeps its pictures; the original keeps the words of a message alone.
- The original asks with the live request and one more message, so that the provider's cache holds:
  `codex_local:request=conversation` does so, without thoughts and pictures. By default the
  conversation is put to the model as a transcript, with whole results, since the summaries that
  ship are stored under transcripts. Where it exceeds nine tenths of the window its oldest part is
  left out; the original drops the oldest item after each refusal.
- An earlier hand-over is given to the model as what is to be carried on. The original has no word
  for that: the old one is a message of the history like others.
- The initial context that it sends again (instructions, surroundings) is the overhead and the
  pinned system message.
- Nothing is configured; a limit of the user's own is in newer copies at most 0.9 of the window.
- No ghost snapshots.
"""

from dataclasses import replace

from workbench.engine.compaction.clip import shortened
from workbench.engine.compaction.plan import Budget, behind_all
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import LIVE_SHARE, PromptTemplate
from workbench.engine.compaction.size_limits import LEAST, SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.compaction.summary_input import Reading, SummaryInput, SummaryTask
from workbench.engine.transcript.context import Context, last_user, pinned
from workbench.engine.transcript.message import Message, is_real_user

USER_TOKENS = 20_000


def keep_user_words(context: Context, budget: Budget) -> Span:
    """Keeps the newest `USER_TOKENS` of what the user said."""
    messages = context.messages
    movable = Movable.of(context, budget)
    token_room = movable.kept(USER_TOKENS)
    newest = last_user(messages)
    kept_indices: set[int] = set()
    cut_messages: dict[int, Message] = {}
    for i in reversed(movable.indices):
        if not is_real_user(messages[i]):
            continue
        size = context.sizes[i]
        if size > token_room and i != newest:
            short = None
            if token_room > LEAST:
                short = shortened(messages[i], token_room, size, context.count)
            if short is not None:
                kept_indices.add(i)
                cut_messages[i] = short
            break
        kept_indices.add(i)
        token_room -= size
    removed_indices = tuple(i for i in movable.indices if i not in kept_indices)
    return Span(removed_indices, len(messages), cut_messages)


class WholeConversation(Reading):
    """The model reads the whole conversation, the user's words that stay included."""

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """All that is not pinned."""
        messages = task.context.messages
        pinned_indices = pinned(messages)
        history: list[Message] = []
        for i, message in enumerate(messages):
            if i not in pinned_indices and message.role != "summary":
                history.append(message)
        return replace(task.full_input, history=tuple(history))


HANDOVER = Summarize(
    cut=keep_user_words,
    reads=WholeConversation(),
    prompt=PromptTemplate(
        headings="codex_headings",
        lead="codex_lead",
        result_chars="whole",
        argument_chars="whole",
        window_share=LIVE_SHARE,
        too_long="oldest",
    ),
    limits=SizeLimits(least=LEAST, share=SUMMARY_SHARE, to_target=False),
    presentation=Presentation(place=behind_all, file_lists=""),
    name="codex_compact",
)

CODEX_LOCAL = Preset(
    "codex_local",
    Strategy("codex_local", (HANDOVER,)),
    AtLimit(share=0.9),
    source=(
        "openai/codex codex-rs/core/src/compact.rs, protocol/src/openai_models.rs,"
        " core/templates/compact"
    ),
)
