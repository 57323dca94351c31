import numpy as np

from workbench.evaluation.analysis.panel import frontier, on_frontier


def test_a_point_is_behind_where_another_is_as_good_on_all_and_better_on_one() -> None:
    points = [[0.9, 0.1], [0.5, 0.5], [0.5, 0.4], [0.1, 0.9], [0.1, 0.9], [0.0, 0.0]]
    assert on_frontier(points).tolist() == [True, True, False, True, True, False]


def test_the_direction_of_each_count_is_heeded() -> None:
    values = np.tile([[0.9, 100.0], [0.8, 50.0], [0.7, 80.0]], (6, 1, 1))
    found = frontier(("a", "b", "c"), values, ("higher", "lower"))
    assert found["on_frontier"].tolist() == [True, True, False]
    assert found["probability"].tolist() == [1.0, 1.0, 0.0]


def test_a_session_without_a_value_is_left_out_for_all() -> None:
    values = np.tile([[0.5, 1.0], [0.6, 2.0]], (8, 1, 1))
    values[0] = [[9.0, 9.0], [np.nan, 2.0]]
    found = frontier(("a", "b"), values, ("higher", "higher"))
    assert found.equals(frontier(("a", "b"), values[1:], ("higher", "higher"))) and set(
        found["sessions"]
    ) == {7}
    assert frontier(("a", "b"), values[:6], ("higher", "higher"))["probability"].isna().all(), (
        "five of six are left"
    )


def test_a_coin_flip_is_called_one() -> None:
    # a is ahead of b in half of the sessions by as much as it is behind in the others; c is far off
    gaps = np.array([0.1, -0.1] * 10)
    values = np.stack(
        [np.stack([0.5 + gaps, 0.5 - gaps, gaps * 0], axis=1), np.ones((20, 3))], axis=2
    )
    chance = frontier(("a", "b", "c"), values, ("higher", "higher"))["probability"]
    assert chance[2] == 0.0
    assert 0.5 < chance[0] < 0.65 and 0.5 < chance[1] < 0.65  # both in a draw that ties


def test_too_few_sessions_have_a_place_and_no_probability() -> None:
    found = frontier(("a", "b"), np.tile([[0.5, 1.0], [0.6, 2.0]], (5, 1, 1)), ("higher", "higher"))
    assert found["on_frontier"].tolist() == [False, True] and found["probability"].isna().all()


def test_strategies_that_are_equal_in_every_session_share_the_frontier() -> None:
    column = np.random.default_rng(4).random((30, 1, 2))
    found = frontier(("a", "b"), np.concatenate([column, column], axis=1), ("higher", "lower"))
    assert found["probability"].tolist() == [1.0, 1.0]


def test_the_same_seed_gives_the_same_and_no_session_gives_none() -> None:
    values = np.random.default_rng(6).random((12, 3, 2))
    once, again = (frontier(("a", "b", "c"), values, ("higher", "lower")) for _ in range(2))
    assert once.equals(again)
    assert frontier(("a",), np.full((3, 1, 2), np.nan), ("higher", "higher")).empty
