"""What peers do whose engines no package of Python holds, each as a small function of our own
making.

Each says what its system leaves of a history, by the rules and numbers of its source as named in
the preset's file. `ours` names the rules of the workbench that it follows instead of its own: see
`rules.RULES`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set

from peers.case import Case, Decision

from workbench.engine.transcript.message import Message, counted_text, is_real_user, plain_text

Rules = Set[str]


def is_prompt(message: Message, ours: Rules) -> bool:
    """Whether a turn begins there: at any message of the user's role, by our rule only at a
    person's.
    """
    return is_real_user(message) if "people" in ours else message.role == "user"


def with_newest(case: Case, whole: frozenset[str], ours: Rules) -> frozenset[str]:
    """By our rule the newest prompt stays."""
    return whole | case.newest if "newest" in ours else whole


# pi
# ------------------------------------------------------------------------------------------------------------------


def pi_size(message: Message) -> int:
    """Characters by four, rounded up; a picture is 4,800."""
    chars = 0
    for block in message.blocks:
        if block.type == "tool_call":
            chars += len(block.name) + len(
                json.dumps(block.arguments, ensure_ascii=False, separators=(",", ":"))
            )
        elif block.type == "image":
            chars += 4_800 if message.role != "assistant" else 0
        else:
            chars += len(block.text)
    return -(-chars // 4)


def pi(case: Case, ours: Rules) -> Decision:
    """Back from the newest message until 20,000 tokens are there, then on to the next that is no
    tool result.
    """
    messages, n = case.messages, len(case.messages)
    sizes = [*map(pi_size, messages)]
    keep = min(20_000, case.half) if "room" in ours else 20_000
    valid = [i for i in range(case.start, n) if messages[i].role != "tool"]
    total, cut = 0, valid[0] if valid else case.start
    for i in range(n - 1, case.start - 1, -1):
        total += sizes[i]
        if total >= keep:
            cut = next((at for at in valid if at >= i), n if "end" in ours else cut)
            break
    begins = next(
        (i for i in range(min(cut, n - 1), case.start - 1, -1) if is_prompt(messages[i], ours)),
        None,
    )
    split = cut < n and not is_prompt(messages[cut], ours) and begins is not None
    stay = case.newest if "newest" in ours else frozenset[str]()
    if begins is not None and case.ids(range(begins, cut)) <= stay:
        split = False  # nothing of the turn's start goes
    if (
        begins is not None
        and "carried" in ours
        and case.start
        and case.ids(range(case.start, begins)) <= stay
    ):
        split = False
    if "little" in ours and case.answer < 192:
        split = False
    return Decision(with_newest(case, case.ids(range(cut, n)), ours), split=split)


# Gemini CLI
# ----------------------------------------------------------------------------------------------------------

GEMINI_RESULTS, GEMINI_LINES, GEMINI_CHARS = 50_000, 30, 40_000
GEMINI_CUT = "[older output, cut to its end; full text under ref=0123456789abcdef]"


def gemini_tokens(text: str) -> int:
    """A quarter of the ASCII characters and 1.3 of each other; of a long text a quarter of all."""
    if len(text) > 100_000:
        return len(text) // 4
    plain = len(text.encode("ascii", "ignore"))
    return int(0.25 * plain + 1.3 * (len(text) - plain))


def gemini_short(text: str, ours: Rules) -> str:
    """A result over the budget: a fifth of 40,000 characters and its end; by our rule its last
    thirty lines.
    """
    if "lines" in ours:
        lines = text.split("\n")
        return (
            text
            if len(lines) <= GEMINI_LINES or text.startswith(GEMINI_CUT[:14])
            else "\n".join([GEMINI_CUT, *lines[-GEMINI_LINES:]])
        )
    head = GEMINI_CHARS // 5
    return (
        text
        if len(text) <= GEMINI_CHARS
        else f"{text[:head]}\n[cut]\n{text[head - GEMINI_CHARS :]}"
    )


def gemini_cli(case: Case, ours: Rules) -> Decision:
    """Old results are cut; then the first user message behind 70 % of the characters begins what
    stays.
    """
    messages, n = case.messages, len(case.messages)
    texts, used, rewritten = [counted_text(message) for message in messages], 0, set[int]()
    for i in range(n - 1, -1, -1):
        if messages[i].role == "tool":
            size = case.sizes[i] if "sizes" in ours else gemini_tokens(texts[i])
            short = texts[i] if used + size <= GEMINI_RESULTS else gemini_short(texts[i], ours)
            if short != texts[i]:
                rewritten.add(i)
                texts[i], size = (
                    short,
                    size * len(short) // len(texts[i]) if "sizes" in ours else gemini_tokens(short),
                )
            used += size
    lengths = [
        len(text) if "texts" in ours else gemini_length(m, text)
        for m, text in zip(messages, texts, strict=True)
    ]
    before, newest, cut = 0, 0, None
    for i, message in enumerate(messages):
        if message.role in ("user", "summary"):
            if before >= 0.7 * sum(lengths):
                cut = i
                break
            newest = i
        before += lengths[i]
    if cut is None:
        spoke_last = messages[-1].role == "assistant" and not messages[-1].calls
        cut = n if spoke_last else newest
    if "larger" in ours and case.pruned:
        cut = 0
    kept = with_newest(case, case.ids(i for i in range(cut, n) if i not in rewritten), ours)
    return Decision(kept, case.ids(i for i in range(cut, n) if i in rewritten) - kept)


def gemini_length(message: Message, text: str) -> int:
    """The characters of a message as JSON, about: its texts escaped, and the names around each
    part.
    """
    return len(json.dumps(text, ensure_ascii=False)) + 30 + 25 * len(message.blocks)


# Codex
# ---------------------------------------------------------------------------------------------------------------


CODEX_PREFIXES = (
    "# agents.md instructions",
    "<user_instructions>",
    "<environment_context>",
    "<turn_aborted>",
    "<skill>",
)
"""Begin what Codex itself puts into a message of the user's."""


