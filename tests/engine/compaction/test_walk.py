"""A reader who follows a context through a compaction opens each file once."""

import sys
from pathlib import Path
from types import FrameType

import workbench
from builders import compact_if_due, conversation, rules
from workbench import Context, Preset, Scripted, Situation, preset

PI = preset("pi")

SUMMARIZE = preset("summarize")

ROOM = f"{Path(workbench.__file__).parent}/engine/compaction/"
CARRIED = {"Budget", "Draft", "Situation", "SummaryInput"}
"""Values that go from file to file: a look at them, or at a property of any value, is no visit."""


class Writer(Scripted):
    """It reads the messages themselves: nothing is counted that a prompt left out."""

    reads_messages = True


def walk(part: Preset) -> list[str]:
    """The files of the room in the order in which a compaction by this preset enters them."""
    context = Context.of([rules("be good"), *conversation(20, words=100)])
    situation = Situation(
        tokens=context.tokens, window=int(1.1 * context.tokens), messages=len(context.messages)
    )
    compact_if_due(context, part, situation, Writer(["## Goal\ngo on"] * 9))  # reads the prompts
    entered: list[str] = []

    def called(frame: FrameType, event: str, _: object) -> None:
        code, own = frame.f_code, frame.f_locals.get("self")
        if event != "call" or not code.co_filename.startswith(ROOM) or code.co_name.startswith("<"):
            return
        file = code.co_filename.removeprefix(ROOM)
        seen = type(own).__name__ in CARRIED or isinstance(
            getattr(type(own), code.co_name, None), property
        )
        inside = frame.f_back is not None and frame.f_back.f_code.co_filename == code.co_filename
        if not seen and not inside and entered[-1:] != [file]:
            entered.append(file)

    sys.setprofile(called)
    try:
        compaction = compact_if_due(context, part, situation, Writer(["## Goal\ngo on"] * 9))
    finally:
        sys.setprofile(None)
    assert compaction is not None and compaction.outcome == "compacted"
    return entered


def test_the_walk_of_a_context_visits_no_file_twice() -> None:
    assert walk(SUMMARIZE) == [
        "strategy.py",
        "engine.py",
        "stages/unseen.py",
        "stages/summarize.py",
        "cut.py",
        "span_selection.py",
        "summary_input.py",
        "presentation.py",
        "file_lists.py",
        "prompt_template.py",
        "prompt_files.py",
        "size_limits.py",
        "plan.py",
        "guard.py",
    ]


def test_a_preset_takes_the_same_way_with_its_own_cut_rule() -> None:
    assert walk(PI) == [
        "strategy.py",
        "engine.py",
        "stages/summarize.py",
        "presets/pi.py",
        "span_selection.py",
        "summary_input.py",
        "presentation.py",
        "file_lists.py",
        "prompt_template.py",
        "prompt_files.py",
        "size_limits.py",
        "plan.py",
        "guard.py",
    ]
