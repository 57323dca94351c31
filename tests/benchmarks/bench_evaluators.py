"""Prints how long the evaluation of a very long recording takes: 59 MB, 35,000 records, 40 recorded compactions.

Usage: python tests/benchmarks/bench_evaluators.py [--megabytes 59] [--jobs 2] [--peers FOLDER]
    [--only retention|natural|growth|peers]

The recording is generated, in the format of Claude Code and in the shape of the largest one that other evaluators were
run on: calls and results of some 1,800 bytes a record, and every 1/41 of the way a compaction with a summary. Each part
runs in a process of its own, so that its peak memory is its own:

- `retention`: read the file, extract its entities, and hold the context after each recorded compaction against what was
  needed later.
  Goal: 10 s and 300 MB.
- `natural`: replay it under eight presets with every offline metric. Goal: 90 s on two cores.
- `growth`: counting, extraction, a replay and all metrics of a session of 1 M and of 10 M tokens, each in a process of
  its own. Goal: at most 11 times.
- `peers`: what other audits of recorded compactions take for the same file, where they are installed
  (`evaluators-requirements.txt`): in the folder of programs that `--peers` names, or on the path.

Times are CPU time, each also as a ratio to tiktoken's for the same text, taken just before: on a busy machine the
ratios are steadier than the seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from workbench.datasets.generator import generate
from workbench.experiment.compare import compare
from workbench.experiment.prepared import metric_input, prepared, replay
from workbench.importers.importer import load
from workbench.metrics.builtin import BUILTIN
from workbench.metrics.index import Index
from workbench.metrics.view import view
from workbench.models.tokenizer import loaded
from workbench.replay.matched import recorded_contexts
from workbench.replay.sizing import Sizing
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolResult,
    chars_per_token,
    counted_text,
    plain_text,
)

COMPACTIONS = 40
JOINED = 3
FILES = 600
"""Files that the recorded agent reads: as generated, each look would be at one more, 46,000 in all."""
WINDOW = 200_000
PEERS = {"ctxdrift": (), "nauro-ballast": ("match",)}
PRESETS = ("none", "truncate", "summarize", "pipeline", "opal", "clear_tool_uses", "observation_mask", "claude_code")


def longer(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with up to `JOINED` looks in a row as one: so long are the results in the peers' recording."""
    waiting: list[tuple[AssistantMessage, ToolResult]] = []
    call: AssistantMessage | None = None
    for message in messages:
        if isinstance(message, AssistantMessage) and message.calls:
            call = message
        elif isinstance(message, ToolResult) and call is not None:
            waiting.append((call, message))
            if len(waiting) == JOINED:
                yield from _joined(waiting)
                waiting.clear()
        else:
            yield from _joined(waiting)
            waiting.clear()
            yield message
    yield from _joined(waiting)


def _joined(looks: Sequence[tuple[AssistantMessage, ToolResult]]) -> Iterator[Message]:
    """One call with all words and arguments, and one result with all lines, of a file that is read more than once."""
    if not looks:
        return
    call, result = looks[0]
    n = zlib.crc32(call.id.encode()) % FILES
    said = [block for one, _ in looks for block in one.blocks if isinstance(block, Text)]
    arguments = {name: value for one, _ in looks for name, value in one.calls[0].arguments.items()}
    arguments |= {"path": f"src/part{n // 20}/unit{n}.py"}
    yield replace(call, blocks=(*said, replace(call.calls[0], arguments=arguments)))
    yield replace(result, blocks=(Text("\n".join(plain_text(one) for _, one in looks)),))


