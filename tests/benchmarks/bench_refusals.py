"""Lets a provider with a hidden tokenizer refuse requests, and measures what the next request
keeps.

    python tests/benchmarks/bench_refusals.py [--presets pi opal] [--all]

Each run is one agent whose requests grow until the provider refuses one for its size. The provider
counts .25 to 1.5 tokens a character and pictures by their bytes, and words its refusals in its own
way. Runs are all presets, six scripts and three kinds of knowledge: usage reports at each turn
(`known`), a number in the refusal alone (`unknown`), neither (`none`). Tokenizers, wordings and
configured windows take turns; `--all` drives each with every tokenizer. Goals: in 99 % the next
request fits, takes at least 40 % of the target, and holds the newest result.

Figures of 2026-11-27, all presets: 360 runs, 310 refused requests. The next request fits and holds
the newest result in all, and takes 40 % of the target in 308 (the others 20 and 31 %). Before numbers
were taken as a scale, 47 of 88 refused requests of pipeline, truncate and pi met all three goals.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from live.talk import Record
from preset_names import BUILTIN_PRESETS

from workbench import Compactor, Completion, SummaryRequest
from workbench.live.events import CompactionStarted

WINDOW = 40_000
STEPS = 400
"""After which a run without a refusal is given up."""
REFUSALS = 2
"""After which a run ends."""
GOAL = 0.4
TOKENIZERS = (0.25, 0.5, 1.0, 1.5)
"""Tokens a character."""
PICTURE_BYTES = 12_000
TOKENS_PER_BYTE = 0.33
TEXTS = {
    "english": (
        "the parser reads each entry of the cache before it writes an index that others may use "
    ),
    "chinese": "解析器在读取缓存文件时会返回错误的偏移量因此必须先检查索引再写入数据库",
    "russian": (
        "разбор читает каждую запись прежде чем он пишет указатель которым пользуются другие "
    ),
    "hindi": "पार्सर हर प्रविष्टि को पढ़ता है और फिर सूची में लिखता है जिसे बाकी सब देखते हैं ",
    "hex": " ".join(f"{n * 2654435761 % 2**32:08x}" for n in range(1, 40)),
    "pictures": "the screenshot shows a form with two fields and a button that does nothing ",
}
STATED = (
    "This request holds {used} tokens, and this deployment takes {limit} tokens at most.",
    "context size exceeded: {used} tokens > {limit}",
    "Your prompt has {used} tokens, which exceeds the context window of {limit} tokens.",
)
UNSTATED = (
    "The input is too long for this model.",
    "context window exceeded (4012)",
    "prompt is too long",
)
KNOWLEDGE = ("known", "unknown", "none")


@dataclass(frozen=True, slots=True)
class Case:
    """One run."""

    preset: str
    script: str
    knowledge: str
    tokens_per_char: float
    configured: int
    wording: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one refused request.

    Attributes:
        share: tokens of the next request, by the provider's count, as a share of the target.
        fits: whether the provider takes it.
        newest: whether it holds the newest result.
    """

    share: float
    fits: bool
    newest: bool

    @property
    def is_good(self) -> bool:
        """Whether it meets all three goals."""
        return self.fits and self.newest and self.share >= GOAL


class Provider:
    """Counts requests with its own tokenizer, and refuses those that are too large."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def tokens(self, messages: Iterable[Record]) -> int:
        """Tokens of a request."""
        return sum(map(self._message_tokens, messages))

    def refusal(self, used: int) -> str:
        """The words of a refusal."""
        if self.case.knowledge == "none":
            return UNSTATED[self.case.wording % len(UNSTATED)]
        return STATED[self.case.wording % len(STATED)].format(used=used, limit=WINDOW)

    def _message_tokens(self, message: Record) -> int:
        chars = len(json.dumps(message.get("tool_calls", []), ensure_ascii=False))
        content = message["content"]
        parts: list[Record] = content
        if isinstance(content, str):
            parts = [{"text": content}]
        pictures = 0.0
        for part in parts:
            if "image_url" in part:
                pictures += TOKENS_PER_BYTE * len(part["image_url"]["url"]) * 3 / 4
            else:
                chars += len(part["text"])
        return int(self.case.tokens_per_char * chars + pictures) + 4


class Writer:
    """A model that writes short summaries."""

    name = "writer"
    at_once = True

    def complete(self, request: SummaryRequest, /) -> Completion:
        """A summary of a few lines."""
        return Completion(
            text="The parser was read and two of its tests were mended. " * 8, model=self.name
        )


def conversation(case: Case) -> Iterator[list[Record]]:
    """An agent's messages, one step more at a time."""
    rng = random.Random(f"{case.preset} {case.script}")
    messages: list[Record] = [
        {"role": "user", "content": "Mend the parser so that all tests pass."}
    ]
    for step in range(STEPS):
        if case.script == "pictures":
            messages.append(_screenshot(rng))
        call = {
            "id": f"call_{step}",
            "type": "function",
            "function": {"name": "read", "arguments": "{}"},
        }
        messages.append(
            {"role": "assistant", "content": _text(case, rng, 20), "tool_calls": [call]}
        )
        size = rng.choice((60, 200, 400, 900))
        result = f"result {step}: {_text(case, rng, size)}"
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": result})
        yield messages


