"""Hand-made replays whose dollars can be worked out on paper. Prices: 3, 15, 0.3 and 3.75 USD a
million tokens.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from priced import PRICED, TARIFF
from real_parts import STAGE, with_steps

from builders import result, said, told
from builders import rules as system_prompt
from workbench import (
    AssistantMessage,
    Budget,
    Compaction,
    Completion,
    Context,
    Replay,
    Session,
    SettingError,
    Summary,
)
from workbench.engine.transcript.message import Message, Usage, chars_per_token
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.costs.replay_cost import ReplayCost, replay_cost
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import CompactionEvent, RepeatedPrompt

DOLLAR = 1e-6
"""Of a price a million tokens, what one token costs."""


def session(requests: int, *, every: float = 10.0, output: int = 0) -> Session:
    messages: list[Message] = []
    for i in range(requests):
        messages.append(said("go on", f"u{i}"))
        usage = Usage(input=1, output=output)
        messages.append(replace(told("ok", f"a{i}"), usage=usage, time=every * i))
    return Session.of(messages)


def replayed(
    *sent: tuple[int, int],
    recorded: tuple[int, ...] = (),
    every: float = 10.0,
    overhead: int = 0,
    output: int = 0,
    events: tuple[CompactionEvent, ...] = (),
) -> Replay:
    """A replay whose requests sent so many tokens, of which so many stood in the request before."""
    made = session(len(sent), every=every, output=output)
    whole = recorded or tuple(tokens for tokens, _ in sent)
    sizing = Sizing((0,) * len(made.messages), overhead, chars_per_token)
    replay = Replay(made, "p", "natural", 200_000, sizing, (), events, ())
    return with_steps(replay, *((whole[i], *one) for i, one in enumerate(sent)))


def reckoned(replay: Replay, cache: str = "anthropic", fetched: int = 0) -> ReplayCost:
    found = replay_cost(replay, PRICED[cache], fetched)
    assert found is not None
    return found


def test_the_first_request_writes_all_and_the_next_reads_it_and_writes_the_rest() -> None:
    found = reckoned(replayed((10_000, 0), (12_000, 10_000), output=100))
    first, second = found.charges
    assert (first.read, first.written) == (0, 10_000)
    assert (second.read, second.written) == (10_000, 2_000)
    assert first.usd == pytest.approx((10_000 * 3.75 + 100 * 15) * DOLLAR)
    assert second.usd == pytest.approx((10_000 * 0.3 + 2_000 * 3.75 + 100 * 15) * DOLLAR)
    assert found.usd == pytest.approx(0.0375 + 0.0015 + 0.003 + 0.0075 + 0.0015)


def test_cached_tokens_are_paid_once() -> None:
    for cache in ("anthropic", "anthropic, 1 hour", "openai", "no cache"):
        for charge in reckoned(replayed((10_000, 0), (12_000, 10_000)), cache).charges:
            plain = charge.prompt - charge.read - charge.written
            assert plain >= 0
            assert charge.usd_input == pytest.approx(plain * 3 * DOLLAR)


def test_the_overhead_is_paid_with_every_request() -> None:
    """20,000 tokens of system prompt and tools in each of three requests: three times in the
    sum, not once.
    """
    found = reckoned(
        replayed((21_000, 0), (22_000, 21_000), (23_000, 22_000), overhead=20_000), "no cache"
    )
    assert found.usd == pytest.approx((21_000 + 22_000 + 23_000) * 3 * DOLLAR)


def test_writing_for_an_hour_costs_more_and_writing_elsewhere_nothing_beside_the_input() -> None:
    steps = replayed((10_000, 0), (12_000, 10_000))
    assert reckoned(steps, "anthropic, 1 hour").charges[0].usd == pytest.approx(0.06)
    assert reckoned(steps, "openai").charges[0].usd == pytest.approx(0.03)
    assert reckoned(steps, "no cache").usd == pytest.approx(22_000 * 3 * DOLLAR)


def test_after_a_pause_longer_than_the_lifetime_all_is_written_again() -> None:
    paused = reckoned(replayed((10_000, 0), (12_000, 10_000), every=301))
    assert paused.charges[1].read == 0
    assert paused.charges[1].usd == pytest.approx(12_000 * 3.75 * DOLLAR)
    assert (
        reckoned(replayed((10_000, 0), (12_000, 10_000), every=301), "anthropic, 1 hour")
        .charges[1]
        .read
        == 10_000
    )


def test_a_compaction_breaks_the_prefix_and_leaves_the_head() -> None:
    found = reckoned(
        replayed((90_000, 0), (30_000, 25_000), recorded=(90_000, 92_000), overhead=20_000)
    )
    assert found.charges[1].read == 20_000
    assert (
        reckoned(replayed((90_000, 0), (30_000, 25_000), overhead=20_000), "openai").charges[1].read
        == 24_960
    )


def test_reasoning_that_leaves_at_a_user_s_message_takes_what_stood_behind_it_out_of_the_cache() -> (
    None
):
    """Two turns of two requests; the strategy compacts in the first, where its prompt falls to
    4,096 tokens.
    """
    messages: list[Message] = []
    for turn in range(2):
        messages += [said("go", f"u{turn}"), told("let me look", f"c{turn}", thought="hm")]
        messages += [result("found", f"r{turn}"), told("done", f"a{turn}")]
    sizes = [
        (12_800, 12_800, 0),
        (25_600, 4_096, 2_048),
        (38_400, 16_896, 4_096),
        (51_200, 29_696, 16_896),
    ]
    sizing = Sizing((0,) * 8, 0, chars_per_token)
    empty = Replay(Session.of(messages), "p", "natural", 200_000, sizing, (), (), ())
    replay = with_steps(empty, *sizes)
    found = reckoned(replay, "openai")
    assert [one.read for one in found.plain] == [0, 12_800, 12_800, 38_400]
    assert [charge.read for charge in found.charges] == [0, 2_048, 4_096, 16_896]
    kept = reckoned(replay, "openai, writes")
    assert [one.read for one in kept.plain] == [0, 12_800, 25_600, 38_400]


def test_what_is_saved_is_what_no_compaction_would_have_cost_less_the_strategy_and_fetching_again() -> (
    None
):
    """Uncompacted 50,000 then 60,000 then 70,000 tokens; compacted before the second request to
    20,000.
    """
    steps = replayed((50_000, 0), (20_000, 0), (30_000, 20_000), recorded=(50_000, 60_000, 70_000))
    found = reckoned(steps, "no cache", fetched=1_000)
    assert found.usd_plain == pytest.approx(180_000 * 3 * DOLLAR)
    assert found.usd == pytest.approx(100_000 * 3 * DOLLAR)
    assert found.reacquired == pytest.approx(0.003)
    assert found.net_saving == pytest.approx(0.54 - 0.3 - 0.003)


def test_a_small_prompt_with_a_dear_cache_can_cost_more_than_none() -> None:
    """Reading 90,000 of 92,000 tokens is cheaper than writing 30,000 anew: smaller prompt,
    higher bill.
    """
    found = reckoned(replayed((90_000, 0), (30_000, 0), recorded=(90_000, 92_000)))
    assert found.charges[1].usd == pytest.approx(30_000 * 3.75 * DOLLAR)
    assert found.plain[1].usd == pytest.approx((90_000 * 0.3 + 2_000 * 3.75) * DOLLAR)
    assert found.net_saving < 0


def test_the_break_even_request_is_the_first_whose_sum_is_no_higher() -> None:
    """Without a cache: 100 uncompacted against 150 at the compaction, then 100 against 25 each."""
    steps = replayed(
        (100_000, 0),
        (150_000, 0),
        (25_000, 0),
        (25_000, 0),
        recorded=(100_000, 100_000, 100_000, 100_000),
    )
    assert reckoned(steps, "no cache").break_even == (1, 2)


def test_what_never_pays_off_has_no_break_even_request_and_what_never_compacts_does_not_part() -> (
    None
):
    dearer = replayed((100_000, 0), (150_000, 0), recorded=(100_000, 100_000))
    assert reckoned(dearer, "no cache").break_even == (1, None)
    assert reckoned(replayed((10_000, 0), (12_000, 10_000))).break_even is None


def fired(
    at: int, *answers: Completion, dropped: tuple[str, ...], wrote: tuple[Message, ...] = ()
) -> CompactionEvent:
    nothing = Context((), ())
    stage = replace(STAGE, completions=answers, dropped=dropped, wrote=wrote)
    return CompactionEvent(
        0,
        at,
        Compaction(nothing, nothing, nothing, Budget(target=0, window=0), (stage,), "compacted"),
    )


def test_a_summary_is_priced_by_what_it_replaces_and_by_its_length_where_who_wrote_it_is_free() -> (
    None
):
    steps = replayed(
        (10_000, 0),
        (2_000, 0),
        events=(
            fired(3, Completion(text="x", model="e", output_tokens=400), dropped=("u0", "a0")),
        ),
    )
    sized = replace(steps, sizing=Sizing((700, 300, 0, 0), 0, chars_per_token))
    found = reckoned(sized, "no cache")
    assert [charge.summaries for charge in found.charges] == [
        0.0,
        pytest.approx(1_000 * 3e-6 + 400 * 15e-6),
    ]
    assert found.assumed == 1


def test_a_summary_pays_for_the_text_of_what_it_replaces_and_for_no_sealed_thinking() -> None:
    summary = Completion(text="", model="e", output_tokens=100)
    steps = replayed((10_000, 0), (2_000, 0), events=(fired(3, summary, dropped=("u0", "a0")),))
    sizing = Sizing(
        sizes=(700, 1_300, 0, 0),
        overhead=0,
        count=chars_per_token,
        counted=(700, 300, 0, 0),
        hidden=(0, 1_000, 0, 0),
    )
    found = reckoned(replace(steps, sizing=sizing), "no cache")
    assert found.charges[1].summaries == pytest.approx(1_000 * 3e-6 + 100 * 15e-6)


def test_a_later_summary_pays_for_the_earlier_one_that_it_takes_in() -> None:
    earlier = Summary(id="s1", text="y" * 400)
    first = fired(
        3, Completion(text="", model="e", output_tokens=100), dropped=("u0",), wrote=(earlier,)
    )
    second = fired(5, Completion(text="", model="e", output_tokens=100), dropped=("s1",))
    steps = replayed((10_000, 0), (2_000, 0), (2_000, 0), events=(first, second))
    found = reckoned(steps, "no cache")
    assert found.charges[2].summaries == pytest.approx(
        chars_per_token(earlier) * 3e-6 + 100 * 15e-6
    )


def repeating(completion: Completion, tokens: int, prefix: int) -> CompactionEvent:
    """A compaction before the second request, asked for in the agent's own conversation."""
    event = fired(3, completion, dropped=("u0", "a0"))
    return replace(event, repeated={0: RepeatedPrompt(tokens, prefix)})


