"""What each preset shows the model that summarises, and what that costs.

`summary_requests.py shown` writes the table of presets from their settings. `summary_requests.py
reading PATHS...` measures the size of a summary request for the bundled sessions and those of the
paths, keeps its rows beside the page and writes the table. Without paths it writes the table from
the rows; with `--check` it says where they differ.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run

from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.settings import settings
from workbench.engine.compaction.transcript_text import Clip
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.sources import sessions_in, sources_of
from workbench.evaluation.replays.boundaries import at_shares
from workbench.recordings.datasets.bundled import bundled

PAGE = Path(__file__).parent / "README.md"
ORIGINALS = {
    "summarize": "ours",
    "pipeline": "ours; its cheap stages cut old results before",
    "learned_summary": "ours",
    "opal": "the same, in bytes, and the arguments of a call together",
    "operator_use": "the same",
    "ddx_agent": "the same, in bytes",
    "ex_athena": "the same; v0.5 sends the messages themselves",
    "docker_agent": "the messages themselves, the newest that fit its window",
    "docker_agent_g2": (
        "the same; later large results are cut, nobody knows to what: here to a quarter of the room"
    ),
    "pi": "the same",
    "codex_local": (
        "its live request with one more message; after a refusal without the oldest item"
    ),
    "claude_code": (
        "its live request with one more message, as others read it; after a refusal without the"
        " oldest part"
    ),
    "gemini_cli": (
        "the messages themselves behind a system prompt of its own; old results cut only where its"
        " window takes no whole ones"
    ),
    "opencode": "the same",
    "opencode_v2": "the same; its newest version the messages themselves",
    "crush": "the messages themselves behind a system prompt of its own",
    "anthropic_on_demand": "the messages themselves, on the server",
    "openhands_rolling": "the same: events as they are printed",
    "langchain_20": "the same, of the last 4,000 tokens",
    "hermes_lean": (
        "the same: of more than 6,000 the first 4,000 and the last 1,500; of a call's arguments"
        " 1,500"
    ),
}
"""By preset what its original shows."""


class Clips(NamedTuple):
    """What is shown of a result and of an argument."""

    results: Clip
    arguments: Clip

    @property
    def column(self) -> str:
        """The column of the rows."""
        return f"{self.results}_{self.arguments}"


FORMER, DEFAULT = (
    Clips(2_000, 400),
    Clips(PromptTemplate().result_chars, PromptTemplate().argument_chars),
)
WHOLE = Clips("whole", "whole")
CLIPS = (Clips(500, 200), FORMER, Clips(4_000, 1_000), DEFAULT, Clips(16_000, 4_000), WHOLE)
HEAD = (
    "results",
    "arguments",
    "tokens, median",
    "most",
    "times 2,000 and 400, median",
    "most",
    "share of the whole, median",
    "least",
    "USD, median",
)
DOLLARS = 3.0
"""A million tokens of input, as claude-sonnet-4-5 costs."""


def presets() -> Frames:
    """A row a preset: its settings of what is shown."""
    rows = []
    for name, original in ORIGINALS.items():
        values = {}
        for path, setting in settings(preset(name)).items():
            values[path.rpartition(".")[2]] = setting.value
            if setting.also:
                values[setting.also] = setting.value
        share = values.get("window_share")
        bound = (
            ""
            if share is None
            else f"above {share:.0%} of the window {TOO_LONG[str(values['too_long'])]}"
        )
        rows.append(
            {
                "preset": name,
                "results": _chars(values["result_chars"]),
                "arguments": _chars(values["argument_chars"]) or "the tool's name",
                "messages": _chars(values["message_chars"]),
                "thoughts": "yes" if values["thoughts"] else "no",
                "bound": bound.replace("%", " %"),
                "original": original,
            }
        )
    return {"": pd.DataFrame(rows)}


TOO_LONG = {"shorter": "texts are cut", "oldest": "the oldest go"}


def _chars(clip: object) -> str:
    """Characters in words; empty for none."""
    return f"{clip:,}" if isinstance(clip, int) and clip else str(clip or "")


def told_presets(rows: pd.DataFrame) -> Iterator[str]:
    """A line a preset."""
    yield (
        "| Preset | Results | Arguments | What is said | Thoughts | Where it is too long | The"
        " original shows |"
    )
    yield "|---|--:|--:|--:|---|---|---|"
    for row in rows.fillna("").itertuples():
        cells = (row.results, row.arguments, row.messages, row.thoughts, row.bound, row.original)
        yield f"| `{row.preset}` | {' | '.join(map(str, cells))} |"


def measured(paths: Sequence[str], with_bundled: bool) -> Frames:
    """A row a session and boundary: tokens of the conversation in a summary request, by what is
    shown.
    """
    recordings: list[Session] = []
    for source in sources_of(list(paths)) if paths else ():
        recordings += sessions_in(source)
    kinds = [("bundled", bundled() if with_bundled else []), ("recording", recordings)]
    return {"": pd.DataFrame([row for kind, sessions in kinds for row in _rows(kind, sessions)])}


def _rows(kind: str, sessions: Iterable[Session]) -> Iterator[dict[str, object]]:
    count = TiktokenCounter().count_text
    for session in sessions:
        for place in at_shares(session):
            history = session.messages[:place]
            transcripts = {clips: PromptTemplate(*clips).transcript(history) for clips in CLIPS}
            tokens = {clips.column: count(text) for clips, text in transcripts.items()}
            yield {"session": session.id, "context": str(place), "kind": kind, **tokens}


def told_price(rows: pd.DataFrame) -> Iterator[str]:
    """A line for each clip: tokens, times the former clip, share of the whole, dollars."""
    for kind, title in (("bundled", "the bundled sessions"), ("recording", "recordings of others")):
        some = rows[rows["kind"] == kind]
        if some.empty:
            continue
        yield f"{title}: {len(some)} histories of {some['session'].nunique()} sessions"
        yield ""
        yield f"| {' | '.join(HEAD)} |"
        yield f"|{'--:|' * len(HEAD)}"
        for clips in CLIPS:
            tokens = some[clips.column]
            times, share = tokens / some[FORMER.column], tokens / some[WHOLE.column]
            yield (
                f"| {_chars(clips.results)} | {_chars(clips.arguments)} | {tokens.median():,.0f} |"
                f" {tokens.max():,} | {times.median():.2f} | {times.max():.2f} |"
                f" {share.median():.2f} | {share.min():.2f} |"
                f" {DOLLARS * tokens.median() / 1_000_000:.2f} |"
            )
        yield ""


PARTS = {
    "shown": Part(measure=lambda paths, _: presets(), tell=told_presets, kept=False),
    "reading": Part(measure=measured, tell=told_price),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
