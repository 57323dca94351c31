"""Random conversations with everything that ever broke a compaction engine."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from profiles import FULL
from workbench import AssistantMessage, Context, Summary, Text, ToolCall, UserMessage
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import (
    Image,
    Message,
    SystemMessage,
    Thinking,
    ToolResult,
    chars_per_token,
    plain_text,
)

CASES = 400 if FULL else 20
"""Random conversations for each preset and each stage."""
FIRST = 40
"""Of those: a rule that a preset is known to break breaks only in conversations after these."""

SHARES = (0.0, 0.02, 0.05, 0.2, 0.5, 0.9)

WORDS = (
    "parse", "src/app/main.py", "token", "1.4.2", "--force", "never", "always", "limit=4096", "sha256:9f8e7d6c", "rm",
    "TypeError", "https://a.example/x?y=1", "日本語のテキスト", "한국어", "é", "e\u0301", "👍🏽", "🇩🇪🇫🇷",
    "👩\u200d👩\u200d👧\u200d👦", "\ud83d\ude00", "\ud800", "\t", "\n", "</conversation>", "[User]:", "{0}", "{1}",
)  # fmt: skip
TOOLS = ("read", "edit", "bash", "mcp__files__read_file", "write_file")


def words(rng: random.Random, most: int) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(0, most)))


def length(rng: random.Random) -> int:
    """Mostly short, sometimes long enough for a stage that looks for long results."""
    return rng.choice((0, 1, 3, 10, 10, 40, 40, 120, 400)) if rng.random() > 0.01 else 5_000


def messages(rng: random.Random) -> list[Message]:
    """0 to about 40 messages: mostly turns as agents have them, with faults strewn in."""
    made: list[Message] = []
    turns = rng.choice((0, 0, 1, 1, 2, 3, 5, 8))
    faults = rng.random() < 0.5
    if rng.random() < 0.6:
        made.append(
            SystemMessage(
                id="s", blocks=(Text("rules " + words(rng, 30)),), pinned=rng.random() < 0.9
            )
        )
    if rng.random() < 0.1:
        made.append(_earlier(rng, len(made)))
    only_tools = rng.random() < 0.1
    for _ in range(turns):
        if not only_tools:
            made += [_user(rng, len(made) + i) for i in range(rng.choice((1, 1, 1, 2)))]
        for _ in range(rng.choice((0, 1, 2, 5, 9))):
            made += _step(rng, len(made), faults)
        if rng.random() < 0.7:
            made.append(
                AssistantMessage(id=f"m{len(made)}", blocks=(Text(words(rng, length(rng))),))
            )
    if faults:
        _damage(rng, made)
    if rng.random() < 0.15:
        made.append(_calls(rng, len(made) + 10, faults, "open"))
    return made


def context(rng: random.Random) -> Context:
    said = messages(rng)
    count: Callable[[Message], int] = rng.choice((chars_per_token, chars_per_token, by_bytes))
    return Context.of(said, count, overhead=rng.choice((0, 0, 50, 5_000)))


def by_bytes(message: Message) -> int:
    """A counter that counts other than by characters: bytes of all text, and nothing for frames."""
    return len(plain_text(message).encode("utf-8", "surrogatepass")) // 3 + sum(
        len(call.arguments_json()) for call in getattr(message, "calls", ())
    )


def _user(rng: random.Random, n: int) -> Message:
    pinned, name = rng.random() < 0.06, rng.choice(("", "", "", "", "memory", "skill:tests", "bob"))
    pictures = (Image(tokens=rng.choice((85, 1_200))),) if rng.random() < 0.05 else ()
    blocks = (Text(words(rng, length(rng))), *pictures) if rng.random() > 0.03 else ()
    return UserMessage(
        id=f"m{n}", blocks=blocks, pinned=pinned, name=name, synthetic=rng.random() < 0.1
    )


def _calls(rng: random.Random, n: int, faults: bool, mark: str) -> AssistantMessage:
    blocks: list[Text | Thinking | ToolCall] = []
    if rng.random() < 0.2:
        blocks.append(Thinking(words(rng, 30), signature=rng.choice(("", "sealed=="))))
    if rng.random() < 0.5:
        blocks.append(Text(words(rng, 20)))
    reused = faults and rng.random() < 0.15
    for i in range(rng.choice((1, 1, 1, 2, 4))):
        id = f"call_{i}" if reused else f"{mark}{n}-{i}"
        arguments = {
            "path": rng.choice(("a.py", "b.py", "./c.py")),
            "text": words(rng, length(rng) // 4),
        }
        blocks.append(
            ToolCall(
                id,
                rng.choice(TOOLS),
                rng.choice((arguments, {"path": "a.py"}, {"n": [1, {"x": "y"}]})),
            )
        )
    return AssistantMessage(id=f"m{n}", blocks=tuple(blocks), pinned=rng.random() < 0.03)


def _step(rng: random.Random, n: int, faults: bool) -> list[Message]:
    message = _calls(rng, n, faults, "c")
    results: list[Message] = []
    for i, call in enumerate(message.calls):
        text = (
            words(rng, length(rng))
            if rng.random() > 0.1
            else "the same result again and again " * 5
        )
        pictures = (Image(),) if rng.random() < 0.03 else ()
        results.append(
            ToolResult(
                id=f"m{n + 1 + i}",
                call_id=call.id,
                name=call.name,
                blocks=(Text(text), *pictures),
                is_error=rng.random() < 0.1,
                pinned=rng.random() < 0.03,
            )
        )
    return [message, *results]


def _earlier(rng: random.Random, n: int) -> Message:
    return Summary(
        id=f"m{n}",
        text="## Goal\n" + words(rng, length(rng)),
        replaces=("gone-1", "gone-2"),
        files=FileOps(("old.py",), ("changed.py",)),
        lead="[Summary]\n",
        pinned=rng.random() < 0.05,
    )


def _damage(rng: random.Random, made: list[Message]) -> None:
    """Results lost, doubled, out of order, or of calls that nobody made."""
    for n in range(rng.randint(1, 4)):
        results = [i for i, message in enumerate(made) if isinstance(message, ToolResult)]
        if not results:
            break
        i = rng.choice(results)
        kind = rng.choice(("lost", "doubled", "moved", "orphan", "swapped"))
        if kind == "lost":
            del made[i]
        elif kind == "doubled":
            twin = made[i]
            assert isinstance(twin, ToolResult)
            made.insert(rng.randint(i, len(made)), replace(twin, id=f"twin-{n}", pinned=False))
        elif kind == "moved":
            made.insert(rng.randint(0, len(made) - 1), made.pop(i))
        elif kind == "orphan":
            stray = ToolResult(id=f"stray-{n}", call_id="nobody", blocks=(Text(words(rng, 40)),))
            made.insert(rng.randint(0, len(made)), stray)
        elif i + 1 < len(made):
            made[i], made[i + 1] = made[i + 1], made[i]