@pytest.mark.parametrize("usd", [0.0, None, 9.0])
def test_a_summary_asked_for_in_the_agents_own_conversation_reads_its_beginning_from_the_cache(
    usd: float | None,
) -> None:
    """Whoever wrote it here, it is the agent's own request."""
    answer = Completion(text="x", model="e", input_tokens=70, output_tokens=400, usd=usd)
    event = repeating(answer, tokens=11_000, prefix=10_000)
    bill = reckoned(replayed((10_000, 0), (2_000, 0), events=(event,)))
    expected = 10_000 * 0.3 + 1_000 * 3.75 + 400 * 15
    assert [charge.summaries for charge in bill.charges] == [0.0, pytest.approx(expected * DOLLAR)]
    assert bill.assumed == 1


def test_it_is_read_anew_where_the_cache_holds_no_such_beginning() -> None:
    answer = Completion(text="x", model="e", output_tokens=400)
    event = repeating(answer, tokens=11_000, prefix=10_000)
    requests = ((10_000, 0), (2_000, 0))
    without_cache = reckoned(replayed(*requests, events=(event,)), "no cache")
    assert without_cache.charges[1].summaries == pytest.approx((11_000 * 3 + 400 * 15) * DOLLAR)
    parted = repeating(answer, tokens=11_000, prefix=4_000)
    other_beginning = reckoned(replayed(*requests, events=(parted,)))
    assert other_beginning.charges[1].summaries == pytest.approx(
        (11_000 * 3.75 + 400 * 15) * DOLLAR
    )


