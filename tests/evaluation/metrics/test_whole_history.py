"""A context that holds the whole history has lost nothing, whatever the recording looks like."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import called, result, said, told
from workbench import load
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index


def test_a_file_that_one_line_names_by_two_paths_is_one_entity_of_that_line() -> None:
    messages: list[Message] = [
        said("look at C:\\work\\shop\\docs\\testing.md, which is docs/testing.md here", "u1"),
        called("read", "c1", path="docs/testing.md"),
        result("the zpty harness needs RPrompt in src/shell/zsh_test.go before release", "c1"),
        said("and now?", "u2"),
        told("the harness of docs/testing.md needs RPrompt in src/shell/zsh_test.go", "a2"),
    ]
    index = Index(messages, cwd="C:\\work\\shop")
    demand = index.demand(4)
    assert demand.retained(range(4)).mean("bound") == 1
    for need in demand.needs:
        assert need.entity.text.rsplit("/", 1)[-1] in need.evidence_text


@pytest.mark.parametrize(
    "recording",
    [
        "oh-my-posh/f776f2bf-23df-4ccd-808c-738ef763c1c6.jsonl",
        "oh-my-posh/030df228-1b4b-482d-b343-0fc9c13a3d1a.jsonl",
        "entireio-cli/2026-01-12-deeac353-0765-4439-9056-293619a99172.jsonl",
        "pi.dev/019dbe19-ca83-74b3-b3ca-230160eb3875.jsonl",
    ],
)
def test_nothing_is_lost_of_a_real_recording_that_is_kept_whole(
    corpora: Path, recording: str
) -> None:
    for session in load(corpora / recording, lenient=True):
        index = Index(session.messages, cwd=session.cwd)
        n = len(session.messages)
        for share in (0.2, 0.4, 0.6, 0.8):
            demand = index.demand(int(n * share))
            if len(demand):
                retention = demand.retained(range(int(n * share)))
                assert (
                    retention.mean("bound")
                    == retention.mean("presence")
                    == retention.mean("coverage")
                    == 1
                )
