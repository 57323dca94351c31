from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
from priced import PRICED

from builders import result, said, told
from workbench import AssistantMessage, CompactionEntry, Log, MessageEntry, Session, Summary, load
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.calibration import TokenCalibration
from workbench.engine.transcript.message import Message, Scaled, Usage
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.costs.reconciliation import (
    Reconciliation,
    reconcile,
)
from workbench.evaluation.replays.sizing import Sizing

USD = 2

READ = 1

PROMPT = 0

OVERHEAD, HEAD = 20_000, 12_000


def thousand(message: Message) -> int:
    return 1_000


@dataclass
class Provider:
    """Answers requests as the rules say: it reads what it was sent before, unless that is too
    long ago.
    """

    lifetime: float = 300.0
    hour: bool = False
    before: int = 0
    then: float = 0.0

    def usage(self, prompt: int, now: float, whole: bool) -> Usage:
        read = (
            (self.before if whole else min(HEAD, self.before))
            if now - self.then <= self.lifetime
            else 0
        )
        self.before, self.then = prompt, now
        wrote = prompt - read
        return Usage(cache_read=read, cache_write=wrote, cache_write_long=wrote if self.hour else 0)


def recorded(
    waits: Sequence[float],
    provider: Provider | None = None,
    *,
    compact_before: int | None = None,
    hidden: Sequence[int] = (),
    by_tools: bool = False,
) -> Session:
    provider = provider or Provider()
    log, counted, now = Log(), 0, 0.0
    for n, wait in enumerate(waits):
        if n == compact_before:
            log.append(
                CompactionEntry(id="k", parent=log.leaf, summary=Summary(id="s", text="short"))
            )
            counted = 1_000
        last = result("done", id=f"u{n}") if by_tools and n else said("go", f"u{n}")
        log.append(MessageEntry(id=f"u{n}", parent=log.leaf, message=last))
        counted += 1_000
        now += wait
        prompt = OVERHEAD + counted + (hidden[n] if hidden else 0)
        usage = provider.usage(prompt, now, n != compact_before)
        answer = replace(told("ok", f"a{n}"), usage=usage, model="m", time=now)
        log.append(MessageEntry(id=answer.id, parent=log.leaf, message=answer))
        counted += 1_000
    return Session("s", log)


def reconciled(
    session: Session, cache: str = "anthropic", head: int | None = HEAD
) -> Reconciliation:
    sizes = (1_000,) * len(session.messages)
    sizing = Sizing(sizes, OVERHEAD, Scaled(thousand, 1.0), TokenCalibration(OVERHEAD, 1.0, 9, 0.0))
    return reconcile(session, sizing, replace(PRICED[cache], head=head))


def error(found: Reconciliation, of: Literal["prompt", "read", "usd"]) -> float:
    """The median error of requests that there are."""
    median = found.error(of)
    assert median is not None
    return median


def reported(session: Session) -> list[tuple[AssistantMessage, Usage]]:
    """The answers that report a usage, each with it."""
    answers = []
    for message in session.messages:
        if isinstance(message, AssistantMessage) and message.usage is not None:
            answers.append((message, message.usage))
    return answers


def test_a_provider_that_keeps_to_its_rules_is_reproduced_to_the_cent() -> None:
    reconciliation = reconciled(recorded([0, 10, 10, 400, 10, 10], compact_before=4))
    assert (
        reconciliation.error("prompt"),
        reconciliation.error("read"),
        reconciliation.error("usd"),
    ) == (0.0, 0.0, 0.0)
    assert reconciliation.errors("usd").max() < 1e-9
    assert reconciliation.predicted[:, USD].sum() == pytest.approx(
        reconciliation.reported[:, USD].sum()
    )
    assert (len(reconciliation.predicted), reconciliation.left_out, reconciliation.missed) == (
        6,
        0,
        0,
    )


def test_an_hour_s_cache_is_reproduced_too() -> None:
    reconciliation = reconciled(
        recorded([0, 10, 2_000, 4_000, 10], Provider(3_600, hour=True)), "anthropic, 1 hour"
    )
    assert reconciliation.errors("usd").max() < 1e-9


def test_the_wrong_lifetime_shows() -> None:
    reconciliation = reconciled(recorded([0, 400, 400, 400, 400], Provider(3_600)))
    assert error(reconciliation, "read") > 0.5
    assert error(reconciliation, "usd") > 0.5


