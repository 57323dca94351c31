"""What is compared: each preset with its peer, and the rules by which it differs from it on
purpose.

Each rule stands with the words that state it in the preset's file, or in that of all presets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from peers import packages, ports
from peers.comparison import Peer

from workbench import Preset, preset

NEWEST = "the newest user message stay word for word"
ROOM = "newest messages at most half of it"
SIZES = "Sizes are the session's own tokens"
SMALLER = "only where the marker is smaller"
MADE_UP = "made up in the user's name"


@dataclass(frozen=True)
class Compared:
    """One row of the table: what stands beside a preset, and why it may differ.

    Attributes:
        package: the distribution that the peer needs; empty for a port of ours.
        part: the part of the preset that has a counterpart there.
    """

    name: str
    peer: Peer
    rules: Mapping[str, str]
    package: str = ""
    part: Callable[[Preset], Preset] = lambda whole: whole

    @property
    def preset(self) -> Preset:
        """What is replayed."""
        return self.part(preset(self.name))


def pruning(whole: Preset) -> Preset:
    """The first stage alone."""
    return replace(whole, strategy=replace(whole.strategy, stages=whole.strategy.stages[:1]))


ROWS = (
    Compared("pi", ports.pi, {
        "newest": NEWEST,
        "room": ROOM,
        "people": MADE_UP,
        "end": "the original then keeps everything",
        "carried": "that summary is updated with it",
        "little": "only where the summary may have 192 tokens",
    }),
    Compared("gemini_cli", ports.gemini_cli, {
        "newest": NEWEST,
        "sizes": SIZES,
        "texts": "characters by texts, without the JSON around them",
        "lines": "Newer releases leave results of up to 40,000 characters whole",
        "larger": "would be larger than what it replaces",
    }),
    Compared("codex_local", ports.codex_local, {
        "newest": NEWEST,
        "room": ROOM,
        "sizes": SIZES,
        "people": MADE_UP,
        "pictures": "keeps the words of a message alone",
    }),
    Compared("opencode", ports.opencode, {
        "newest": NEWEST, "room": ROOM, "sizes": SIZES, "prune": "Pruning is opt-in there", "smaller": SMALLER,
    }),
    Compared("observation_mask", ports.observation_mask, {
        "events": "The original's events are finer", "smaller": "only where the mask is smaller",
    }),
    Compared("openhands_rolling", ports.openhands_rolling, {
        "newest": NEWEST,
        "room": ROOM,
        "events": "the original's events are finer",
        "first": "at most a quarter of the room under the target",
        "loops": "never parts a loop of calls",
    }),
    Compared("langchain_20", packages.langchain_20, {
        "newest": NEWEST, "partly": "where a user's message that goes fits whole",
    }, "langchain"),
    Compared("clear_tool_uses", packages.clear_tool_uses, {"smaller": SMALLER}, "langchain"),
    Compared("claude_code", packages.claude_code, {"newest": NEWEST}, "compact-middleware"),
    Compared("hermes_lean", packages.hermes_lean, {
        "tail": "protects the newest 20 messages",
        "room": ROOM,
        "arguments": "a single text of more than 500 characters",
    }, "hermes-agent", pruning),
)  # fmt: skip
