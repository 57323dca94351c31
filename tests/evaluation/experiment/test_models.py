"""A run whose summaries a real model writes, or several do: behind a server on this machine."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Provider, Reply, completion, refusal
from evaluation.experiment.outages import MODEL, summary

from builders import remembering, rules, said, told
from profiles import FULL
from workbench import ModelSettings, Results, Session, SettingError, compare
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.table_columns import COLUMNS


def session(number: int = 0) -> Session:
    return Session.of(
        [rules("be brief"), *remembering(40 + number)], id=f"s{number}", project=f"p{number}"
    )


def run(tmp_path: Path, model: str = MODEL, name: str = "run", **more: Any) -> Results:
    model_settings = ModelSettings(
        **{"cache": tmp_path / "cache", **more.pop("model_settings", {})}
    )
    given = {
        "strategies": ("truncate", "summarize"),
        "shares": (0.2,),
        "boundaries": (0.6,),
        **more,
    }
    sessions = given.pop("sessions", (session(),))
    return compare(
        sessions,
        window=6_000,
        out=tmp_path / name,
        quiet=True,
        model=model,
        model_settings=model_settings,
        **given,
    )


def test_a_real_model_writes_the_summaries_and_the_tables_say_so(
    provider: Provider, tmp_path: Path
) -> None:
    results = run(tmp_path)
    rows = results.compactions[results.compactions["strategy"] == "summarize"]
    asked = rows[rows["requests"] > 0]
    assert len(asked) and set(asked["writer"]) == {"litellm:stub"}
    assert (
        (asked["fallbacks"] == 0).all()
        and (asked["usd"] > 0).all()
        and (asked["findings"] == "").all()
    )
    replays = dict(zip(results.replays["strategy"], results.replays["model"], strict=True))
    assert replays["summarize"] == MODEL and {
        replays[name] for name in replays if name != "summarize"
    } == {""}


def test_messages_that_did_not_fit_into_the_prompt_are_in_the_record(
    provider: Provider, tmp_path: Path
) -> None:
    talk = [
        message
        for i in range(60)
        for message in (said(f"step {i} " + "word " * 200, f"u{i}"), told("fine " * 200, f"a{i}"))
    ]
    long = Session.of([rules("be brief"), *talk], id="long", project="p")
    asked = run(tmp_path, sessions=(long,)).compactions.query("requests > 0")
    left = asked[asked["left_out"] > 0]
    assert len(left)
    for row in left.itertuples():
        assert "messages left out of the prompt" in row.method
    shown = [
        str(request["messages"])
        for request in provider.requests
        if "entries left out for length" in str(request["messages"])
    ]
    assert shown, "the prompt says so too"
    assert (
        run(tmp_path, "extractive", name="own", sessions=(long,)).compactions["left_out"].fillna(0)
        == 0
    ).all()


def test_several_models_stand_side_by_side_and_who_asks_nobody_stands_once(
    provider: Provider, tmp_path: Path
) -> None:
    results = run(tmp_path, f"extractive,{MODEL}")
    names = list(dict.fromkeys(results.replays["strategy"]))
    assert names[:4] == ["none", "truncate", "summarize (extractive)", f"summarize ({MODEL})"]
    recall = results.scores[
        (results.scores["metric"] == "exam_recall") & (results.scores["mode"] == "natural")
    ]
    values = dict(zip(recall["strategy"], recall["value"], strict=True))
    assert values["summarize (extractive)"] > values[f"summarize ({MODEL})"]
    own = results.compactions[results.compactions["strategy"] == "summarize (extractive)"]
    assert set(own["writer"]) == {"extractive"}


def test_a_run_is_repeated_from_its_cache_with_the_network_cut(
    provider: Provider, tmp_path: Path
) -> None:
    first = run(tmp_path)
    calls = len(provider.requests)
    provider.by = lambda asked: refusal(500, "the network is cut")
    again = run(tmp_path, name="again", model_settings={"cache_only": True})
    assert len(provider.requests) == calls > 0
    for table in COLUMNS.keys() - {"replays"}:
        assert (first.path / f"{table}.parquet").read_bytes() == (
            again.path / f"{table}.parquet"
        ).read_bytes()
    assert first.replays.drop(columns="usd").equals(again.replays.drop(columns="usd"))
    assert first.replays["usd"].sum() > 0 == again.replays["usd"].sum(), (
        "what is in the cache costs nothing"
    )


def test_from_the_cache_alone_an_unknown_question_leaves_its_replay_pending_and_says_why(
    provider: Provider, tmp_path: Path
) -> None:
    results = run(tmp_path, model_settings={"cache_only": True})
    pending = results.replays[results.replays["status"] == "pending"]
    assert list(pending["strategy"]) == ["summarize"] and "cache alone" in pending["reason"].iloc[0]
    assert provider.requests == []


def everything_spent(cache: Path) -> float:
    """Over all runs that share a cache."""
    with sqlite3.connect(cache / "answers.sqlite") as ledger:
        return float(
            ledger.execute(
                "select coalesce(sum(coalesce(usd, reserved)), 0) from calls"
            ).fetchone()[0]
        )


def test_all_replicates_of_a_run_share_one_limit(provider: Provider, tmp_path: Path) -> None:
    run(tmp_path, replicates=3, model_settings={"cache": tmp_path / "rich"})
    needed = everything_spent(tmp_path / "rich")
    poor = run(tmp_path, name="poor", replicates=3, model_settings={"max_usd": 0.9 * needed})
    assert needed / 3 < everything_spent(tmp_path / "cache") <= 0.9 * needed
    assert set(poor.replicates["replicate"]) < {0, 1, 2}, "the last one stopped at the limit"


def test_workers_pay_each_question_once_stop_together_at_the_limit_and_go_on_later(
    provider: Provider, tmp_path: Path
) -> None:
    sessions = (session(), Session.of(session().messages, id="twin", project="p9"), session(3))
    jobs = 2 if FULL else 1  # what processes do to one limit together, the ledger's tests show
    poor = run(
        tmp_path, jobs=jobs, sessions=sessions, model_settings={"max_usd": 0.032, "concurrency": 2}
    )
    pending = poor.replays[poor.replays["status"] == "pending"]
    assert (
        set(pending["strategy"]) == {"summarize"} and pending["reason"].str.contains("limit").all()
    )
    assert "truncate" in set(poor.replays[poor.replays["status"] == "ok"]["strategy"])
    assert 0 < everything_spent(tmp_path / "cache") <= 0.032 and provider.most_open <= 2
    calls = len(provider.requests)
    assert run(tmp_path, sessions=sessions, model_settings={"max_usd": 100.0}).pending == 0
    prompts = [str(request["messages"]) for request in provider.requests]
    assert len(prompts) == len(set(prompts)) > calls > 0


def test_no_replay_is_lost_to_a_provider_that_fails_in_every_way(
    provider: Provider, tmp_path: Path
) -> None:
    faults = [
        refusal(429, "slow down", retry_after="0"),
        Reply("", resets=True),
        refusal(500, "oops"),
        Reply('{"id": "x", "choices": [{"ind'),
        completion(""),
        completion("<tool_call>{}</tool_call>"),
        refusal(400, "prompt is too long: 9 tokens > 8 maximum"),
    ]
    turns = iter(range(10_000))
    provider.by = lambda asked: (
        faults[n // 3 % 7] if (n := next(turns)) % 3 else summary(asked, None)
    )
    results = run(tmp_path, sessions=(session(), session(1)))
    assert results.failed == 0
    assert len(results.replays) == 2 * results.replays["strategy"].nunique()
    rows = results.compactions[results.compactions["strategy"] == "summarize"]
    assert set(rows["writer"]) <= {"litellm:stub", "the strategy's stand-in", ""}
    told = rows[rows["writer"] == "the strategy's stand-in"]
    assert (told["fallbacks"] > 0).all() and (told["findings"] != "").all()


def test_a_useless_summary_fails_its_replay_where_that_is_wanted(
    provider: Provider, tmp_path: Path
) -> None:
    provider.by = lambda asked: completion("<tool_call>{}</tool_call>")
    results = run(tmp_path, model_settings={"on_bad_summary": "fail"})
    failed = results.replays[results.replays["status"] == "failed"]
    assert (
        list(failed["strategy"]) == ["summarize"] and "useless summary" in failed["reason"].iloc[0]
    )


def test_other_settings_of_a_model_are_another_replay(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    calls = len(provider.requests)
    run(tmp_path)
    assert len(provider.requests) == calls
    monkeypatch.setenv("WORKBENCH_TEMPERATURE", "0.7")
    run(tmp_path)
    assert len(provider.requests) > calls


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("extractive", ("extractive",)),
        ("extractive, local", ("extractive", "local")),
        ("extractive,extractive", ("extractive",)),
        ("litellm:a/b,litellm:c", ("litellm:a/b", "litellm:c")),
        ("extractive,nonsense", ("extractive", "nonsense")),
    ],
)
def test_models_are_named_between_commas(text: str, names: tuple[str, ...]) -> None:
    assert RunSpec(model=text).model == names


def test_a_model_without_a_name_is_an_error() -> None:
    with pytest.raises(SettingError, match="has no name"):
        RunSpec(model="extractive,")
