"""The built-in presets by name, each loaded when it is first wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from workbench.compaction.strategy import Preset
from workbench.registry import find, found

PLACES: Mapping[str, tuple[str, str]] = {
    "none": ("none", "NONE"),
    "null": ("null", "NULL"),
    "truncate": ("truncate", "TRUNCATE"),
    "summarize": ("summarize", "SUMMARIZE"),
    "pipeline": ("pipeline", "PIPELINE"),
    "opal": ("opal", "OPAL"),
    "operator_use": ("operator_use", "OPERATOR_USE"),
    "ddx_agent": ("ddx_agent", "DDX_AGENT"),
    "ex_athena": ("ex_athena", "EX_ATHENA"),
    "docker_agent": ("docker_agent", "DOCKER_AGENT"),
    "clear_tool_uses": ("clear_tool_uses", "CLEAR_TOOL_USES"),
    "observation_mask": ("observation_mask", "OBSERVATION_MASK"),
    "pi": ("pi", "PI"),
    "codex_local": ("codex_local", "CODEX_LOCAL"),
    "claude_code": ("claude_code", "CLAUDE_CODE"),
    "gemini_cli": ("gemini_cli", "GEMINI_CLI"),
    "opencode": ("opencode", "OPENCODE"),
    "openhands_rolling": ("openhands_rolling", "OPENHANDS_ROLLING"),
    "langchain_20": ("langchain_20", "LANGCHAIN_20"),
    "hermes_lean": ("hermes_lean", "HERMES_LEAN"),
}
"""The file in this folder and the constant in it that hold each preset."""


class Lazily(Mapping[str, Preset]):
    """The presets of some places, whose names are known before any of them is loaded."""

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self.places = places

    def __getitem__(self, name: str) -> Preset:
        file, constant = self.places[name]
        part = getattr(import_module(f"{__name__}.{file}"), constant)
        assert isinstance(part, Preset)
        return part

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


BUILTIN: Mapping[str, Preset] = Lazily(PLACES)


def preset(name: str) -> Preset:
    """The preset of that name, built in or installed.

    Raises:
        UnknownName: neither; the message lists what is known.
    """
    return find("preset", name, BUILTIN)


def catalogue() -> dict[str, str]:
    """What each preset does, in a sentence: the first of its file, or the source that an installed one names."""
    return {name: _sentence(name) or part.source for name, part in found("preset", BUILTIN).items()}


def _sentence(name: str) -> str:
    if name not in PLACES:
        return ""
    words = import_module(f"{__name__}.{PLACES[name][0]}").__doc__ or ""
    return words.strip().splitlines()[0]
