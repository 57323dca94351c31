"""`workbench inspect`: what a recording holds."""

from collections import Counter
from collections.abc import Hashable, Mapping
from math import isnan
from typing import Any

from workbench.cli.options import AsJson, Lenient, NamedPaths, takes
from workbench.cli.output import OK, UNUSABLE, complain, printable, say, say_json, table
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.compaction_requests import compaction_request
from workbench.engine.transcript.log import ClearingEntry, CompactionEntry
from workbench.engine.transcript.redaction import masker, redacted
from workbench.evaluation.analysis.composition import RecordedContexts
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.replays.agents import limit_of
from workbench.evaluation.replays.sizing import window_of
from workbench.recordings.importers.importer import scan

COLUMNS = {
    "session": "session", "format": "format", "model": "model", "messages": "messages", "calls": "tool_calls",
    "tokens": "tokens:count", "text_read": "text_read:percent", "in notes": "text_in_notes:percent",
    "branches": "branches", "compactions": "compactions", "skipped": "skipped_lines",
}  # fmt: skip

SOURCE_COLUMNS = {
    "who": "who",
    "tokens": "tokens:count",
    "share": "share:percent",
    "USD": "usd_in_the_session:dollars",
}
MESSAGE_COLUMNS = {
    "message": "message", "who": "who", "tokens": "tokens:count", "share": "share:percent", "begins": "begins",
}  # fmt: skip
MOST_SOURCES = 12
"""Sources that the page shows; `--json` has all."""
BEGINNING = 60
"""Characters of a message that stand for it."""


