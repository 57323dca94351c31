"""Ways in which a provider fails, each with what becomes of the replays that ask it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from engine.models.provider import Provider, Reply, completion, refusal

from builders import remembering, rules
from workbench import ModelSettings, Results, Session, compare

MODELS_FILE = "WORKBENCH_MODELS"

API_BASE = "WORKBENCH_API_BASE"

MODEL = "litellm:openai/stub"
SENTENCES = (
    "The agent looked at the files, one by one, and found nothing to change so far.", "The user wants brevity.",
    "All was noted.", "None were taken.", "To wait for more.", "There is none.",
)  # fmt: skip
Says: TypeAlias = Callable[[dict[str, Any]], Reply]
Becomes: TypeAlias = Literal["written", "useless", "pending"]


@dataclass(frozen=True)
class Fault:
    """A fault of a provider.

    Attributes:
        becomes: of the summaries that it is asked for.
        always: what it says to every request; None for a provider that is not there.
        first: whether it says so to the first try only, and answers the second one.
        variables: of the environment.
    """

    becomes: Becomes
    always: Reply | Says | None
    first: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    def says(self) -> Says:
        """What the provider answers."""
        tries: dict[str, int] = {}

        def say(asked: dict[str, Any]) -> Reply:
            prompt = str(asked["messages"])
            tries[prompt] = tries.get(prompt, 0) + 1
            if self.first and tries[prompt] > 1:
                return summary(asked)
            assert self.always is not None
            return self.always(asked) if callable(self.always) else self.always

        return say


def summary(asked: dict[str, Any], usage: Any = "honest") -> Reply:
    """A summary with the headings that the prompt asks for."""
    headings = [
        line for line in asked["messages"][-1]["content"].splitlines() if line.startswith("## ")
    ]
    text = "\n".join(
        f"{heading}\n- {says}" for heading, says in zip(headings, SENTENCES, strict=False)
    )
    return completion(text or SENTENCES[0], usage=usage)


def _usage(read: int, wrote: int, **more: Any) -> Says:
    usage = {
        "prompt_tokens": read,
        "completion_tokens": wrote,
        "total_tokens": read + wrote,
        **more,
    }
    return lambda asked: summary(asked, usage)


def _date(days: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(days=days), usegmt=True)


def _busy(wait: str) -> Reply:
    return refusal(429, "Rate limit reached", retry_after=wait)


HALF = Reply('{"id": "x", "choices": [{"index"', headers={"content-length": "5000"})
CUT_JSON = Reply('{"id": "x", "choices": [{"index"')
HTML = Reply("<html>Bad gateway</html>", headers={"content-type": "text/html"})
NO_CHOICE = Reply({"id": "x", "object": "chat.completion", "model": "stub", "choices": []})
SLOW = {"WORKBENCH_TIMEOUT": "0.2", "WORKBENCH_TRIES": "1"}

PASSING: dict[str, Reply] = {
    "429": refusal(429, "Rate limit reached"), "429, wait 0": _busy("0"), "429, wait until a date": _busy(_date(-1)),
    "429, wait nan": _busy("nan"), "429, wait below 0": _busy("-5"), "429, wait garbage": _busy("soon"),
    "408": refusal(408, "timeout"), "500": refusal(500, "oops"), "502": refusal(502, "bad gateway"),
    "503, wait 0": refusal(503, "overloaded", retry_after="0"), "reset": Reply("", resets=True), "half stream": HALF,
    "truncated JSON": CUT_JSON, "HTML": HTML, "no choice": NO_CHOICE, "nothing": Reply(""),
}  # fmt: skip
LASTING: dict[str, Reply] = {
    "401": refusal(401, "Incorrect API key provided", "invalid_api_key"), "402": refusal(402, "payment required"),
    "403": refusal(403, "forbidden"), "404": refusal(404, "the model does not exist", "model_not_found"),
    "400": refusal(400, "temperature must be a number"), "429, wait a day": _busy("86400"),
    "429, wait until tomorrow": _busy(_date(1)), "429, wait inf": _busy("inf"), "429, wait huge": _busy("1e400"),
    "429, no money": refusal(429, "You exceeded your current quota", "insufficient_quota"),
    "500": PASSING["500"], "503": refusal(503, "overloaded", retry_after="0"), "reset": PASSING["reset"],
    "half stream": HALF, "truncated JSON": CUT_JSON, "HTML": HTML, "no choice": NO_CHOICE, "null": Reply("null"),
    "a list": Reply([1, 2]), "an error with status 200": Reply({"error": {"message": "overloaded"}}),
}  # fmt: skip
USELESS: dict[str, Reply | Says] = {
    "empty": completion(""), "blanks": completion(" \n "), "too long": completion("The agent looked. " * 4_000),
    "a refusal": completion("I'm sorry, but I can't help with that."),
    "a refusal beside the text": completion(None, refusal="I cannot help with that."),
    "a content filter's error": refusal(400, "The response was filtered due to the content management policy"),
    "a content filter's end": completion("", finish="content_filter"),
    "a tool call": completion("<tool_call>{}</tool_call>"), "a loop": completion("All was noted.\n" * 60),
    "thoughts alone": completion("<think>What do they want?</think>"),
    "the prompt is too long": refusal(400, "prompt is too long: 9 tokens > 8 maximum"),
}  # fmt: skip
ODD: dict[str, Reply | Says] = {
    "no usage": lambda asked: summary(asked, None), "usage of 0": _usage(0, 0), "usage below 0": _usage(-5, 3),
    "a huge prompt": _usage(10**9, 3), "a huge answer": _usage(12, 10**6),
    "more cached than read": _usage(12, 3, prompt_tokens_details={"cached_tokens": 500}),
    "plain text as its type": lambda asked: replace(summary(asked), headers={"content-type": "text/plain"}),
}  # fmt: skip

FAULTS: dict[str, Fault] = {
    **{f"first {name}": Fault("written", reply, first=True) for name, reply in PASSING.items()},
    **{f"always {name}": Fault("pending", reply) for name, reply in LASTING.items()},
    **{name: Fault("useless", reply) for name, reply in USELESS.items()},
    **{name: Fault("written", reply) for name, reply in ODD.items()},
    "connection refused": Fault("pending", None, variables={API_BASE: "http://127.0.0.1:9/v1"}),
    "unknown host": Fault("pending", None, variables={API_BASE: "http://no-such-host.invalid/v1"}),
    "never an answer": Fault("pending", Reply("", hangs=True), variables=SLOW),
    "an answer that drips": Fault(
        "pending", replace(completion("x" * 3_000), drips=0.02), variables=SLOW
    ),
}
SAMPLE = (
    "first 429, wait nan", "first half stream", "always 401", "connection refused", "too long", "a huge answer",
)  # fmt: skip
"""Of the short profile."""


def configured(folder: Path, address: str) -> dict[str, str]:
    """The environment in which a stub is asked: without waits, at a dollar a token."""
    (folder / "models.toml").write_text(
        "[default]\nfirst_wait = 0.01\ninput_usd = 1\noutput_usd = 2\n"
    )
    return {MODELS_FILE: str(folder / "models.toml"), "WORKBENCH_TRIES": "2", API_BASE: address}


def started(folder: Path, provider: Provider) -> None:
    """A run in which all is done that no provider is needed for."""
    provider.by = lambda asked: refusal(401, "not yet")
    done(folder, folder.with_name("cache-of-started"))


def done(folder: Path, cache: Path, **more: Any) -> Results:
    """The run of one session under `summarize`."""
    session = Session.of([rules("be brief"), *remembering(16)], id="s", project="p")
    return compare(
        [session],
        strategies=["summarize"],
        window=2_500,
        shares=(0.3,),
        boundaries=(0.6,),
        model=MODEL,
        quiet=True,
        out=folder,
        model_settings=ModelSettings(cache=cache),
        **more,
    )


def met(fault: Fault, provider: Provider, before: Path, folder: Path) -> Results:
    """The run `before`, gone on with at a provider that has this fault."""
    shutil.copytree(before, folder)
    provider.by = fault.says()
    old = {name: os.environ.get(name) for name in fault.variables}
    os.environ.update(fault.variables)
    try:
        return done(folder, folder.with_name("cache"))
    finally:
        for name, value in old.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def spent(cache: Path) -> float:
    """Dollars of all calls in the ledger."""
    with closing(sqlite3.connect(cache / "answers.sqlite")) as ledger:
        return float(
            ledger.execute(
                "select coalesce(sum(coalesce(usd, reserved)), 0) from calls"
            ).fetchone()[0]
        )
