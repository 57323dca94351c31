"""`workbench inspect`: what a recording holds."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from workbench.cli.options import AsJson
from workbench.cli.output import REDACT, complain, count, printable, say, say_json, table
from workbench.importers.importer import scan
from workbench.models.tokenizer import TiktokenCounter
from workbench.replay.sizing import Sizing
from workbench.transcript.redaction import Redactor, redacted
from workbench.transcript.session import Session

UNUSABLE = 2


def inspect(
    paths: Annotated[
        list[str], typer.Argument(help="Recordings: files, folders or patterns; `-` reads standard input.")
    ],
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    lenient: Annotated[bool, typer.Option("--lenient", help="Skip damaged lines and say so.")] = False,
    as_json: AsJson = False,
) -> int:
    """Say what recordings hold: format, messages, tokens, branches, recorded compactions, reported usage.

    Example:

      workbench inspect session.jsonl
    """
    mask = Redactor().mask if redact else str
    facts: list[dict[str, object]] = []
    bad: list[dict[str, str]] = []
    for loaded in scan(paths, lenient=lenient):
        if loaded.error is not None:
            bad.append({"path": mask(str(loaded.path)), "reason": mask(str(loaded.error))})
        facts += [_facts(redacted(session) if redact else session) for session in loaded.sessions]
    if as_json:
        say_json({"sessions": facts, "unreadable": bad})
    elif len(facts) == 1:
        _one(facts[0])
    elif facts:
        say(table([_line(fact) for fact in facts], left=["session", "format", "model"]))
    for row in bad:
        complain(f"workbench: {row['reason']}")
    return UNUSABLE if bad else 0


def _facts(session: Session) -> dict[str, object]:
    counter = TiktokenCounter()
    counted = counter.sizes(session.messages)
    sizing = Sizing.of(session, counted, counter)
    fitted = sizing.calibration
    reported = [m.usage.prompt for m in session.messages if m.role == "assistant" and m.usage is not None]
    return {
        "session": session.id,
        "path": session.origin.path,
        "format": session.origin.format,
        "title": session.title,
        "model": session.model,
        "window": session.window,
        "messages": len(session.messages),
        "roles": dict(Counter(message.role for message in session.messages)),
        "tool_calls": sum(len(m.calls) for m in session.messages if m.role == "assistant"),
        "requests": len(session.requests),
        "tokens": sum(counted),
        "entries": len(session.log),
        "branches": session.branches,
        "recorded_compactions": [
            {
                "before_message": recorded.at,
                "kind": recorded.entry.type,
                "reason": recorded.entry.reason,
                "tokens_before": recorded.entry.tokens_before,
                "summary_readable": recorded.entry.type == "compaction" and recorded.entry.summary is not None,
            }
            for recorded in session.recorded
        ],
        "usage": {
            "requests_with_usage": len(reported),
            "largest_prompt": max(reported, default=None),
            "overhead": None if fitted is None else fitted.overhead,
            "scale": None if fitted is None else round(fitted.scale, 3),
            "median_error": None if fitted is None else round(fitted.error, 4),
        },
        "skipped": list(session.origin.skipped),
    }


def _line(fact: dict[str, object]) -> dict[str, str]:
    recorded = fact["recorded_compactions"]
    assert isinstance(recorded, list)
    return {
        "session": str(fact["session"]),
        "format": str(fact["format"]),
        "model": str(fact["model"]),
        "messages": str(fact["messages"]),
        "calls": str(fact["tool_calls"]),
        "tokens": f"{fact['tokens']:,}",
        "branches": str(fact["branches"]),
        "compactions": str(len(recorded)),
        "skipped": str(len(fact["skipped"])) if isinstance(fact["skipped"], list) else "0",
    }


def _one(fact: dict[str, object]) -> None:
    roles, usage, recorded, skipped = fact["roles"], fact["usage"], fact["recorded_compactions"], fact["skipped"]
    assert isinstance(roles, dict) and isinstance(usage, dict)
    assert isinstance(recorded, list) and isinstance(skipped, list)
    say(f"session     {printable(str(fact['session']))}")
    if fact["title"]:
        say(f"title       {printable(str(fact['title']))[:100]}")
    say(f"format      {fact['format']}")
    say(f"model       {printable(str(fact['model'])) or 'unknown'}")
    words = ", ".join(f"{n} {role}" for role, n in sorted(roles.items()))
    say(f"messages    {fact['messages']} ({words}; {fact['tool_calls']} tool calls)")
    say(f"requests    {fact['requests']}")
    say(f"tokens      {fact['tokens']:,} (o200k_base)")
    say(f"branches    {fact['branches']} ({fact['entries']} entries)")
    if usage["requests_with_usage"]:
        say(
            f"usage       reported for {usage['requests_with_usage']} requests, the largest prompt "
            f"{count(usage['largest_prompt'])} tokens"
        )
    if usage["overhead"] is not None:
        say(
            f"calibrated  {usage['overhead']:,} tokens of overhead, scale {usage['scale']}, "
            f"median error {usage['median_error']:.1%}"
        )
    else:
        say("calibrated  no: the recording reports no usage that fits its messages")
    for one in recorded:
        size = f", {one['tokens_before']:,} tokens before" if one["tokens_before"] else ""
        seen = "summary readable" if one["summary_readable"] else "no readable summary"
        what = seen if one["kind"] == "compaction" else "results cleared"
        why = one["reason"] or "no reason given"
        say(f"{one['kind']:<11} before message {one['before_message']} ({why}{size}; {what})")
    for line in skipped:
        say(f"skipped     {printable(str(line))}")
