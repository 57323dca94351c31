"""What takes the place of a summary that no model writes."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.engine.compaction.clip import clipped
from workbench.engine.transcript.context_lookup import tokens_of_text
from workbench.engine.transcript.message import Message, TokenCounter

StandIn: TypeAlias = Callable[[Sequence[Message], str, int, TokenCounter], str | None]
"""A text in place of a model's, from the messages, the earlier summary's text, and its most
tokens by a counter.
"""


def note(
    messages: Sequence[Message],
    previous: str,
    max_tokens: int,
    count: TokenCounter,
    wording: str = "[{n} earlier messages left out: {counts}]",
) -> str:
    """The earlier summary as far as it fits, and how many messages of which role were left out."""
    roles = Counter([message.role for message in messages])
    counts: list[str] = []
    for role, n in sorted(roles.items()):
        counts.append(f"{n} {role}")
    line = wording.format(n=len(messages), counts=", ".join(counts))
    line_tokens = tokens_of_text(f"\n\n{line}", count)
    kept_text = clipped(previous, max_tokens - line_tokens, count)
    if kept_text:
        return f"{kept_text}\n\n{line}"
    return clipped(line, max_tokens, count) or "[...]"


@dataclass(frozen=True, slots=True)
class StandIns:
    """The texts that take a summary's place, by what is wrong.

    Attributes:
        fallback: where the model fails; None passes its error on.
        if_empty: where its answer is empty; None makes that a failure.
        unread: where it would be shown nothing and is not asked; None: nothing is compacted.
    """

    fallback: StandIn | None = note
    if_empty: str | None = None
    unread: StandIn | None = None