def codex_local(case: Case, ours: Rules) -> Decision:
    """The newest user messages of 20,000 tokens, a token being four bytes; the first that does
    not fit is cut.
    """
    left = min(20_000, case.half) if "room" in ours else 20_000
    whole, cut = list[int](), list[int]()
    for i in range(len(case.messages) - 1, -1, -1):
        message = case.messages[i]
        if message.role != "user" or (message.synthetic and "people" in ours) or left <= 0:
            continue
        if plain_text(message).lstrip().lower().startswith(CODEX_PREFIXES):
            continue
        size = case.sizes[i] if "sizes" in ours else -(-len(plain_text(message).encode()) // 4)
        if size > left and not ("newest" in ours and message.id in case.newest):
            cut.append(i)
            break
        pictured = any(block.type == "image" for block in message.blocks)
        (cut if pictured and "pictures" not in ours else whole).append(i)
        left -= size
    return Decision(case.ids(whole), case.ids(cut))


# opencode
# ------------------------------------------------------------------------------------------------------------


OPENCODE_ERASED = "[old tool result erased]"


def opencode_size(messages: Sequence[Message]) -> int:
    """A quarter of the characters of the messages as JSON."""
    said = [
        [b.arguments if b.type == "tool_call" else b.text for b in m.blocks if b.type != "image"]
        for m in messages
    ]
    parts = [{"role": m.role, "content": texts} for m, texts in zip(messages, said, strict=True)]
    return round(len(json.dumps(parts, ensure_ascii=False, separators=(",", ":"))) / 4)


def opencode(case: Case, ours: Rules) -> Decision:
    """The newest turns that fit 2,000 to 15,000 tokens, and of the next one the end that still
    fits.
    """
    erased = opencode_prune(case, ours) if "prune" in ours else frozenset[int]()
    everything = range(len(case.messages))
    if "prune" in ours and case.pruned:
        return Decision(case.ids(set(everything) - erased), case.ids(erased))
    budget = min(max((case.window - min(32_000, case.window // 4)) // 4, 2_000), 15_000)
    budget = min(budget, case.half) if "room" in ours else budget
    messages = case.messages
    steps = [i for i in everything if i >= case.start and messages[i].role != "tool"]
    cut = len(messages)
    for begin in reversed(steps):
        rest = range(begin, len(messages))
        size = (
            sum(case.sizes[i] for i in rest) if "sizes" in ours else opencode_size(messages[begin:])
        )
        if size > budget:
            break
        cut = begin
    kept = case.ids(i for i in range(cut, len(messages)) if i not in erased)
    return Decision(with_newest(case, kept, ours), case.ids(i for i in erased if i >= cut))


def opencode_prune(case: Case, ours: Rules) -> frozenset[int]:
    """Results before the newest two turns and beyond 40,000 tokens of such, if more than 20,000
    tokens go.
    """
    turns, total, old = 0, 0, list[int]()
    for i in range(len(case.messages) - 1, -1, -1):
        message = case.messages[i]
        turns += is_real_user(message)
        if message.role == "summary":
            break
        is_old = turns >= 2 and message.role == "tool" and not message.is_error
        if is_old and message.name != "skill":
            if plain_text(message) == OPENCODE_ERASED:
                break
            total += case.sizes[i]
            old += [i] if total > 40_000 else []
    if "smaller" in ours:
        old = [i for i in old if case.sizes[i] > case.size(OPENCODE_ERASED)]
    return frozenset(old) if sum(case.sizes[i] for i in old) > 20_000 else frozenset()


# OpenHands
# -----------------------------------------------------------------------------------------------------------


def events(case: Case, ours: Rules) -> list[int]:
    """The message of each event: one for a message, but one for each call; by our rule always
    one.
    """
    calls = [
        len(m.calls) if m.role == "assistant" and "events" not in ours else 1 for m in case.messages
    ]
    return [i for i, n in enumerate(calls) for _ in range(max(n, 1))]


def observation_mask(case: Case, ours: Rules) -> Decision:
    """Observations before the last hundred events are masked."""
    line = events(case, ours)
    old = set(line[: max(len(line) - 100, 0)]) - set(line[max(len(line) - 100, 0) :])
    masked = {i for i in old if case.messages[i].role == "tool"}
    masked = {i for i in masked if plain_text(case.messages[i]) != "<MASKED>"}
    masked = {i for i in masked if "smaller" not in ours or case.sizes[i] > case.size("<MASKED>")}
    return Decision(case.ids(set(range(len(case.messages))) - masked), case.ids(masked))


def openhands_rolling(case: Case, ours: Rules) -> Decision:
    """The first four events and the newest, which with the summary are 40, or half of the window by
    tokens.

    No batch of calls and no loop is parted.
    """
    line, n = events(case, ours), len(case.messages)
    begin = whole_place(case, line, sum(place < 4 for place in case.places), ours)
    prompt = sum(
        size for m, size in zip(case.messages, case.sizes, strict=True) if m.id in case.newest
    )
    if "first" in ours and sum(case.sizes[:begin]) > case.half / 2 - prompt / 4:
        begin = 0
    at, length = 0, len(line) + case.length - n
    if length > 80:
        at = max(len(line) - 35, 0)
    if case.reason != "events":
        rests = [sum(case.sizes[i:]) for i in range(n + 1)]
        most = (
            case.half
            if "room" in ours
            else case.window // 2 - (case.tokens - rests[0]) - sum(case.sizes[:begin])
        )
        place = next(i for i, rest in enumerate(rests) if rest <= max(most, 0))
        at = max(at, line.index(place) if place < n else len(line))
    end = whole_place(case, line, at, ours)
    return Decision(
        with_newest(case, case.ids(set(range(n)) - set(range(begin, max(begin, end)))), ours)
    )


def whole_place(case: Case, line: Sequence[int], at: int, ours: Rules) -> int:
    """The first message from this event on that begins no result, and no loop that began with
    thoughts.
    """
    i = line[at] if at < len(line) else len(case.messages)
    if 0 < at < len(line) and line[at - 1] == i:
        i += 1
    loops = in_loops(case.messages) if "loops" not in ours else [False] * len(case.messages)
    while case.unparted(i) != i or (i < len(case.messages) and loops[i]):
        i += 1
    return i


def in_loops(messages: Sequence[Message]) -> list[bool]:
    """Whether each message lies within a loop of calls and results that an answer with thoughts
    began.
    """
    inside, flags = False, []
    for message in messages:
        acts = message.role == "tool" or (message.role == "assistant" and bool(message.calls))
        thinks = message.role == "assistant" and any(
            block.type == "thinking" for block in message.blocks
        )
        flags.append(acts and inside and not thinks)
        inside = acts and (inside or thinks)
    return flags
