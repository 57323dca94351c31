"""`workbench inspect`: what a recording holds."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import count, dollars, percent, some
from workbench.cli.inspect_facts import ELSEWHERE, describe_context, describe_session
from workbench.cli.inspect_list import say_sessions
from workbench.cli.next_steps import next_for, say_next, typed_line
from workbench.cli.options import AsJson, Lenient, NamedPaths, takes
from workbench.cli.output import OK, UNUSABLE, complain, printable, say, say_json, table, write
from workbench.engine.transcript.redaction import masker, redacted
from workbench.evaluation.analysis.composition import SURPLUS, UNEXPLAINED, RecordedContexts
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.replays.agents import agent_of
from workbench.recordings.importers.importer import scan

SOURCE_COLUMNS = {
    "who": "who",
    "tokens": "tokens:count",
    "share": "share:percent",
    "USD": "usd_in_the_session:dollars",
}
MESSAGE_COLUMNS = {
    "message": "message", "who": "who", "tokens": "tokens:count", "share": "share:percent", "begins": "begins",
}  # fmt: skip
COMPACTION_COLUMNS = {
    "before message": "message",
    "prompt": "prompt",
    "its request": "request",
    "broken cache": "cache_usd:dollars",
    "calls after": "calls:count",
    "fetched again": "fetched_again:count",
    "tokens": "tokens_fetched_again:count",
}
RULE_COLUMNS = {
    "before message": "message", "outcome": "outcome", "rule": "rule", "nearest sentence": "evidence",
}  # fmt: skip
READING = (
    "entries",
    "text_read",
    "text_in_notes",
    "usage",
    "reports_left_out",
    "skipped",
    "unread",
    "kept_by_client",
)
"""Facts about how the recording was read; they stand below what it holds."""
TOLD_APART = ("compacts_at", "compacts_at_from")
"""Facts that a sentence tells."""
SHARES = ("text_read", "text_in_notes")
LEAST_TRIGGER = 0.5
"""Share of the window below which no preset that is compared by default compacts."""
SHORT = 4_000
"""Tokens of messages below which no window makes a strategy compact, however much a provider
reported: the rest is a system prompt.
"""
MOST_SOURCES = 12
"""Sources that stand in rows of their own; the others stand in a row together. `--json` has all."""
MOST_LOSSES = 5
"""Sentences about tokens that left without a record."""


@takes(Masking)
def inspect(
    spec: Masking,
    paths: NamedPaths,
    session_id: Annotated[
        str, typer.Option("--session", help="Show this one of several sessions, by its id.")
    ] = "",
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> int:
    """Show what recordings contain: format, messages, tokens, branches, recorded compactions,
    reported usage.

    Of one session also what filled its context at its largest request: who put how many tokens
    there, at what price; and what each of its compactions came to: its request, the cache that
    it broke, what was fetched again.

    Example:

      workbench inspect session.jsonl
    """
    mask = masker(spec.redaction)
    facts: list[dict[str, Any]] = []
    newest: RecordedContexts | None = None
    unreadable: list[dict[str, str]] = []
    has_bad_line = False
    other_ids: list[str] = []
    for loaded in scan(paths, lenient=lenient):
        if loaded.error is not None:
            unreadable.append({"path": mask(str(loaded.path)), "reason": mask(str(loaded.error))})
            has_bad_line |= loaded.error.line is not None
        for session in loaded.sessions:
            if session_id not in ("", session.id):
                other_ids.append(session.id)
                continue
            newest = RecordedContexts(redacted(session, spec.redaction))
            facts.append(describe_session(newest))
    if other_ids and not facts:
        raise SettingError(
            f"no session {session_id!r} in {', '.join(paths)}, but {', '.join(other_ids)}"
        )
    context = describe_context(newest) if newest is not None and len(facts) == 1 else {}
    if as_json:
        if len(facts) == 1:
            facts[0]["context"] = context
        say_json({"sessions": facts, "unreadable": unreadable})
    elif len(facts) == 1:
        _say_session(facts[0], context)
    elif facts:
        say_sessions(facts)
    if facts and not as_json:
        has_settings = newest is not None and agent_of(newest.sized.session) is not None
        largest = _too_small(facts, context)
        following = next_for(paths, largest=largest, has_settings=has_settings)
        say_next({**_closer_look(facts), **following})
    for file in unreadable:
        complain(f"workbench: {file['reason']}")
    if has_bad_line and not lenient:
        complain("`--lenient` reads the other lines of a file, and lists what it left out")
    if not facts and not unreadable:
        complain(
            f"workbench: {', '.join(paths)} has no recording; `workbench list formats` shows what"
            " can be read"
        )
    return OK if facts and not unreadable else UNUSABLE


def _too_small(facts: Sequence[Mapping[str, Any]], context: Mapping[str, Any]) -> int | None:
    """The tokens of a session's largest request, where no strategy would compact in its window;
    None where one may.
    """
    if not context or facts[0]["recorded_compactions"]:
        return None
    if facts[0]["tokens"] < SHORT:
        return int(facts[0]["tokens"])
    tokens = int(context["tokens"])
    if tokens > facts[0]["window"] * LEAST_TRIGGER:
        return None
    return tokens


def _closer_look(facts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The command that shows what fills the largest of several sessions."""
    if len(facts) == 1:
        return {}
    largest = max(facts, key=lambda session_facts: int(session_facts["tokens"]))
    words = ["workbench", "inspect", largest["path"]]
    paths: list[str] = []
    for session_facts in facts:
        paths.append(session_facts["path"])
    if paths.count(largest["path"]) > 1:
        words += ["--session", largest["session"]]
    return {typed_line(words): "what fills the context of the largest"}


