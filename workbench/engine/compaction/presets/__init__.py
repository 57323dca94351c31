"""The built-in presets by name, each loaded when it is first wanted.

What all presets that restate another system do, whatever its source does:

- Prompts are our own words.
- Models are shown a transcript, with what the original shows of results, arguments and thoughts.
  With `request=conversation` they are asked in the agent's own conversation, whose results are
  whole; a preset's own text says whether its original does that.
- Pinned messages and the newest user message stay word for word, and a call and its results stay or
  go together.
- Sizes are the session's own tokens unless the preset's file names a counter; most systems estimate
  from characters.
- Which tools read and write files is judged by the names and path arguments of many agents; failed
  calls are left out.
- Where a comparison sets the size of the context, newest messages take at most half of the room and
  the rest is for the summary.

And what those do that name no seed's document as their source, unless their own text says
otherwise:

- When the model fails, a note of what was left out replaces the summary; the originals stop with an
  error.
- A summary takes at most a quarter of the room under the target, and newest messages at most half
  of it.
- The start of a turn that goes on is asked about apart only where the summary may have 192 tokens.
- Where overhead and reserves leave less than a quarter of the window to messages, they are due at
  that quarter.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from types import ModuleType

from workbench.base.errors import SettingError
from workbench.base.markup import first_paragraph
from workbench.base.registry import find, found
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.setting_text import Value, as_text, read_changes
from workbench.engine.compaction.stages.server_compaction import ServerCompaction
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import Preset, Strategy
from workbench.engine.compaction.timing import ByPrice
from workbench.engine.compaction.variant import variant

OWN = {
    "none": "Never compacts: the ceiling of every comparison, at full price.",
    "null": "Keeps the system and the last user message only: the floor of every comparison.",
    "truncate": "Keeps the newest messages that fit: what most agents did first.",
    "summarize": (
        "Summarises the older messages and keeps the newest as they are; each compaction updates"
        " the summary."
    ),
    "pipeline": (
        "Cheap stages first, a summary only if they were not enough; the view hides what is"
        " overtaken."
    ),
}
"""What the presets of the file `own` do."""

NAMES = (
    *OWN, "opal", "operator_use", "ddx_agent", "ex_athena", "docker_agent", "clear_tool_uses", "observation_mask", "pi",
    "codex_local", "claude_code", "gemini_cli", "opencode", "openhands_rolling", "langchain_20", "hermes_lean",
    "opencode_v2", "crush", "anthropic_on_demand", "scored",
)  # fmt: skip
"""Each preset is a constant of its name in capitals; all but our own are in the file of their
name.
"""

RECALL, PRICE = "+recall", "+price"
"""What the names of presets with recall, and of those that compact when it pays, end in."""
ACCEPTED = "a preset, such as wb.preset('pipeline'), or its name"


VARIANTS = {
    "opal_truncate": (
        "opal",
        "Opal without a model: a count of the older messages and the file lists replace them.",
    ),
    "ex_athena_head": (
        "ex_athena",
        "ExAthena's newest version: an observation mask, excerpts in place, no view.",
    ),
    "ex_athena_0_5": (
        "ex_athena",
        "ExAthena counted as v0.5 counts: 16 tokens a result, the system prompt none.",
    ),
    "learned": (
        "learned",
        "Keeps the older lines that will most likely be needed, as learned; asks no model.",
    ),
    "learned_summary": (
        "learned",
        "The same lines in less room, below a summary that a model writes with them in sight.",
    ),
    "anthropic_background": (
        "anthropic_on_demand",
        "The same in the background: what was said while the summary was written stays.",
    ),
    "anthropic_keep_turns": (
        "anthropic_on_demand",
        "The same for the older turns: the newest two stay as they are.",
    ),
    "docker_agent_g2": (
        "docker_agent",
        "docker-agent after v1.53.0: limits follow the window, estimates are scaled.",
    ),
}
"""Other presets, with the file that holds each and what it does: known by name, and in no
default.
"""

WEIGHTS = "learned:"
"""What the name of the preset `learned` begins with where a file of weights follows."""


class _OnDemand(Mapping[str, Preset]):
    """Presets, each loaded when it is first wanted."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __getitem__(self, name: str) -> Preset:
        if name not in self.names:
            raise KeyError(name)
        part = getattr(_file(name), name.upper())
        assert isinstance(part, Preset)
        return part

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


