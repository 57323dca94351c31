"""docker-agent: a summary of at most 16,000 tokens at 90 % of the window, before a tail of at most 20,000.

Restates the compaction of docker-agent (cagent) as the documentation of its package `compactor` describes it, and where
that is silent as its source behaves: docker/docker-agent v1.53.0, `pkg/runtime/compactor/compactor.go` at
396ec6440f32c4de886360e7182e487c8521f787 and one newer stored version, `pkg/compaction/compaction.go` (two versions),
its tests at 7717bee63d8874e50c6d588197f6847e51610e12, `pkg/runtime/compaction_trigger_test.go` at
1901e42516f3d4e5a8f410b5b4fa270129dbcdb5, `pkg/runtime/session_compaction.go` (three stored versions). The exact file of
v1.53.0 was not stored. `DOCKER_AGENT` is v1.53.0; `DOCKER_AGENT_G2` is what came later, with tail and cap that follow
the window and estimates that are scaled to the provider's reports. Besides what `presets` says of all restated systems,
it differs from that source:

- Messages that the summariser's window has no room for are counted in a note below the summary, and their ids stand in
  the record. The source loses them without a word. An earlier summary is always fed to the summariser; in the source
  it is the first to go.
- Without a conversation to summarise nothing is compacted, as in later versions. v1.53.0 asks the model nonetheless,
  and its reply replaces the history. In a window hardly larger than the cap of 16,000 tokens v1.53.0's rule leaves the
  summariser no room at all: there nothing is ever compacted.
- Only what the model said after the conversation counts as its summary. v1.53.0 may take the conversation's own last
  answer where the model says nothing.
- Where everything fits into the tail everything but the newest user message is compacted, as in the source.
- The trigger is asked before each request for the tally with all that came after it; the source asks after tool results
  and, without what the user said, before a request. After a compaction all is estimated until the next report; the
  source counts the summary alone until then, and not the tail.
- The scale is found from the messages that may be compacted, and used for the kept tail and the summariser's input; the
  trigger is not scaled.
- The conversation is sent as a transcript in one message; the source sends it as messages. How far later versions cut
  large results is not known; here to a quarter of the room.
- The cap is half of what the summary replaces where that is less, since a model that used it all would save nothing.
- `max_tokens must be greater than` is an overflow by this system's own words, and is not one for the live compactor's
  classifier, which knows it for a wrong output size.
"""

from __future__ import annotations

from workbench.compaction.presets.docker_agent.compact import THRESHOLD, DockerTrigger, docker_summary
from workbench.compaction.presets.docker_agent.generations import FIRST, LATER, DockerGeneration
from workbench.compaction.strategy import Preset, Strategy


def docker_agent(
    *,
    compaction_threshold: float = THRESHOLD,
    session_compaction: bool = True,
    compaction_model: str = "",
    compaction_model_window: int | None = None,
    generation: DockerGeneration = FIRST,
    name: str = "docker_agent",
) -> Preset:
    """The preset with options.

    Args:
        compaction_threshold: share of the window that is due when passed, in (0, 1]; anything else means 0.9.
        session_compaction: whether anything starts by itself; by hand and on request it always may.
        compaction_model: the name of a model for summaries alone.
        compaction_model_window: tokens that it takes; the smaller window counts.
        generation: of docker-agent.
        name: of the preset.
    """
    return Preset(
        name,
        Strategy(name, (docker_summary(generation, compaction_model, compaction_model_window),)),
        DockerTrigger(compaction_threshold, session_compaction, compaction_model_window),
        count=generation.count,
        source="docker/docker-agent v1.53.0 pkg/runtime/compactor/compactor.go 396ec644, pkg/compaction/compaction.go",
    )


DOCKER_AGENT = docker_agent()
DOCKER_AGENT_G2 = docker_agent(generation=LATER, name="docker_agent_g2")
