"""Requests that nobody made, and finished or withdrawn work that a context gives as open."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from real_parts import SNAPSHOT
from recorded_files import bundled_files

from builders import called, result, said, told
from workbench import (
    Budget,
    Context,
    MetricInput,
    Plan,
    Preset,
    Replay,
    Score,
    Session,
    Strategy,
    Summary,
    find_model,
    load,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.compaction.stages import Register
from workbench.engine.transcript.message import Message, chars_per_token
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.sizing import Sizing

VERBS = ("migrate", "document", "measure", "translate", "encrypt", "archive")
THINGS = (
    "ledger",
    "gallery",
    "roster",
    "thermostat",
    "calendar",
    "inventory",
    "passport",
    "harbour",
    "orchard",
)
PARTS = (
    "header",
    "importer",
    "exporter",
    "footer",
    "schema",
    "backup",
    "preview",
    "sidebar",
    "logger",
)


@dataclass
class Planted:
    """A session whose work is known: three items done, two withdrawn, two open, and one request."""

    messages: list[Message]
    done: list[str]
    withdrawn: list[str]
    open: list[str]


def planted(seed: int) -> Planted:
    draw = random.Random(seed)
    things, parts = draw.sample(THINGS, 7), draw.sample(PARTS, 7)
    items = [f"{draw.choice(VERBS)} the {a} {b}" for a, b in zip(things, parts, strict=True)]
    done, withdrawn, left = items[:3], items[3:5], items[5:]

    def todo(number: int, finished: list[str]) -> list[Message]:
        rows = [
            {"content": item, "status": "completed" if item in finished else "pending"}
            for item in items
        ]
        return [called("todo", f"t{number}", todos=rows), result("ok", f"t{number}")]

    messages: list[Message] = [
        said("Please rebuild the museum website in two languages.", "u0"),
        *todo(1, []),
    ]
    messages += [told(f"plain words about nothing {i}", f"f{i}") for i in range(20)]
    messages += todo(2, done[:2])
    messages += [told(f"Finished: {done[2]}.", "a1")]
    messages += [
        said(f"Never mind, drop the plan to {one}.", f"w{i}") for i, one in enumerate(withdrawn)
    ]
    messages += [told(f"more plain words {i}", f"g{i}") for i in range(20)]
    return Planted(messages, done, withdrawn, left)


def scored(name: str, messages: list[Message], *context: Message) -> Score:
    session = Session.of(messages)
    sizing = Sizing.of(session, [chars_per_token(message) for message in messages], chars_per_token)
    shot = replace(SNAPSHOT, at=len(messages), context=Context.of(context))
    replay = Replay(session, "made", "natural", 100_000, sizing, (), (), (shot,))
    return BUILTIN[name].score(MetricInput(replay, Index(messages)))


def summary(
    *open_items: str, done: tuple[str, ...] = (), goal: str = "Rebuild the museum website."
) -> Summary:
    listed = "\n".join(f"- {item}" for item in open_items)
    finished = "\n".join(f"- {item}" for item in done)
    return Summary(
        id="s", text=f"## Goal\n- {goal}\n\n## Done\n{finished}\n\n## Next steps\n{listed}\n"
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_is_done_or_withdrawn_and_given_as_open_is_resurrected(seed: int) -> None:
    plan = planted(seed)
    closed = len(plan.done) + len(plan.withdrawn)
    true = summary(*plan.open, done=tuple(plan.done))
    assert scored("resurrected_work", plan.messages, true) == Score(0.0, n=closed)
    for again in (*plan.done, *plan.withdrawn):
        assert scored("resurrected_work", plan.messages, summary(*plan.open, again)) == Score(
            1 / closed, n=closed
        )


def test_a_kept_list_that_is_out_of_date_resurrects_what_it_shows_as_open() -> None:
    plan = planted(0)
    old, new = plan.messages[1:3], plan.messages[23:25]
    assert scored("resurrected_work", plan.messages, *old) == Score(1.0, n=5)
    assert scored("resurrected_work", plan.messages, *old, *new) == Score(3 / 5, n=5)
    assert scored("resurrected_work", plan.messages, *plan.messages) == Score(0.0, n=5)


@pytest.mark.parametrize("seed", range(3))
def test_a_request_that_nobody_made_is_invented(seed: int) -> None:
    plan = planted(seed)
    assert scored("invented_requests", plan.messages, summary(*plan.open)) == Score(0.0, n=1)
    made_up = summary(*plan.open, goal="Publish a podcast about ancient coins.")
    assert scored("invented_requests", plan.messages, made_up) == Score(1.0, n=1)
    told_so = Summary(id="s", text="The user wants a podcast about ancient coins.")
    assert scored("invented_requests", plan.messages, told_so) == Score(1.0, n=1)


def test_what_the_assistant_or_a_tool_said_is_no_request_of_the_user() -> None:
    messages = [*planted(0).messages, told("A podcast about ancient coins would help.", "a9")]
    assert (
        scored("invented_requests", messages, summary(goal="A podcast about ancient coins.")).value
        == 1
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_register_invents_and_resurrects_nothing_that_was_planted(seed: int) -> None:
    plan = planted(seed)
    context = Context.of(plan.messages)
    register = Register(tokens=1_000, share=1.0)
    kept = register.plan(context, Budget(target=context.tokens, window=100_000))
    assert isinstance(kept, Plan)
    [block] = [
        message for message in kept.apply(context).messages if message.id.startswith("register-")
    ]
    assert scored("resurrected_work", plan.messages, block) == Score(0.0, n=5)
    assert scored("invented_requests", plan.messages, block).value == 0


@pytest.mark.parametrize("path", bundled_files()[:2], ids=lambda path: path.parent.name)
def test_a_register_invents_no_request_in_a_recording(path: Path) -> None:
    session = load(path)[0]
    sizing = Sizing.of(
        session, [chars_per_token(message) for message in session.messages], chars_per_token
    )
    preset = Preset("kept", Strategy("kept", (STAGES["register"](), STAGES["truncate"]())))
    at = [len(session.messages) * part // 4 for part in (2, 3)]
    replay = matched(
        session,
        preset,
        find_model("extractive"),
        sizing,
        window=100_000,
        boundaries=at,
        shares=[0.3],
    )
    data = MetricInput(replay, Index(session.messages), 0.3)
    invented = BUILTIN["invented_requests"].score(data)
    assert (invented.value, invented.n > 0) == (0, True)


def test_where_there_is_nothing_to_count_the_reason_is_given() -> None:
    talk: list[Message] = [said("Look at it."), told("It is fine.")]
    for name in ("invented_requests", "resurrected_work"):
        score = scored(name, talk, *talk)
        assert score.value is None and score.why


def test_a_request_is_made_where_one_message_of_many_has_just_enough_of_its_words() -> None:
    messages: list[Message] = []
    for number in range(30):
        messages.append(said(f"please load route{number} from table{number}", f"u{number}"))
    support = Index(messages).support
    line = "The user asked to load route3 from table3 again"
    assert support.invented_requests(30, [line]) == ((), 1)
    invented, _ = support.invented_requests(3, [line])
    assert len(invented) == 1
