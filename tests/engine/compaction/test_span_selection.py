import random
from dataclasses import replace

from properties.conversations import context

from builders import called, result, rules, said
from workbench import Budget, Context, Summary
from workbench.engine.compaction.span_selection import Movable
from workbench.engine.transcript.context import cut_points
from workbench.engine.transcript.message import Message


def movable(whole: Context) -> Movable:
    return Movable.of(whole, Budget(target=100, window=1_000))


def test_it_holds_what_is_not_pinned_with_sizes_and_the_places_where_those_messages_alone_may_be_cut() -> (
    None
):
    parted = 0
    for seed in range(600):
        whole = context(random.Random(seed))
        found = movable(whole)
        assert found.messages == tuple(whole.messages[i] for i in found.indices)
        assert found.sizes == tuple(whole.sizes[i] for i in found.indices)
        assert found.flags == cut_points(list(found.messages))
        summaries = [i for i, message in enumerate(found.messages) if isinstance(message, Summary)]
        assert found.earlier == (summaries[-1] + 1 if summaries else 0)
        flags = cut_points(whole.messages)
        parted += found.flags[:-1] != [flags[i] for i in found.indices]
    assert parted, "in none of them lies a pinned pair around others"


def test_a_pinned_pair_does_not_hold_together_what_stands_inside_it() -> None:
    pair: list[Message] = [
        replace(called("read", "c"), pinned=True),
        said("inside", "u"),
        result("r", "c"),
    ]
    found = movable(Context.of([rules("be kind"), *pair, said("after", "v")]))
    assert [message.id for message in found.messages] == ["u", "v"]
    assert found.flags == [True, True, True]
