"""The compactor on asyncio: the loop goes on, calls take turns, and a cancelled call changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event, Thread

import pytest
import validators
from live.talk import Record, alone, asked, openai

from workbench import AsyncCompactor, Compactor, Completion, SummaryRequest, find_model


class Slow:
    """Writes only once it may; counts how many wrote at once."""

    name = "slow"

    def __init__(self) -> None:
        self.started, self.may, self.calls = Event(), Event(), 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.calls += 1
        self.started.set()
        assert self.may.wait(10)
        return find_model("extractive").complete(request)


def live(model: Slow) -> AsyncCompactor:
    return AsyncCompactor(Compactor("summarize", model=model, window=2_000))


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not reached():
            await asyncio.sleep(0.001)


TALK = [*openai(20), asked("and now?")]


def test_the_event_loop_goes_on_while_a_model_writes() -> None:
    async def run() -> None:
        model = Slow()
        request = asyncio.create_task(live(model).before_request(TALK))
        await asyncio.to_thread(model.started.wait, 10)
        ticks = 0
        for _ in range(5):
            await asyncio.sleep(0.001)
            ticks += 1
        assert ticks == 5 and not request.done()
        model.may.set()
        sent = await request
        assert len(sent) < len(TALK) and validators.openai_chat(sent) == []

    alone(run())


def test_concurrent_calls_take_turns_and_compact_once() -> None:
    async def run() -> None:
        model = Slow()
        model.may.set()
        compactor = live(model)
        first, second = await asyncio.gather(
            compactor.before_request(TALK), compactor.before_request(TALK)
        )
        assert first == second and len(first) < len(TALK)
        ended = [event for event in compactor.compactor.events if event.type == "compaction_ended"]
        assert len(ended) == 1

    alone(run())


def test_a_cancelled_call_leaves_the_history_as_it_was() -> None:
    async def run() -> None:
        model = Slow()
        compactor = live(model)
        request = asyncio.create_task(compactor.before_request(TALK))
        await asyncio.to_thread(model.started.wait, 10)
        before = compactor.compactor.tokens
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        model.may.set()
        await until(lambda: compactor.compactor.events[-1].type == "compaction_discarded")
        await asyncio.sleep(0.05)
        assert compactor.compactor.events[-1].type == "compaction_discarded"
        assert compactor.compactor.tokens == before
        assert [entry.type for entry in compactor.compactor.log.path()].count("compaction") == 0
        sent = await compactor.before_request(TALK)
        assert len(sent) < len(TALK) and validators.openai_chat(sent) == []

    alone(run())


def test_a_model_that_fails_after_its_call_was_cancelled_does_not_count_as_a_failure() -> None:
    class Failing(Slow):
        def complete(self, request: SummaryRequest, /) -> Completion:
            super().complete(request)
            raise OSError("the connection was closed")

    async def run() -> None:
        model = Failing()
        compactor = live(model)
        request = asyncio.create_task(compactor.before_request(TALK))
        await asyncio.to_thread(model.started.wait, 10)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        model.may.set()
        await until(lambda: compactor.compactor.events[-1].type == "compaction_discarded")
        await compactor.before_request(TALK)
        assert model.calls == 2  # it is tried again at once

    alone(run())


def test_after_a_cancelled_call_the_next_one_does_not_wait_for_its_model() -> None:
    async def run() -> None:
        slow = Slow()
        compactor = live(slow)
        request = asyncio.create_task(compactor.before_request(TALK))
        await asyncio.to_thread(slow.started.wait, 10)
        request.cancel()
        await asyncio.sleep(0)
        again = asyncio.create_task(compactor.before_request(TALK))
        await until(lambda: slow.calls == 2)
        slow.may.set()
        assert len(await again) < len(TALK)

    alone(run())


def test_the_other_moments_are_awaited_alike() -> None:
    async def run() -> None:
        model = Slow()
        model.may.set()
        compactor = live(model)
        await compactor.after_turn(TALK[:-1])
        await compactor.after_tools()
        assert await compactor.compact(messages=TALK) is not None
        assert await compactor.on_error("prompt is too long: 3000 tokens > 1000 maximum") is None
        await compactor.before_request(TALK)
        retry = await compactor.on_error("prompt is too long: 3000 tokens > 1000 maximum")
        assert retry is None or validators.openai_chat(retry.messages) == []

    alone(run())


def test_calls_of_several_event_loops_take_turns() -> None:
    model = Slow()
    model.may.set()
    compactor = live(model)
    talks = [[*openai(20), asked(f"question {number}")] for number in range(3)]
    sent: dict[int, list[Record]] = {}

    def work(number: int) -> None:
        async def run() -> None:
            for _ in range(3):
                sent[number] = await compactor.before_request(talks[number])

        asyncio.run(run())

    threads = [Thread(target=work, args=(number,), daemon=True) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not [thread for thread in threads if thread.is_alive()]
    assert all(sent[number][-1] == talks[number][-1] for number in range(3))


def test_a_call_that_is_given_up_while_it_waits_for_another_loop_lets_the_next_one_go_on() -> None:
    model = Slow()
    compactor = live(model)
    other = Thread(target=lambda: asyncio.run(compactor.before_request(TALK)), daemon=True)
    other.start()
    assert model.started.wait(10)

    async def run() -> None:
        request = asyncio.create_task(compactor.before_request(TALK))
        await asyncio.sleep(0.01)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        model.may.set()
        assert (await compactor.before_request(TALK))[-1] == TALK[-1]

    alone(run())
    other.join(10)
    assert not other.is_alive()
