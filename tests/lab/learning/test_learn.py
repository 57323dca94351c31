import json
from dataclasses import replace
from pathlib import Path

import pytest
from engine.models.provider import Reply, completion, refusal, serving
from recorded_files import bundled_files

from workbench import (
    AssistantMessage,
    Budget,
    Compaction,
    Context,
    Model,
    Scripted,
    SettingError,
    Strategy,
    Summary,
    Text,
    ToolCall,
    UserMessage,
    compact,
    preset,
)
from workbench.cli import main
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.transcript.message import Message, ToolResult, plain_text


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("learned") / "weights.json"
    files = [str(path) for path in bundled_files() if path.stat().st_size < 200_000][:3]
    assert main(["lab", "learn", *files, "--out", str(out), "--jobs", "1"]) == 0
    return out


def test_weights_are_readable_and_name_their_features(learned: Path) -> None:
    found = json.loads(learned.read_text())

    assert found["format"] == "workbench learned lines"
    assert found["needed"]["weights"]["said"] >= 0
    assert found["needed"]["weights"]["text since"] <= 0
    assert found["checks"]["needed"]["auc"] > 0.5


def test_too_few_sessions_are_said_to_be_too_few(
    learned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "lab",
                "learn",
                str(bundled_files()[0]),
                "--out",
                str(learned.parent / "one.json"),
                "--jobs",
                "1",
            ]
        )
        == 0
    )

    assert "too few to learn from" in capsys.readouterr().err


def test_own_weights_are_a_strategy_of_their_own(learned: Path) -> None:
    own = preset(f"learned:{learned}")

    assert own.name == f"learned:{learned}"
    assert own.strategy.stages != preset("learned").strategy.stages


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no JSON", "holds no JSON"),
        ('{"needed": {}}', "holds no learned weights"),
        ('{"format": "workbench learned lines", "version": 99}', "version 99"),
        (
            '{"format": "workbench learned lines", "version": 2, "needed": {"weights": {"x": 1}}}',
            "features of `needed`",
        ),
    ],
)
def test_another_file_is_refused_in_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "weights.json"
    path.write_text(text)

    with pytest.raises(SettingError, match=why):
        preset(f"learned:{path}")


def test_a_weight_that_is_no_number_is_refused(learned: Path, tmp_path: Path) -> None:
    found = json.loads(learned.read_text())
    found["needed"]["intercept"] = "high"
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(found))

    with pytest.raises(SettingError, match="no finite number"):
        preset(f"learned:{path}")


def conversation() -> Context:
    messages: list[Message] = [
        UserMessage(id="u0", blocks=(Text("Never edit /srv/app/config/production.toml by hand."),))
    ]
    for n in range(30):
        call = ToolCall(id=f"c{n}", name="read", arguments={"path": f"src/module_{n}.py"})
        text = Text(f"Reading src/module_{n}.py, since handler_{n} raised ConnectionResetError.")
        lines = "\n".join(f"value_{n}_{i} = {n}{i}  # set by handler_{n}" for i in range(20))
        messages.append(AssistantMessage(id=f"a{n}", blocks=(text, call)))
        messages.append(ToolResult(id=f"r{n}", call_id=f"c{n}", name="read", blocks=(Text(lines),)))
    messages.append(UserMessage(id="u1", blocks=(Text("Now fix handler_3."),)))
    return Context.of(messages)


def compacted(how: str | Strategy, model: Model, share: float = 0.2) -> Compaction:
    history = conversation()
    strategy = preset(how).strategy if isinstance(how, str) else how
    target = int(share * history.tokens)
    return compact(
        history, strategy, Budget(target=target, window=target * 4, reason="matched"), model
    )


def summary_of(done: Compaction) -> Summary:
    return next(message for message in done.sent.messages if isinstance(message, Summary))


def test_the_lines_are_the_historys_own_and_within_the_target() -> None:
    compaction = compacted("learned", Scripted([]))
    text = "\n".join(
        block.text
        for message in compaction.before.messages
        for block in message.blocks
        if block.type == "text"
    )
    lines = [line[2:] for line in summary_of(compaction).text.splitlines() if line.startswith("- ")]

    assert (
        compaction.outcome == "compacted"
        and not compaction.violations
        and not compaction.completions
    )
    assert "Never edit /srv/app/config/production.toml by hand." in lines
    results = [text.index(line) for line in lines if line.startswith("value_")]
    assert results == sorted(results)


def test_what_a_kept_message_tells_is_not_said_again() -> None:
    compaction = compacted("learned", Scripted([]))
    kept = {
        line
        for message in compaction.sent.messages
        if not isinstance(message, Summary)
        for block in message.blocks
        if block.type == "text"
        for line in block.text.splitlines()
    }

    assert not kept & {
        line[2:] for line in summary_of(compaction).text.splitlines() if line.startswith("- ")
    }