BUILTIN: Mapping[str, Preset] = _OnDemand(NAMES)
KNOWN: Mapping[str, Preset] = _OnDemand((*NAMES, *VARIANTS))


def preset(name: Preset | str, **changes: Value) -> Preset:
    """The preset of that name: built in, a variant, or installed. A preset is given back as it is.

    Settings may follow, by the names that the systems' documents give to them: `preset("ex_athena",
    compact_at=0.5)`, or as text `ex_athena:compact_at=0.5`, where several stand behind further
    colons. `workbench list strategies NAME` shows them. `NAME+recall` is that preset
    `with_recall`, `NAME+price` the same `with_price`, and both may follow a name. `learned:FILE` is
    `learned` with the weights of a file that `workbench lab learn` wrote.

    Raises:
        UnknownName: neither; the message lists what is known.
        SettingError: it has no such setting, or a wrong value; or a file of weights cannot be used.
    """
    part = name if isinstance(name, Preset) else _named(name)
    if not changes:
        return part
    changed = variant(part, changes, part.name)  # what is wrong is refused before it is named
    name_with_settings = part.name + as_text(changes)
    strategy = replace(changed.strategy, name=name_with_settings)
    return replace(changed, name=name_with_settings, strategy=strategy)


def _named(name: str) -> Preset:
    """The preset of that name; settings and endings may follow."""
    if not isinstance(name, str):
        raise SettingError(f"preset is {name!r:.80}; {ACCEPTED} would be accepted")
    if name.endswith(RECALL):
        return with_recall(preset(name.removesuffix(RECALL)))
    if name.endswith(PRICE):
        return with_price(preset(name.removesuffix(PRICE)))
    if name.startswith(WEIGHTS):
        learned = _file("learned").learned_with(name.removeprefix(WEIGHTS))
        assert isinstance(learned, Preset)
        return learned
    plain_name, colon, changes = name.partition(":")
    if colon:
        return variant(_named(plain_name), read_changes(changes), name)
    return find("preset", name, KNOWN)


def with_recall(of: Preset | str) -> Preset:
    """The same preset, which keeps what it takes out within reach of the tool `recall`; its name
    ends in `+recall`.

    What is removed or rewritten is archived, and what is sent shows its ids, within the same
    target.

    Raises:
        UnknownName: no preset has that name.
    """
    plain = preset(of)
    if plain.strategy.recall:
        return plain
    changed = replace(plain, name=plain.name + RECALL, strategy=_recalling(plain.strategy))
    if plain.overflow is None:
        return changed
    return replace(changed, overflow=_recalling(plain.overflow))


def _recalling(strategy: Strategy) -> Strategy:
    return replace(strategy, name=strategy.name + RECALL, recall=True)


def with_price(of: Preset | str) -> Preset:
    """The same strategy, due when a compaction pays by the prices of the agent's model; its name
    ends in `+price`.

    Raises:
        UnknownName: no preset has that name.
    """
    plain = preset(of)
    if isinstance(plain.trigger, ByPrice):
        return plain
    model_writes = any(map(_asks_model, plain.strategy.stages))
    trigger = ByPrice(
        target=getattr(plain.trigger, "target", 0.4), summary=0.5 if model_writes else 0.0
    )
    return replace(
        plain,
        name=plain.name + PRICE,
        trigger=trigger,
        moments=("before_request",),
    )


def _asks_model(stage: Stage) -> bool:
    return isinstance(stage, Summarize | ServerCompaction) or bool(getattr(stage, "narrative", 0.0))


def catalogue() -> dict[str, str]:
    """What each preset does, in a sentence: the first of its file, or the source that an
    installed one names.
    """
    sentences: dict[str, str] = {}
    for name, part in found("preset", KNOWN).items():
        sentences[name] = _sentence(name) if name in KNOWN else part.source
    return sentences


def what_it_does(strategy: str) -> str:
    """What a strategy of this name does, in a sentence; settings and endings may follow the name.
    Empty for one that is not built in.
    """
    name = re.split("[ :+]", strategy)[0]
    if name not in KNOWN:
        return ""
    return _sentence(name)


def _sentence(name: str) -> str:
    if name in VARIANTS:
        return VARIANTS[name][1]
    return OWN.get(name) or first_paragraph(_file(name).__doc__)


def _file(name: str) -> ModuleType:
    """The file that holds a preset."""
    file = name
    if name in OWN:
        file = "own"
    elif name in VARIANTS:
        file, _ = VARIANTS[name]
    return import_module(f"{__name__}.{file}")
