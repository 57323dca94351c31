"""The same history at the same boundary to the same size."""

from __future__ import annotations

from builders import conversation, rules, said, told
from workbench import Context, Scripted, Session, preset
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.budgets import budget, least
from workbench.evaluation.replays.matched import matched, sized_histories
from workbench.evaluation.replays.sizing import Sizing


def test_every_strategy_gets_the_same_history_and_the_same_target() -> None:
    session = Session.of([rules("be brief"), *conversation(40, words=60)])
    sizing = Sizing.of(session, [chars_per_token(m) for m in session.messages], chars_per_token)
    at = at_shares(session)
    seen = []
    for name in ("none", "truncate", "summarize", "pipeline"):
        model = Scripted(("a short summary",) * 500)
        replay = matched(
            session, preset(name), model, sizing, window=10_000, boundaries=at, shares=(0.1, 0.3)
        )
        seen.append(
            [
                (f.at, f.share, f.compaction.before.tokens, f.compaction.budget.target)
                for f in replay.events
            ]
        )
    assert len(at) == 4
    assert seen[0] == seen[1] == seen[2] == seen[3]


def test_a_budget_is_never_less_than_what_must_stay_and_half_a_share_of_the_rest() -> None:
    history = Context.of([rules("be brief"), *conversation(40, words=60), said("word " * 2_000)])
    stays = history.sizes[0] + history.sizes[-1]
    assert least(history) == stays
    assert (
        budget(history, 0.1)
        == stays + int(0.05 * (history.tokens - stays))
        > int(0.1 * history.spoken)
    )
    assert budget(history, 0.9) == int(0.9 * history.spoken) > stays
    short = Context.of([rules("be brief"), *conversation(40, words=60)])
    assert budget(short, 0.1) == int(0.1 * short.spoken), "an ordinary history has the share itself"


def test_a_boundary_where_what_must_stay_is_larger_than_the_size_is_left_out_for_everybody() -> (
    None
):
    wish = said("word " * 2_000, id="wish")
    session = Session.of(
        [*conversation(20, words=60), wish, *(told("done", id=f"step {i}") for i in range(12))]
    )
    sizing = Sizing.of(session, [chars_per_token(m) for m in session.messages], chars_per_token)
    at = (session.index_of["wish"] - 1, session.index_of["wish"] + 1)
    sized = sized_histories(session, sizing, at, (0.1, 0.5))
    out = {(one.at, one.share) for one in sized if not one.fits}
    assert out == {(at[1], 0.1)}
    for one in sized:
        assert one.fits == (
            least(one.history) <= one.history.overhead + int((one.share or 0) * one.history.spoken)
        )
    for name in ("none", "truncate", "summarize"):
        model = Scripted(("a short summary",) * 500)
        replay = matched(
            session, preset(name), model, sizing, window=100_000, boundaries=at, shares=(0.1, 0.5)
        )
        assert {(shot.at, shot.share) for shot in replay.snapshots} == {
            (one.at, one.share) for one in sized
        } - out


def test_strategies_reach_the_target() -> None:
    session = Session.of([rules("be brief"), *conversation(40, words=60)])
    sizing = Sizing.of(session, [chars_per_token(m) for m in session.messages], chars_per_token)
    for name in ("truncate", "summarize", "pipeline"):
        model = Scripted(("a short summary",) * 500)
        replay = matched(
            session,
            preset(name),
            model,
            sizing,
            window=10_000,
            boundaries=at_shares(session),
            shares=(0.1, 0.3),
        )
        assert all(f.compaction.sent.tokens <= f.compaction.budget.target for f in replay.events), (
            name
        )