def test_a_repeated_request_that_failed_costs_nothing() -> None:
    failed = Completion(text="a note", model="e", fallback=True, why="down")
    event = repeating(failed, tokens=11_000, prefix=10_000)
    bill = reckoned(replayed((10_000, 0), (2_000, 0), events=(event,)))
    assert bill.charges[1].summaries == 0.0


def test_a_real_call_costs_what_was_paid_for_it() -> None:
    paid = Completion(text="x", model="litellm:m", input_tokens=5_000, output_tokens=400, usd=0.25)
    found = reckoned(
        replayed((10_000, 0), (2_000, 0), events=(fired(3, paid, dropped=("u0",)),)), "no cache"
    )
    assert found.charges[1].summaries == 0.25
    assert found.assumed == 0


def test_a_summary_after_the_last_request_is_still_paid() -> None:
    answer = Completion(text="", model="e", output_tokens=100)
    found = reckoned(replayed((10_000, 0), events=(fired(2, answer, dropped=()),)), "no cache")
    assert found.charges[-1].summaries == pytest.approx(100 * 15e-6)


def test_the_parts_add_up() -> None:
    found = reckoned(replayed((10_000, 0), (12_000, 10_000), (13_000, 4_000), output=50))
    for charge in found.charges:
        assert charge.usd == pytest.approx(
            charge.usd_input
            + charge.usd_read
            + charge.usd_write
            + charge.usd_output
            + charge.summaries
        )


