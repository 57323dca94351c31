"""Closed lists of English words that say how a line means what it names."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


DENIES = _set(
    "not no never without cannot don't doesn't didn't isn't wasn't aren't won't can't neither nor"
    " instead rather unlike"
)
"""Words that deny the next chunks of their clause."""

REPLACES = _set(
    "former formerly previous previously provisional old supersedes superseding replaces replacing"
    " replace"
)
"""Words that deny what follows them in their clause."""

RETIRES = _set(
    "obsolete superseded deprecated outdated stale discarded rejected abandoned invalid wrong"
    " incorrect overridden replaced retired"
)
"""Words that deny the rest of their clause and what stands just before them."""

NEGATIONS = _set(
    "not no never without cannot don't doesn't mustn't shouldn't won't can't avoid forbid forbids"
    " forbidden forbade prohibit prohibits prohibited refrain disallow disallowed skip exclude"
    " excludes excluded excluding omit"
)
"""Words that make a prohibition of a demand."""

RELATES = _set(
    "to on into depends relies reports routes calls imports extends inherits uses requires blocks"
    " precedes owns sends before onto feeds triggers wraps points"
)
"""Words that join two names in one direction."""

TURNS = _set("by from behind after")
"""Words with which a sentence may name the two ends of a relation the other way round."""

DEMANDING = _set(
    "always only must should make sure please want wants need needs give gives even thing things"
    " something anything everything when before every each any with them myself your yours user"
    " users asked asks ask instruction instructions request requests requested session rest exactly"
    " exact this that these those will would than what does into onto over about one ones send know"
    " think finish allowed keep ensure prefer preferred stay constraint constraints reply replies"
    " response responses answer answers answering respond"
)
"""Words that any demand may have: they do not say which one it is."""

ASKING = _set("who what which where when how after did does was were exact")
"""Words that ask: they lead to no answer."""

ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ies", "ied", "ers", "ed", "er", "es", "ly", "s",
    "e", "y",
)  # fmt: skip
"""Endings of grammar, the longest first."""

DIGITS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
"""Number words with their digits."""