def _say_session(facts: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """Print what a session holds, what filled its context, and how it was read."""
    content: dict[str, Any] = {}
    reading: dict[str, Any] = {}
    for name, value in facts.items():
        if name == "kept_by_client":
            reading[name] = _fields_of_client(value)
        elif name in READING:
            reading[name] = value
        elif name == "tokens":
            content[name] = f"{value:,} by our count"
        elif name not in TOLD_APART:
            content[name] = value
        if name == "window_from":
            content["next_compaction"] = _next_compaction(facts, context)
    _say_facts(content)
    if context:
        _say_context(context)
    say("\nHow it was read:\n")
    _say_facts(reading)


def _fields_of_client(facts: Mapping[str, Any]) -> str:
    """What the client keeps for itself, in words; empty where it keeps nothing."""
    if not facts:
        return ""
    fields = some(len(facts["fields"]), "field")
    return (
        f"{fields} that stand in no message, {facts['characters']:,} characters; --json names them"
    )


def _next_compaction(facts: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """When the agent compacts next, in words."""
    if facts["compacts_at"] is None:
        return "unknown: nothing tells at which size this agent compacts"
    words = f"at {facts['compacts_at']:,} tokens, by {facts['compacts_at_from']}"
    if context:
        words += f"; the newest request has {context['newest_tokens']:,}"
    return words


def _say_facts(facts: Mapping[str, Any]) -> None:
    """Print a line for each fact about a session, and one for each entry of a list."""
    for name, value in facts.items():
        entries = value if isinstance(value, list) else [value]
        for entry in entries:
            words = _plain(entry)
            if words and name in SHARES:
                words = percent(entry)
            if words:
                say(f"{name.replace('_', ' '):<22}{printable(words)}")


def _is_reported_in_part(context: Mapping[str, Any]) -> bool:
    """Whether some requests have their usage, and some lack it."""
    reported = int(context["reported_requests"])
    return 0 < reported < int(context["requests"])


def _priced_requests(context: Mapping[str, Any]) -> str:
    """The requests whose dollars are known, in words."""
    if _is_reported_in_part(context):
        return f"the {some(context['reported_requests'], 'request')} with a recorded usage"
    return "all requests"


def _say_context(context: Mapping[str, Any]) -> None:
    """Print what filled the context."""
    place = (
        f"request {context['request']:,} of {context['requests']:,}, {context['tokens']:,} tokens"
    )
    columns = dict(SOURCE_COLUMNS)
    heading = f"What filled the context at its largest ({place})"
    if context["usd"] is None:
        del columns["USD"]
    else:
        heading += (
            f"; dollars are of the prompts of {_priced_requests(context)}, without the answers,"
            f" {dollars(context['usd'])} together"
        )
        if context["priced_as"]:
            heading += f", at the prices of {context['priced_as']}"
    write(f"{heading}:")
    say()
    say(table(_source_rows(context["sources"]), columns))
    _say_estimates(context)
    _say_missing(context)
    say("\nThe largest messages in it:\n")
    say(table(context["largest_messages"], MESSAGE_COLUMNS))
    if context["compactions"]:
        write(
            "What its compactions came to; a result is fetched again where it was mostly seen"
            " before and was no longer in the context:"
        )
        say()
        say(table(list(map(_bill_row, context["compactions"])), COMPACTION_COLUMNS))
    _say_losses(context["unrecorded_losses"])
    if context["rules"]:
        say("\nWhat became of the rules of the user:\n")
        say(table(context["rules"], RULE_COLUMNS))


def _say_estimates(context: Mapping[str, Any]) -> None:
    """Print which prompts are an estimate; nothing where all were reported."""
    count_words = (
        "the tokens are our count, and the system prompt and the tools may be missing from them"
    )
    if not context["reported_requests"]:
        write(f"The recording keeps the usage of no request: {count_words}.")
        return
    if not _is_reported_in_part(context):
        return
    sentence = (
        f"The recording keeps the usage of {context['reported_requests']:,} of its"
        f" {context['requests']:,} requests; the prompts of the others are our estimate."
    )
    if not context["is_reported"]:
        sentence += f" This one is such: {count_words}."
    write(sentence)


def _say_missing(context: Mapping[str, Any]) -> None:
    """Print what a model was sent, or read by itself, that the recording does not hold."""
    if context["lacks"]:
        write(f"No file of this format holds {context['lacks']}.")
    calls: list[str] = []
    for tool, count_of_tool in context["calls_without_result"].items():
        calls.append(f"{count_of_tool:,} of {tool}")
    if calls:
        write(
            f"The recording has no result of these calls: {', '.join(calls)}. What they brought back"
            " stands in no row of its own."
        )


def _say_losses(losses: Sequence[Mapping[str, Any]]) -> None:
    """Print where tokens left the context and no record says why, in their order."""
    for loss in losses[:MOST_LOSSES]:
        prompts = f"{loss['prompt_before']:,} to {loss['prompt_after']:,}"
        write(
            f"About {loss['tokens']:,} tokens left the context before message {loss['message']:,}"
            f" (prompt {prompts}), and no record says why."
        )
    further_count = len(losses) - MOST_LOSSES
    if further_count > 0:
        write(f"So they did {some(further_count, 'further time')}; --json names each.")


def _source_rows(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Who filled the context, the largest first, as rows that sum up to the whole of it."""
    named_rows: list[dict[str, Any]] = []
    unexplained_rows: list[dict[str, Any]] = []
    for source in sources:
        if source["who"] == ELSEWHERE:
            unexplained_rows.append({**source, "tokens": None, "share": None})
        elif source["who"] != UNEXPLAINED:
            named_rows.append(dict(source))
        elif round(source["share"], 2):
            who = UNEXPLAINED if source["tokens"] > 0 else SURPLUS
            unexplained_rows.append({**source, "who": who})
    small_rows = named_rows[MOST_SOURCES:]
    rows = named_rows[:MOST_SOURCES]
    if small_rows:
        rows.append(_sum_row(small_rows))
    return rows + unexplained_rows


def _sum_row(sources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Several sources in one row."""
    dollars_known = [
        source["usd_in_the_session"]
        for source in sources
        if source["usd_in_the_session"] is not None
    ]
    return {
        "who": some(len(sources), "other"),
        "tokens": sum(source["tokens"] for source in sources),
        "share": sum(source["share"] for source in sources),
        "usd_in_the_session": sum(dollars_known) if dollars_known else None,
    }


def _bill_row(bill: Mapping[str, Any]) -> dict[str, Any]:
    """The bill of a compaction as a row of a table."""
    request = dollars(bill["request_usd"])
    if bill["is_estimate"]:
        request += " (estimate)"
    prompt = f"{count(bill['prompt_before'])} to {count(bill['prompt_after'])}"
    return {**bill, "prompt": prompt, "request": request}


def _plain(value: object) -> str:
    """A value in words; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, dict):
        phrases = []
        for key, inner in value.items():
            words = _plain(inner)
            if words:
                phrases.append(f"{key.replace('_', ' ')} {words}")
        return ", ".join(phrases)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}"
    return str(value)