def test_a_short_reported_answer_counts_with_its_counted_length() -> None:
    steps = replayed((10_000, 0), output=1)
    sized = replace(steps, sizing=Sizing((0, 900), 0, chars_per_token))
    assert reckoned(sized).charges[0].output == 900


def test_a_long_prompt_pays_its_tier() -> None:
    dear = replace(TARIFF, longer=((100_000, replace(TARIFF.rates, input=6e-6)),))
    prices = replace(PRICED["no cache"], tariff=dear)
    found = replay_cost(replayed((100_000, 0), (100_001, 0)), prices)
    assert found is not None
    assert [charge.usd for charge in found.charges] == [
        pytest.approx(0.3),
        pytest.approx(100_001 * 6e-6),
    ]


def test_without_a_tariff_there_is_no_bill() -> None:
    assert replay_cost(replayed((10, 0)), replace(PRICED["no cache"], tariff=None)) is None


def test_a_model_without_a_price_is_priced_as_another_and_says_so() -> None:
    unknown = pricing(replace(session(2), model="no-such-model-9"))
    assert unknown.tariff is not None
    assert (unknown.model, unknown.tariff.row) == ("claude-sonnet-4-5", "claude-sonnet-4-5")
    assert unknown.why == "no price is known for the model 'no-such-model-9'"
    assert "names no model" in pricing(session(1)).why


def test_the_recording_s_own_model_is_priced_by_its_row() -> None:
    found = pricing(replace(session(2), model="claude-opus-4-5-20251101"))
    assert found.tariff is not None
    assert (found.model, found.tariff.row, found.why) == (
        "claude-opus-4-5-20251101",
        "claude-opus-4-5-20251101",
        "",
    )


def test_a_named_model_or_given_prices_take_the_place_of_the_recording_s() -> None:
    own = replace(session(2), model="claude-opus-4-5")
    named = pricing(own, "gpt-5.5")
    assert (named.model, named.rules.name, named.why) == (
        "gpt-5.5",
        "OpenAI, automatic",
        "the model was named",
    )
    given = pricing(own, prices="input=1,output=2,cache_read=0.5")
    assert given.tariff is not None and given.tariff.rates.input == pytest.approx(1e-6)
    assert (given.rules.seconds, given.why) == (300, "the prices were given")


def test_prices_of_one_s_own_are_by_the_million() -> None:
    given = pricing(
        session(2), prices="input=3, output=15, cache_read=0.3, cache_write=3.75"
    ).tariff
    assert given is not None
    assert given.rates.input == pytest.approx(3e-6)
    assert given.rates.cache_write == given.rates.cache_write_long == pytest.approx(3.75e-6)
    plain = pricing(session(2), prices="input=1,output=2").tariff
    assert plain is not None
    assert plain.rates.cache_read == plain.rates.cache_write == plain.rates.input


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("input=3", "have no output"),
        (" ", "no input and no output"),
        ("input=3,output=x", "no amount"),
        ("input=-1,output=2", "no amount"),
        ("input=nan,output=2", "no amount"),
        ("in=3,output=2", "not a price"),
    ],
)
def test_a_price_that_makes_no_sense_says_what_would(text: str, told: str) -> None:
    with pytest.raises(SettingError, match=told):
        pricing(session(2), prices=text)


def test_a_named_model_without_a_price_is_refused() -> None:
    with pytest.raises(
        SettingError, match="no price is known for the model 'no-such-model-9'; name one of"
    ):
        pricing(session(2), "no-such-model-9")


def test_the_hour_s_cache_is_taken_where_the_recording_wrote_to_it() -> None:
    def said_so(long: int) -> float:
        answer = AssistantMessage(
            id="a", blocks=(), usage=Usage(cache_read=500, cache_write=100, cache_write_long=long)
        )
        return pricing(Session.of([said("hi"), answer], model="claude-opus-4-5")).rules.seconds

    assert (said_so(100), said_so(0)) == (3_600, 300)


def test_the_head_is_what_the_recording_reads_after_a_break_and_never_more_than_system_prompt_and_tools() -> (
    None
):
    steps = replayed((90_000, 0), (30_000, 25_000), overhead=20_000)
    seen = replace(PRICED["anthropic"], head=16_000)
    found = replay_cost(steps, seen)
    assert found is not None and found.charges[1].read == 16_000
    more = replay_cost(steps, replace(seen, head=80_000))
    assert more is not None and more.charges[1].read == 20_000
    messages = [system_prompt("rules"), *steps.session.messages]
    own = Session.of(messages)
    sizes = (3_000, *steps.sizing.sizes)
    led = replay_cost(
        replace(steps, session=own, sizing=Sizing(sizes, 20_000, chars_per_token)),
        PRICED["anthropic"],
    )
    assert led is not None and led.charges[1].read == 23_000
