from dataclasses import dataclass, replace

import pytest

from builders import called, conversation, result, rules, said, summarize, told
from workbench import Budget, Context, Summary
from workbench.engine.compaction.stages import Snip
from workbench.engine.transcript.message import Message

NO_PINS = replace(Snip().pins, prefix=0, suffix=0, names=())


def budget(target: int, *, force: bool = False, keep_recent: int | None = None) -> Budget:
    return Budget(target=target, window=10_000, force=force, keep_recent=keep_recent)


@dataclass(frozen=True)
class Cut:
    """The indices of the messages that give way, and the index at which whole turns end."""

    indices: tuple[int, ...]
    history: int


def cut_of(context: Context, budget: Budget, **settings: float) -> Cut | None:
    """What the preset `summarize` would replace, with these settings of its cut."""
    of_cut = {f"summarize.cut.{name}": value for name, value in settings.items()}
    span = summarize(**of_cut).cut(context, budget)
    return None if span is None else Cut(span.indices, span.history)


def keep(cut: Cut) -> int:
    return cut.indices[-1] + 1


def long_turn(steps: int) -> list[Message]:
    made: list[Message] = [said("refactor everything")]
    for i in range(steps):
        made += [called("edit", f"c{i}", text="step " * 20), result("edited " * 20, f"c{i}")]
    return made


def test_what_fits_is_not_cut() -> None:
    assert cut_of(Context.of(conversation(2)), budget(100_000)) is None


def test_nothing_is_cut_of_nothing() -> None:
    for force in (True, False):
        assert cut_of(Context.of([]), budget(0, force=force)) is None
        assert cut_of(Context.of([said("hi")]), budget(100, force=force)) is None


def test_the_kept_part_starts_with_a_turn_if_one_is_near() -> None:
    context = Context.of(conversation(10, steps=1))
    cut = cut_of(context, budget(context.tokens // 2))
    assert cut is not None
    assert cut.history == keep(cut)
    assert context.messages[keep(cut)].role == "user"


@pytest.mark.parametrize("steps", range(1, 12))
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_no_call_is_parted_and_the_kept_part_takes_what_it_was_granted(
    steps: int, share: float
) -> None:
    context = Context.of([*conversation(3), *long_turn(steps)])
    target = int(context.tokens * share)
    cut = cut_of(context, budget(target), share=0.8)
    assert cut is not None
    assert context.cut_points[keep(cut)]
    assert sum(context.sizes[keep(cut) :]) <= 0.8 * target


def test_a_long_start_of_a_turn_is_summarised_apart() -> None:
    context = Context.of([said("earlier"), told("yes"), *long_turn(10)])
    cut = cut_of(context, budget(context.tokens // 2))
    assert cut is not None
    assert cut.history == 2
    assert keep(cut) - cut.history >= 5


def test_a_short_start_of_a_turn_goes_with_the_history() -> None:
    context = Context.of([said("earlier"), told("yes"), *long_turn(10)])
    cut = cut_of(context, budget(context.tokens // 2), split=100)
    assert cut is not None
    assert cut.history == keep(cut)


def test_somebody_may_say_how_much_stays() -> None:
    context = Context.of(conversation(10))
    few = cut_of(context, budget(context.tokens // 2, keep_recent=100))
    many = cut_of(context, budget(context.tokens // 2, keep_recent=300))
    assert few is not None
    assert many is not None
    assert keep(few) > keep(many)


def test_force_cuts_all_but_the_last_two_messages_of_what_fits() -> None:
    messages: list[Message] = [said("a"), told("b"), said("c"), told("d"), said("e")]
    assert cut_of(Context.of(messages), budget(100_000, force=True)) == Cut((0, 1, 2), 3)
    assert cut_of(Context.of(messages[:2]), budget(100_000, force=True)) == Cut((), 1)


def test_force_never_parts_a_pair() -> None:
    context = Context.of([said("a"), told("b"), called("read", "c1"), result("x", "c1")])
    assert cut_of(context, budget(100_000, force=True)) == Cut((1,), 2)


def test_pinned_messages_are_not_counted_as_newest() -> None:
    context = Context.of([rules("rule " * 400), *conversation(6)])
    with_pins = cut_of(context, budget(context.sizes[0] + 400))
    without = cut_of(Context.of(context.messages[1:]), budget(400))
    assert with_pins is not None
    assert without is not None
    assert keep(with_pins) == keep(without) + 1


def test_a_summary_that_cannot_use_its_half_leaves_it_to_the_newest_messages() -> None:
    context = Context.of(conversation(40, words=100))
    half = cut_of(context, budget(context.tokens // 2))
    more = cut_of(context, budget(context.tokens // 2), summary=200)
    assert half is not None
    assert more is not None
    assert keep(more) < keep(half)


def test_the_newest_step_stays_though_it_is_more_than_was_granted() -> None:
    context = Context.of(
        [*conversation(3), said("now"), called("read", "c"), result("long " * 100, "c")]
    )
    cut = cut_of(context, budget(220))
    assert cut is not None
    assert cut.history == len(context.messages) - 2


def test_a_rule_may_hold_the_first_message_the_last_ones_and_names() -> None:
    context = Context.of(conversation(6, words=5))
    held = replace(NO_PINS, prefix=1, suffix=2).held(context, budget(context.tokens))
    n = len(context.messages)
    assert {0, n - 2, n - 1} <= held
    assert n - 3 in held, "the call of the result among the last two"


def test_a_small_budget_bounds_what_a_rule_holds() -> None:
    context = Context.of(conversation(6, words=50))
    for target in (0, 60, 200, 1000):
        extra = replace(NO_PINS, prefix=1, suffix=6).held(context, budget(target)) - NO_PINS.held(
            context, budget(target)
        )
        assert sum(context.sizes[i] for i in extra) <= target / 2


def test_a_summary_is_never_held_by_its_place() -> None:
    context = Context.of([Summary(id="s", text="old"), said("go"), told("ok")])
    assert 0 not in replace(NO_PINS, prefix=1, suffix=6).held(context, budget(1_000))


def test_a_name_holds_a_message_wherever_it_stands() -> None:
    named = (
        replace(said("remember", "m"), name="memory"),
        replace(said("skill", "k"), name="skill:tests"),
    )
    context = Context.of([said("go"), *named, said("now", "u9")])
    assert replace(NO_PINS, names=("memory", "skill:*")).fixed(context, budget(0)) == {1, 2, 3}