def records(messages: Sequence[Message]) -> Iterator[dict[str, object]]:
    """The messages as lines of a Claude Code recording, with a compaction every 1/41 of the way."""
    stretch = max(1, len(messages) // (COMPACTIONS + 1))
    before: str | None = None
    done = 0
    common = {
        "sessionId": "long", "cwd": "/home/user/long", "version": "2.1.0", "isSidechain": False, "gitBranch": "main",
        "userType": "external", "entrypoint": "cli", "slug": "long-quartz-fjord",
    }  # fmt: skip
    for i, message in enumerate(messages):
        if message.role == "system":
            continue
        if done < min(COMPACTIONS, i // stretch) and isinstance(message, AssistantMessage):
            done += 1
            yield {
                "type": "system", "subtype": "compact_boundary", "uuid": f"b{i}", "parentUuid": None,
                "logicalParentUuid": before, "content": "Conversation compacted", **common,
                "compactMetadata": {"trigger": "auto", "preTokens": 160_000},
            }  # fmt: skip
            summary = (
                "This session is being continued from a previous conversation that ran out of context.\n"
                + "\n".join(
                    counted_text(one)[:300]
                    for one in messages[max(0, i - stretch) : i]
                    if one.role in ("user", "assistant")
                )[-20_000:]
            )
            yield {
                "type": "user", "uuid": f"s{i}", "parentUuid": f"b{i}", "isCompactSummary": True, **common,
                "message": {"role": "user", "content": summary},
            }  # fmt: skip
            before = f"s{i}"
        yield {**common, "uuid": message.id, "parentUuid": before, **_said(message)}
        before = message.id


def _said(message: Message) -> dict[str, object]:
    if isinstance(message, ToolResult):
        text = "".join(block.text for block in message.blocks if isinstance(block, Text))
        block = {"type": "tool_result", "tool_use_id": message.call_id, "content": text}
        return {"type": "user", "message": {"role": "user", "content": [block]}}
    blocks: list[dict[str, object]] = []
    for one in message.blocks:
        if isinstance(one, Text):
            blocks.append({"type": "text", "text": one.text})
        elif isinstance(one, ToolCall):
            blocks.append({"type": "tool_use", "id": one.id, "name": one.name, "input": dict(one.arguments)})
    if isinstance(message, AssistantMessage):
        inside = {"id": f"msg_{message.id}", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks}
        return {"type": "assistant", "message": inside}
    return {"type": "user", "message": {"role": "user", "content": blocks}}


def write(path: Path, megabytes: float) -> None:
    """Generate the recording."""
    made = generate(int(megabytes * 206_500), seed=5)
    with path.open("w", encoding="utf-8") as out:
        for n, record in enumerate(records(tuple(longer(made.session.messages)))):
            stamp = f"2026-01-{1 + n // 86_400:02d}T{n // 3_600 % 24:02d}:{n // 60 % 60:02d}:{n % 60:02d}.000Z"
            out.write(json.dumps({**record, "timestamp": stamp}) + "\n")


def tiktoken_seconds(path: Path) -> str:
    """Processor time of tiktoken alone for the recording's text, and its tokens."""
    (session,) = load(path)
    texts = [counted_text(message) for message in session.messages]
    encoding = loaded()
    start = process_time()
    tokens = sum(len(encoding.encode_ordinary(text)) for text in texts)
    return json.dumps((process_time() - start, tokens))


def retention(path: Path) -> str:
    """Retention at every recorded compaction, from the file."""
    (session,) = load(path)
    index = Index(session.messages, session.cwd)
    sizes = Sizing.of(session, [chars_per_token(message) for message in session.messages], chars_per_token)
    kept = needed = 0.0
    really = recorded_contexts(session, sizes)
    for at, one in really.items():
        seen = view(session, one.after)
        found = index.demand(at).retained(seen.kept, seen.texts)
        kept, needed = kept + float(found.bound.sum()), needed + found.size
    return (
        f"{len(session.messages):,} messages, {len(really)} boundaries, {kept:.0f} of {needed:.0f} needed things kept"
    )


def natural(path: Path, jobs: int) -> str:
    """Eight presets with every offline metric."""
    with tempfile.TemporaryDirectory() as folder:
        run = compare(path, strategies=PRESETS, window=WINDOW, shares=(), jobs=jobs, out=folder, quiet=True)
        scores = run.scores
        scores = scores[(scores["metric"] == "exam_recall") & (scores["mode"] == "natural")]
        told = {str(row.strategy): round(float(row.value), 2) for row in scores.dropna(subset="value").itertuples()}
        return f"{len(run.compactions)} compactions, {run.failed} failed replays, recall {told}"


def grown(tokens: int) -> str:
    """A session of so many tokens, counted, extracted, replayed and scored: seconds of CPU time, and tiktoken's."""
    session = generate(tokens, seed=1).session
    encoding = loaded()
    start = process_time()
    for message in session.messages:
        encoding.encode_ordinary(counted_text(message))
    alone = process_time() - start
    start = process_time()
    ready = prepared(session, WINDOW)
    done = metric_input(ready, replay(ready, "pipeline"))
    for metric in BUILTIN.values():
        metric.score(done)
    return json.dumps((process_time() - start, alone))


def growth() -> str:
    """How much longer a session takes that is ten times as long."""
    small, large = (json.loads(json.loads(_run(f"grown-{n}", Path(), 1))["what"]) for n in (1_000_000, 10_000_000))
    return (
        f"1 M tokens {small[0]:.1f} s, 10 M tokens {large[0]:.1f} s: {large[0] / small[0]:.1f} times"
        f" ({small[0] / small[1]:.2f} and {large[0] / large[1]:.2f} x tiktoken)"
    )


def peer(name: str, path: Path, folder: str) -> str:
    """Another audit over the same file, alone in its process."""
    command = shutil.which(name, path=folder or None)
    if command is None:
        return "not installed"
    words = [command, *PEERS[name], str(path)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    return f"ended with {done.returncode}, {len(done.stdout):,} characters of output"


def main() -> None:
    """Print the figures."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--megabytes", type=float, default=59.0)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--only", default="")
    asked.add_argument("--peers", default="")
    asked.add_argument("--part", default="")
    asked.add_argument("--file", default="")
    given = asked.parse_args()
    if given.part:
        _part(given.part, Path(given.file), given.jobs, given.peers)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.jsonl"
        write(path, given.megabytes)
        lines = sum(1 for _ in path.open(encoding="utf-8"))
        alone, tokens = json.loads(json.loads(_run("tiktoken", path, 1))["what"])
        print(f"{path.stat().st_size / 1e6:.1f} MB, {lines:,} records, {tokens:,} tokens; tiktoken {alone:.1f} s CPU")
        ours = 0.0
        for part in ("retention", "natural", "growth", *PEERS):
            if given.only not in ("", part, "peers" if part in PEERS else ""):
                continue
            alone, _ = json.loads(json.loads(_run("tiktoken", path, 1))["what"])
            told = json.loads(_run(part, path, given.jobs, given.peers))
            ours = told["cpu"] if part == "retention" else ours
            beside = f" = {told['cpu'] / ours:.1f} x our retention" if part in PEERS and ours else ""
            print(
                f"{part}: {told['wall']:.1f} s by the clock, {told['cpu']:.1f} s CPU = {told['cpu'] / alone:.2f} x"
                f" tiktoken ({alone:.1f} s){beside}, peak {told['peak']:.0f} MB; {told['what']}",
                flush=True,
            )


def _run(part: str, path: Path, jobs: int, peers: str = "") -> str:
    words = [sys.executable, __file__, "--part", part, "--file", str(path), "--jobs", str(jobs), "--peers", peers]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _part(part: str, path: Path, jobs: int, peers: str) -> None:
    wall = perf_counter()
    if part in PEERS:
        what = peer(part, path, peers)
    elif part.startswith("grown-"):
        what = grown(int(part.removeprefix("grown-")))
    else:
        what = {
            "tiktoken": lambda: tiktoken_seconds(path), "retention": lambda: retention(path),
            "natural": lambda: natural(path, jobs), "growth": growth,
        }[part]()  # fmt: skip
    here, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    told = {
        "what": what, "wall": perf_counter() - wall,
        "peak": (below.ru_maxrss if part in PEERS else max(here.ru_maxrss, below.ru_maxrss)) / 1024,
        "cpu": here.ru_utime + here.ru_stime + below.ru_utime + below.ru_stime,
    }  # fmt: skip
    print(json.dumps(told))


if __name__ == "__main__":
    main()