def test_a_cache_that_loses_what_it_should_hold_is_counted() -> None:
    provider = Provider(lifetime=15.0)
    reconciliation = reconciled(recorded([0, 10, 20, 10, 20, 10], provider))
    assert reconciliation.missed == 2
    assert reconciliation.bill_error is not None and reconciliation.bill_error < -0.1
    assert whole_bill(reconciliation) == pytest.approx(reconciliation.reported[:, USD].sum())
    assert reconciliation.usd_found == 0.0


def test_a_request_that_reads_all_of_the_prompt_before_it_does_not_miss_though_that_was_predicted_too_large() -> (
    None
):
    reconciliation = reconciled(recorded([0, 10, 10, 10], hidden=[-5_000] * 4))
    assert (reconciliation.missed, reconciliation.usd_missed) == (0, 0.0)
    assert [name for name, usd in reconciliation.reasons.items() if abs(usd) > 1e-9] == [
        "sizes of prompts"
    ]


def whole_bill(found: Reconciliation) -> float:
    """The predicted bill once it is known what the provider's cache held."""
    return float(found.predicted[:, USD].sum()) + found.usd_missed - found.usd_found


def test_a_cache_that_an_earlier_session_wrote_is_found_and_counted() -> None:
    reconciliation = reconciled(recorded([0, 10, 10], Provider(before=HEAD)))
    assert reconciliation.bill_error is not None and reconciliation.bill_error > 0.1
    assert (reconciliation.missed, reconciliation.usd_missed) == (0, 0.0)
    assert whole_bill(reconciliation) == pytest.approx(reconciliation.reported[:, USD].sum())


def test_the_reasons_sum_to_the_error_of_the_bill_and_name_what_happened() -> None:
    waits = {
        "missed after a pause": [0, 10, 90, 10],
        "missed for no reason on record": [0, 10, 20, 10],
    }
    for reason, pauses in [
        *waits.items(),
        *(("missed at a user's message", pauses) for pauses in waits.values()),
    ]:
        reconciliation = reconciled(
            recorded(pauses, Provider(lifetime=15.0), by_tools="user" not in reason)
        )
        assert next(iter(reconciliation.reasons)) == reason
        off = float((reconciliation.predicted - reconciliation.reported)[:, USD].sum())
        assert sum(reconciliation.reasons.values()) == pytest.approx(off) and off < 0
    early = reconciled(recorded([0, 10, 10], Provider(before=HEAD))).reasons
    assert (
        next(iter(early)) == "found from an earlier session"
        and early["found from an earlier session"] > 0
    )
    late = reconciled(recorded([0, 400, 400], Provider(3_600))).reasons
    assert next(iter(late)) == "found after its promised time"


@pytest.mark.parametrize(("cache", "reproduced"), [("openai", True), ("openai, writes", False)])
def test_a_provider_that_drops_a_turn_s_reasoning_finds_the_prompt_that_began_it(
    cache: str, reproduced: bool
) -> None:
    """Turns of three requests; OpenAI up to GPT-5.5 does so, later models keep the reasoning."""
    log, counted, prompts = Log(), 0, list[int]()
    for n in range(9):
        begins = n % 3 == 0
        last = said("go", f"u{n}") if begins else result("done", id=f"u{n}")
        prompts.append(OVERHEAD + counted + 1_000)
        found = 0 if not n else prompts[-4] if begins else prompts[-2]
        read = found // 128 * 128
        usage = Usage(input=prompts[-1] - read, cache_read=read, reasoning=64)
        log.append(MessageEntry(id=f"u{n}", parent=log.leaf, message=last))
        answer = replace(told("ok", f"a{n}"), usage=usage, model="m", time=10.0 * n)
        log.append(MessageEntry(id=answer.id, parent=log.leaf, message=answer))
        counted += 2_000
    reconciliation = reconciled(Session("s", log), cache)
    assert (
        reconciliation.predicted[:, READ].tolist() == reconciliation.reported[:, READ].tolist()
    ) is reproduced
    assert (reconciliation.missed == 0) is reproduced


def test_writes_that_no_report_names_are_a_reason_of_their_own() -> None:
    session = recorded([0, 10, 10])
    for answer, usage in reported(session):
        unnamed = Usage(input=usage.cache_write, cache_read=usage.cache_read)
        object.__setattr__(answer, "usage", unnamed)
    reconciliation = reconciled(session)
    name, usd = next(iter(reconciliation.reasons.items()))
    assert name == "cache writes that no report names" and usd == pytest.approx(
        reconciliation.usd_unwritten
    )
    assert (
        sum(reconciliation.reasons.values()) == pytest.approx(usd)
        and reconciliation.bill_error is not None
        and reconciliation.bill_error > 0
    )


