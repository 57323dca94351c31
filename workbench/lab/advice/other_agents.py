"""Agents whose compaction no preset restates: what they can be set to, and what to do where there
is no such setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OtherAgent:
    """An agent whose settings nobody can measure here.

    Attributes:
        name: as people call it.
        setting: that moves its compaction, its place and its unit; empty where there is none.
        line: as which it is written there.
        instead: what to do without one.
        reason: why there is none.
    """

    name: str
    setting: str = ""
    line: str = ""
    instead: str = ""
    reason: str = "it documents no setting that moves its compaction"

    @property
    def answer(self) -> str:
        """What to paste or to do, in words; before the `line`, if there is one."""
        if self.setting:
            return (
                f"Nothing to paste for {self.name}: no preset restates its compaction, so that no"
                f" value was measured. You set it by {self.setting}:"
            )
        return f"Nothing to paste for {self.name}: {self.reason}. Instead, {self.instead}."


# 0.86.2: `aider --verbose` prints it, and a key that it does not know ends it
AIDER = OtherAgent(
    "aider",
    "`max-chat-history-tokens` in ~/.aider.conf.yml, in tokens",
    "max-chat-history-tokens: TOKENS",
)
AMP = OtherAgent("Amp", instead="hand over to a new thread before the window is full")
CLINE = OtherAgent("Cline", instead="type `/compact` where a step of the work is done")
COPILOT = OtherAgent("Copilot CLI", instead="type `/compact` where a step of the work is done")
# charmbracelet/crush at 37f36e9, internal/config/config.go: `disable_auto_summarize` alone
CRUSH = OtherAgent(
    "Crush", instead="begin a new session where a step of the work is done; it can only be off"
)
CURSOR = OtherAgent("Cursor", instead="type `/summarize` where a step of the work is done")
# 0.225.2 heeds it against a local server
DROID = OtherAgent(
    "Droid",
    "`compactionTokenLimit` in ~/.factory/settings.json, in tokens",
    '"compactionTokenLimit": TOKENS',
)
# aaif-goose/goose at 006bd23, crates/goose/src/context_mgmt/mod.rs: off at 0 and from 1 on
GOOSE = OtherAgent(
    "Goose",
    "`GOOSE_AUTO_COMPACT_THRESHOLD` in ~/.config/goose/config.yaml, a share of the window",
    "GOOSE_AUTO_COMPACT_THRESHOLD: 0.8",
)
# 0.19.0: `hermes config show` prints it
HERMES = OtherAgent(
    "Hermes",
    "`compression.threshold` in ~/.hermes/config.yaml, a share of the window",
    "compression: {threshold: 0.5}",
)
# MoonshotAI/kimi-cli 1.49.0, docs/en/configuration/config-files.md
KIMI = OtherAgent(
    "Kimi CLI",
    "`compaction_trigger_ratio` below `[loop_control]` in ~/.kimi/config.toml, a share of the"
    " window from 0.5 to 0.99",
    "compaction_trigger_ratio = 0.85",
)
KIRO = OtherAgent(
    "Kiro CLI",
    instead="keep more of the newest turns: `kiro-cli settings compaction.excludeMessages 6`",
    reason="it compacts when the window overflows, and no setting moves that",
)
MINI_SWE_AGENT = OtherAgent(
    "mini-swe-agent", instead="cut the output of commands shorter: it sends all it ever said"
)
# 0.24.4 heeds it against a local server; 0.15.10 knows the older key alone
QWEN_CODE = OtherAgent(
    "Qwen Code",
    "`context.autoCompactThreshold` in ~/.qwen/settings.json, a share of the window (in 0.15"
    " `model.chatCompression.contextPercentageThreshold`)",
    '"context": {"autoCompactThreshold": 0.85}',
)
SPECSTORY = OtherAgent(
    "SpecStory",
    instead="take the own files of the agent that it recorded, which `workbench` alone lists",
    reason="it keeps what another agent said, and compacts nothing",
)
VSCODE = OtherAgent(
    "Copilot in VS Code",
    "`github.copilot.chat.summarizeAgentConversationHistoryThreshold`, an experiment, in tokens",
    '"github.copilot.chat.summarizeAgentConversationHistoryThreshold": TOKENS',
)

OTHER_AGENTS: Mapping[str, OtherAgent] = {
    "aider": AIDER,
    "amp": AMP,
    "cline": CLINE,
    "copilot_cli": COPILOT,
    "crush_database": CRUSH,
    "cursor": CURSOR,
    "droid": DROID,
    "goose": GOOSE,
    "goose_database": GOOSE,
    "hermes": HERMES,
    "hermes_database": HERMES,
    "kimi": KIMI,
    "kiro": KIRO,
    "kiro_database": KIRO,
    "mini_swe_agent": MINI_SWE_AGENT,
    "qwen_code": QWEN_CODE,
    "specstory": SPECSTORY,
    "vscode_chat": VSCODE,
}
"""By the format of its files each agent that people use as it is."""


def other_agents(formats: Iterable[str]) -> tuple[OtherAgent, ...]:
    """The agents that write these formats, each once, in the order of the formats."""
    agents = [OTHER_AGENTS[name] for name in formats if name in OTHER_AGENTS]
    return tuple(dict.fromkeys(agents))