def _text(case: Case, rng: random.Random, words: int) -> str:
    text = TEXTS[case.script]
    if case.script == "chinese":
        return "".join(rng.choices(text, k=words))
    return " ".join(rng.choices(text.split(), k=words))


def _screenshot(rng: random.Random) -> Record:
    data = base64.b64encode(rng.randbytes(PICTURE_BYTES)).decode()
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return {"role": "user", "content": [{"type": "text", "text": "This is the screen."}, picture]}


def driven(case: Case) -> list[Outcome]:
    """What became of each refused request of a run."""
    provider = Provider(case)
    live = Compactor(case.preset, model=Writer(), window=case.configured)
    outcomes: list[Outcome] = []
    for messages in conversation(case):
        sent = live.before_request(messages)
        used = provider.tokens(sent)
        if used > WINDOW:
            outcomes.append(_outcome(live, provider, used, messages[-1]))
            if len(outcomes) == REFUSALS:
                break
        elif case.knowledge == "known":
            live.report_usage({"prompt_tokens": used, "completion_tokens": 50})
    return outcomes


def _outcome(live: Compactor, provider: Provider, used: int, newest: Record) -> Outcome:
    events = len(live.events)
    retry = live.on_error({"status_code": 400, "message": provider.refusal(used)})
    if retry is None:
        return Outcome(1.0, fits=False, newest=True)
    targets = [
        event.target for event in live.events[events:] if isinstance(event, CompactionStarted)
    ]
    kept_by_system = live.preset.host.overflow_keep
    if kept_by_system is not None:
        targets.append(int(kept_by_system * WINDOW))
    target = min([*targets, WINDOW // 2])
    tokens = provider.tokens(retry.messages)
    return Outcome(tokens / max(target, 1), tokens <= WINDOW, newest in retry.messages)


def cases(presets: Sequence[str], *, every_tokenizer: bool = False) -> Iterator[Case]:
    """All runs."""
    for number, (preset, script, knowledge) in enumerate(product(presets, TEXTS, KNOWLEDGE)):
        turn = number + number // len(TOKENIZERS)  # so that each script meets each tokenizer
        tokenizers = TOKENIZERS if every_tokenizer else (TOKENIZERS[turn % len(TOKENIZERS)],)
        for tokens_per_char in tokenizers:
            configured = WINDOW if turn % 2 else 8 * WINDOW // 5
            yield Case(preset, script, knowledge, tokens_per_char, configured, turn // 2)


def main() -> None:
    """Print the figures, by preset, script and knowledge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--presets", nargs="*", default=[*BUILTIN_PRESETS])
    parser.add_argument("--all", action="store_true", help="every tokenizer in each combination")
    parser.add_argument("--bad", action="store_true", help="print each outcome that misses a goal")
    options = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    runs = 0
    for case in cases(options.presets, every_tokenizer=options.all):
        runs += 1
        for outcome in driven(case):
            for group in ("all", case.preset, case.script, case.knowledge):
                outcomes[group].append(outcome)
            if options.bad and not outcome.is_good:
                print(case, outcome)
    print(f"{runs} runs")
    for group, members in outcomes.items():
        good = sum(outcome.is_good for outcome in members)
        fits = sum(outcome.fits for outcome in members)
        newest = sum(outcome.newest for outcome in members)
        enough = sum(outcome.share >= GOAL for outcome in members)
        print(
            f"{group:18} refused {len(members):4}, good {good}, fits {fits}, enough {enough},"
            f" newest result {newest}"
        )


if __name__ == "__main__":
    main()
