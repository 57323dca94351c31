"""The first figure of an advice: from one session, before the others are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest
from recorded_files import bundled_files

from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.lab.advice import glance
from workbench.lab.advice.advice_spec import AdviceSpec
from workbench.lab.advice.agents import agent_searches

SPEC = AdviceSpec(window=16_000, model=("extractive",))


@pytest.fixture(scope="module")
def sources() -> Sequence[SessionSource]:
    files = sorted(bundled_files(), key=lambda file: file.stat().st_size)[:3]
    return sources_of(list(map(str, files)))


def glance_at(source: SessionSource, spec: AdviceSpec) -> glance.Glance | None:
    return glance.glance(source, sessions_in(source), spec)


@pytest.fixture(scope="module")
def seen(sources: Sequence[SessionSource]) -> glance.Glance:
    first_glance = glance_at(sources[0], SPEC)
    assert first_glance is not None
    return first_glance


def test_it_says_from_how_little_it_knows_what_it_says(
    seen: glance.Glance, sources: Sequence[SessionSource]
) -> None:
    so_far = seen.so_far(pd.Series({source.name: 1.0 for source in sources}))
    assert so_far is not None
    assert so_far.lines[0] == (
        f"preliminary: 1 session of 3 recordings, 3 candidates, {seen.glimpse.words}"
    )
    assert seen.glimpse.scored <= 2


def test_one_session_alone_has_an_interval_too_as_only_a_part_of_it_was_seen(
    seen: glance.Glance, sources: Sequence[SessionSource]
) -> None:
    all_of_it = replace(seen.glimpse, scored=2, boundaries=2)
    glimpses = (
        replace(all_of_it, further_sessions=3),
        replace(all_of_it, boundaries=9),
        all_of_it,
    )
    sizes = pd.Series({sources[0].name: 1.0})
    widths = []
    for glimpse in glimpses:
        so_far = replace(seen, glimpse=glimpse).so_far(sizes)
        assert so_far is not None
        points, saved = so_far.points, so_far.saved
        assert saved is not None and saved.low is not None and saved.high is not None
        assert saved.low < saved.mean < saved.high
        assert points.low is not None and points.high is not None
        widths.append(points.high - points.low)
    assert widths[0] > widths[1] > widths[2] > 0


def test_no_session_that_is_too_short_is_looked_at(sources: Sequence[SessionSource]) -> None:
    assert glance_at(sources[0], SPEC.changed(window=2_000_000)) is None


def test_nobody_is_asked_for_it(sources: Sequence[SessionSource]) -> None:
    assert glance_at(sources[0], SPEC.changed(model=("command:false",))) is None


def test_it_stands_there_before_the_larger_recordings_are_read(
    sources: Sequence[SessionSource], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [source.name for source in sources]
    agent_searches(names, SPEC)
    lines = capsys.readouterr().err.splitlines()
    place = next(number for number, line in enumerate(lines) if "preliminary: 1 session" in line)
    assert lines[place - 1].startswith("reading the sessions: 1 of 3 files")
    agent_searches(names, SPEC.changed(quiet=True))
    assert "preliminary" not in capsys.readouterr().err