def test_a_client_that_asks_for_no_cache_is_priced_without_one() -> None:
    plain = recorded([0, 10, 10], Provider(lifetime=0.0))
    answers = [m for m in plain.messages if isinstance(m, AssistantMessage) and m.usage is not None]
    for number, answer in enumerate(answers):
        object.__setattr__(answer, "usage", Usage(input=20_000 + 1_000 * number))
    session = replace(plain, model="claude-sonnet-4-5")
    assert pricing(session).rules.name == "no cache asked for"
    assert pricing(replace(plain, model="gpt-5.4")).rules.name == "OpenAI, automatic"


def test_a_recording_whose_client_reports_nothing_of_a_cache_is_not_compared() -> None:
    session = recorded([0, 10, 10])
    for answer, usage in reported(session):
        object.__setattr__(answer, "usage", Usage(input=usage.prompt))
    reconciliation = reconciled(session, "openai", None)
    assert (reconciliation.why, len(reconciliation.predicted), reconciliation.left_out) == (
        "its reports say nothing of a cache",
        0,
        3,
    )
    assert reconciled(session, "no cache", None).error("prompt") == 0.0


def test_a_model_without_a_price_is_priced_as_the_one_that_its_name_goes_on_from() -> None:
    session = replace(recorded([0, 10]), model="gpt-5.3-codex-spark")
    found = pricing(session)
    assert found.model == "gpt-5.3-codex" and found.rules.name == "OpenAI, automatic"
    assert (
        found.why
        == "no price is known for the model 'gpt-5.3-codex-spark'; it is priced as gpt-5.3-codex"
    )
    assert pricing(replace(session, model="nobody-knows")).model == "claude-sonnet-4-5"


def test_a_cut_that_nobody_recorded_costs_one_request_and_is_named() -> None:
    reconciliation = reconciled(
        recorded([0, 10, 10, 10, 10], hidden=[0, 0, -9_000, -9_000, -9_000])
    )
    assert reconciliation.turns == {"shrunk": 1}
    assert (reconciliation.errors("prompt") > 0).tolist() == [False, False, True, False, False]
    assert reconciliation.error("prompt") == 0.0


def test_tokens_are_those_before_the_answer_and_not_after_it() -> None:
    """Were the answer counted with its own prompt, each prediction would be 1,000 too large."""
    assert reconciled(recorded([0, 10, 10])).predicted[:, PROMPT].tolist() == [
        21_000,
        23_000,
        25_000,
    ]


def test_reported_dollars_take_each_part_at_its_own_price() -> None:
    class Mixed(Provider):
        def usage(self, prompt: int, now: float, whole: bool) -> Usage:
            return Usage(
                input=100, cache_read=1_000, cache_write=500, cache_write_long=200, output=9_999
            )

    found = reconciled(recorded([0], Mixed()))
    assert found.reported[:, USD] == pytest.approx(
        [(100 * 3 + 1_000 * 0.3 + 300 * 3.75 + 200 * 6) * 1e-6]
    )


def test_what_cannot_be_compared_says_why() -> None:
    silent = Session.of([said("hi"), told("ok")])
    sizing = Sizing((1, 1), 0, thousand)
    assert reconcile(silent, sizing, pricing(silent)).why == "no usage was reported"
    spoke = Session.of([said("hi"), told("ok", usage=Usage(input=9))])
    assert "fit no one law" in reconcile(spoke, sizing, pricing(spoke)).why


def test_eleven_real_recordings_are_reproduced(corpora: Path) -> None:
    """Prompts within 2 % in the median request of each, cache reads too; dollars within 2.5 %."""
    count = TiktokenCounter()
    for path in sorted((corpora / "entireio-cli").glob("*.jsonl")):
        session, *_ = load(path, lenient=True)
        reconciliation = reconcile(
            session, Sizing.of(session, count.sizes(session.messages), count), pricing(session)
        )
        assert error(reconciliation, "prompt") <= 0.02, path
        assert error(reconciliation, "read") <= 0.02, path
        assert error(reconciliation, "usd") <= 0.025, path