@takes(Masking)
def inspect(
    spec: Masking,
    paths: NamedPaths,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> int:
    """Show what recordings contain: format, messages, tokens, branches, recorded compactions,
    reported usage.

    Of one session also what filled its context at its largest request: who put how many tokens
    there, at what price.

    Example:

      workbench inspect session.jsonl
    """
    mask = masker(spec.redaction)
    facts: list[dict[str, Any]] = []
    newest: RecordedContexts | None = None
    unreadable: list[dict[str, str]] = []
    for loaded in scan(paths, lenient=lenient):
        if loaded.error is not None:
            unreadable.append({"path": mask(str(loaded.path)), "reason": mask(str(loaded.error))})
        for session in loaded.sessions:
            newest = RecordedContexts(redacted(session, spec.redaction))
            facts.append(_facts(newest))
    context = _context(newest) if newest is not None and len(facts) == 1 else {}
    if as_json:
        if len(facts) == 1:
            facts[0]["context"] = context
        say_json({"sessions": facts, "unreadable": unreadable})
    elif len(facts) == 1:
        for name, value in facts[0].items():
            for words in map(_plain, value if isinstance(value, list) else [value]):
                if words:
                    say(f"{name.replace('_', ' '):<22}{printable(words)}")
        if context:
            _say_context(context)
    elif facts:
        counts = (
            {
                "compactions": len(session_facts["recorded_compactions"]),
                "skipped_lines": len(session_facts["skipped"]),
            }
            for session_facts in facts
        )
        say(
            table(
                [session_facts | more for session_facts, more in zip(facts, counts, strict=True)],
                COLUMNS,
            )
        )
    for row in unreadable:
        complain(f"workbench: {row['reason']}")
    if not (facts or unreadable):
        complain(
            f"workbench: {', '.join(paths)} has no recording; `workbench list formats` shows what"
            " can be read"
        )
    return OK if facts and not unreadable else UNUSABLE


def _facts(contexts: RecordedContexts) -> dict[str, Any]:
    session, sizing = contexts.sized.session, contexts.sized.sizing
    counter = TiktokenCounter()
    fitted, named = sizing.calibration, window_of(session)
    window = sizing.window(named.tokens)
    limit = limit_of(session, window)
    reported = [
        m.usage.prompt
        for m in session.messages
        if m.role == "assistant" and m.usage is not None and m.usage.prompt
    ]
    return {
        "session": session.id,
        "path": session.origin.path,
        "format": session.origin.format,
        **{name: getattr(session, name) for name in ("title", "model", "branches")},
        "window": window,
        "window_from": (
            named.source
            if window == named.tokens
            else f"{named.source}, widened to twice the overhead"
        ),
        "compacts_at": limit and limit.tokens,
        "compacts_at_from": limit and limit.source,
        "messages": len(session.messages),
        "roles": dict(Counter(message.role for message in session.messages)),
        "tool_calls": sum(len(m.calls) for m in session.messages if m.role == "assistant"),
        "requests": len(session.requests),
        "tokens": sum(sizing.counted),
        "entries": len(session.log),
        "text_read": session.origin.text_read,
        "text_in_notes": session.origin.text_noted,
        "recorded_compactions": [
            {
                "before_message": recorded.at,
                "kind": recorded.entry.type,
                "reason": recorded.entry.reason,
                "tokens_before": recorded.entry.tokens_before,
                "summary_readable": (
                    recorded.entry.type == "compaction" and recorded.entry.summary is not None
                ),
                **_request(recorded.entry, counter),
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
        "reports_left_out": list(contexts.sized.left_out),
        "skipped": list(session.origin.skipped),
        "unread": [str(field) for field in session.origin.unread],
    }


def _context(contexts: RecordedContexts) -> dict[str, Any]:
    """What filled the context at the largest request: who put it there, and the largest
    messages.
    """
    rows = contexts.composition()
    if rows.empty:
        return {}
    prompts = rows.groupby("request")["tokens"].sum()
    number = int(prompts.idxmax())
    usd = rows.groupby(["source", "name"])["usd"].sum(min_count=1)
    by_source = rows[rows["request"] == number]
    messages = contexts.largest_messages(number)
    return {
        "request": number + 1,
        "requests": len(prompts),
        "tokens": round(prompts[number]),
        "is_reported": bool(by_source["reported"].notna().any()),
        "sources": [
            {
                "who": _who(row),
                "tokens": round(row["tokens"]),
                "share": row["share"],
                "usd_in_the_session": _known(usd[row["source"], row["name"]]),
            }
            for row in by_source.to_dict("records")
        ],
        "largest_messages": [
            {
                "message": row["message"],
                "who": _who(row),
                "tokens": round(row["tokens"]),
                "share": row["tokens"] / prompts[number],
                "begins": row["begins"][:BEGINNING],
            }
            for row in messages.to_dict("records")
        ],
    }


def _who(row: Mapping[Hashable, Any]) -> str:
    """Who put something into the context."""
    return " ".join(filter(None, (row["source"], row["name"])))


def _known(usd: float) -> float | None:
    """A price; None where it is not known."""
    if isnan(usd):
        return None
    return usd


def _say_context(context: Mapping[str, Any]) -> None:
    """Print what filled the context."""
    place = (
        f"request {context['request']:,} of {context['requests']:,}, {context['tokens']:,} tokens"
    )
    sources, columns = context["sources"], dict(SOURCE_COLUMNS)
    heading = f"What filled the context at its largest ({place})"
    if any(source["usd_in_the_session"] is not None for source in sources):
        heading += "; dollars are of all requests"
    else:
        del columns["USD"]
    say(f"\n{heading}:\n")
    say(table(sources[:MOST_SOURCES], columns))
    if not context["is_reported"]:
        say(
            "\nIts provider reported no usage: the tokens are our count, and the system prompt and"
            " the tools may lack."
        )
    say("\nThe largest messages in it:\n")
    say(table(context["largest_messages"], MESSAGE_COLUMNS))


def _request(entry: CompactionEntry | ClearingEntry, counter: TiktokenCounter) -> dict[str, Any]:
    """The tokens of the request that made a compaction, and whether they are an estimate."""
    request = compaction_request(entry, counter) if isinstance(entry, CompactionEntry) else None
    if request is None:
        return {}
    usage = request.usage
    return {
        "request_read": usage.prompt,
        "request_wrote": usage.output,
        "request_is_estimate": request.is_estimate,
    }


def _plain(value: object) -> str:
    """A value in words; empty where there is none."""
    if isinstance(value, dict):
        words_by_key = {key.replace("_", " "): _plain(inner) for key, inner in value.items()}
        return ", ".join(f"{key} {words}" for key, words in words_by_key.items() if words)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
