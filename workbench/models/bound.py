"""What one question can cost at most, known before it is sent, and what its answer's report makes of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.models.catalog import Prices, dearest, entry, prices, window
from workbench.models.options import MILLION, Options
from workbench.models.tokenizer import TiktokenCounter, encoding_of

FRAME = 256
"""Tokens that a provider may add to the words of a prompt."""

ROUNDING = 1 + 1e-6


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a question may read, write and cost.

    Attributes:
        read: tokens of the prompt.
        wrote: tokens of the answer; None if it has no bound.
        price: what its tokens cost; None if nobody knows.
        own: whether the price is the user's, and not the table's.
        usd: what the question may cost; None if nobody knows.
    """

    read: int
    wrote: int | None
    price: Prices | None
    own: bool
    usd: float | None

    def exceeded(self, read: int, wrote: int, usd: float | None) -> str:
        """What a provider reports beyond the bound, in words; empty where it keeps it."""
        if self.wrote is not None and wrote > self.wrote:
            return f"{wrote:,} tokens written where {self.wrote:,} were allowed"
        if read > self.read:
            return f"{read:,} tokens read where the prompt cannot have more than {self.read:,}"
        if self.usd is not None and usd is not None and usd > self.usd * ROUNDING:
            return f"a cost of ${usd:.4f} where no more than ${self.usd:.4f} was thought possible"
        return ""


def bound(model: str, how: Options, texts: Sequence[str], most: int | None, *, own_server: bool) -> Bound:
    """The bound of a question.

    Every token of the prompt counts at the dearest rate that can apply to it (a cache write, a tier for long prompts),
    and every token that the answer may have at the dearest of an answer.

    Args:
        model: who is asked.
        how: its options.
        texts: of the prompt.
        most: tokens of the answer; None for no bound.
        own_server: whether somebody else than the model's maker may answer under its name.
    """
    read = FRAME + sum(most_tokens(text, "" if own_server else model) for text in texts)
    if how.input_usd is not None and how.output_usd is not None:
        each, out = how.input_usd / MILLION, how.output_usd / MILLION
        given = Prices(each, out, cache_read=each, cache_write=each)
        return Bound(read, most, given, True, None if most is None else read * each + most * out)
    paid = min(read, window(model) or read)  # a prompt beyond the window is refused, and costs nothing
    dear = dearest(model, paid)
    usd = None if dear is None or most is None else paid * dear.input + most * dear.output + dear.call
    return Bound(read, most, prices(model), False, usd)


def most_tokens(text: str, model: str = "") -> int:
    """The most tokens that a text can have.

    For OpenAI's own models the count of their tokenizer. For all others a token a byte (UTF-8): tokenizers fall back to
    bytes and go no finer, and runs of digits, blanks or marks may well be cut so fine.
    """
    encoding = encoding_of(model) if _by_openai(model) else None
    return len(text.encode("utf-8", "replace")) if encoding is None else TiktokenCounter(encoding).count_text(text)


def _by_openai(model: str) -> bool:
    found = entry(model) if model else None
    return found is not None and found.get("litellm_provider") in ("openai", "azure")