def test_lines_of_an_earlier_summary_are_carried_on() -> None:
    compaction = compacted("learned", Scripted([]), 0.4)
    more = [
        AssistantMessage(id=f"m{n}", blocks=(Text(f"Step {n} changed lib/part_{n}.rs. " * 8),))
        for n in range(30)
    ]
    context = Context.of([*compaction.sent.messages, *more])
    again = compact(
        context,
        preset("learned").strategy,
        Budget(target=context.tokens // 3, window=9_000),
        Scripted([]),
    )

    assert "[user]" in summary_of(again).text
    assert "Never edit /srv/app/config/production.toml by hand." in summary_of(again).text


def test_what_the_user_asked_for_first_outlives_compactions() -> None:
    text = (
        "I wonder whether our little shop feels slower in the mornings than it did before the"
        " summer came."
    )
    context = Context.of([UserMessage(id="first", blocks=(Text(text),)), *conversation().messages])
    for step in range(2):
        size = Budget(target=context.tokens // 10, window=context.tokens, reason="matched")
        compaction = compact(context, preset("learned").strategy, size, Scripted([]))
        assert text in summary_of(compaction).text
        more = [replace(message, id=f"{message.id} {step}") for message in conversation().messages]
        context = Context.of([*compaction.sent.messages, *more])


def test_a_model_writes_above_the_lines_and_sees_them() -> None:
    model = Scripted(["The user wants handler_3 fixed."] * 2)
    compaction = compacted("learned_summary", model)
    text = summary_of(compaction).text
    narrative, lines = text.split("\n\n", 1)

    assert narrative == "The user wants handler_3 fixed."
    assert lines in model.requests[0].prompt
    assert "word for word" in model.requests[0].prompt


def over_http(*replies: Reply) -> tuple[Compaction, list[str]]:
    """What `learned_summary` makes of a provider's answers, and the prompts that the provider
    got.
    """
    with serving() as server:
        server.replies = list(replies)
        provider_options = ProviderOptions(
            api_base=server.address, tries=2, first_wait=0.01, timeout=20.0
        )
        compaction = compacted("learned_summary", LiteLLM("openai/stub", provider_options))
        return compaction, [request["messages"][-1]["content"] for request in server.requests]


def test_a_provider_is_sent_the_lines_and_its_answer_stands_above_them() -> None:
    compaction, prompts = over_http(completion("The user wants handler_3 fixed."))
    narrative, lines = summary_of(compaction).text.split("\n\n", 1)

    assert narrative == "The user wants handler_3 fixed."
    assert f"<kept-lines>\n{lines}\n</kept-lines>" in prompts[0]
    assert "- Never edit /srv/app/config/production.toml by hand." in lines


def test_a_provider_that_fails_once_is_asked_again() -> None:
    compaction, prompts = over_http(refusal(503, "overloaded"), completion("Fix handler_3."))

    assert len(prompts) == 2
    assert summary_of(compaction).text.startswith("Fix handler_3.")


@pytest.mark.parametrize("reply", [refusal(401, "no key"), completion("")])
def test_without_an_answer_the_lines_stay_all_the_same(reply: Reply) -> None:
    compaction, _ = over_http(reply)

    assert compaction.outcome == "compacted" and not compaction.violations
    assert "- Never edit /srv/app/config/production.toml by hand." in summary_of(compaction).text


def test_below_a_register_the_lines_still_say_in_order_what_was_said() -> None:
    lines = preset("learned").strategy
    compaction = compacted(
        replace(lines, stages=(STAGES["register"](), *lines.stages)), Scripted([]), 0.4
    )
    register = next(message for message in compaction.sent.messages if message.name == "register")

    assert compaction.outcome == "compacted" and not compaction.violations
    assert "Never edit /srv/app/config/production.toml by hand." in plain_text(register)
    assert (
        "- Never edit /srv/app/config/production.toml by hand."
        in summary_of(compaction).text.splitlines()
    )


def test_of_a_long_history_what_was_said_is_read_and_old_results_are_not() -> None:
    filler = "\n".join(f"reading_{n} = {n * 7919}" for n in range(4_000))
    message = UserMessage(
        id="u", blocks=(Text("Keep the limit_of_uploads at 4711 in settings/upload.toml."),)
    )
    old: list[Message] = [message]
    for n in range(6):
        call = ToolCall(id=f"old{n}", name="read", arguments={"path": f"log{n}"})
        result = Text(f"run_{n} took {n}81 ms\n{filler}")
        old.append(AssistantMessage(id=f"o{n}", blocks=(call,)))
        old.append(ToolResult(id=f"p{n}", call_id=call.id, blocks=(result,)))
    context = Context.of([*old, *conversation().messages])
    compaction = compact(
        context, preset("learned").strategy, Budget(target=2_000, window=9_000), Scripted([])
    )

    assert (
        "Keep the limit_of_uploads at 4711 in settings/upload.toml." in summary_of(compaction).text
    )
    assert "run_0 took" not in summary_of(compaction).text
