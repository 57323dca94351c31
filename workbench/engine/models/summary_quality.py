"""Summaries are checked by code, repaired once by their model, and replaced where they stay
useless.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from workbench.base.errors import ModelError, Refused
from workbench.engine.extraction.entities import plain
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.models.conversation import sent_text
from workbench.engine.models.extractive import Extractive
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.wrappers import ModelWrapper, with_total_cost
from workbench.engine.transcript.message import Summary, counted_text

What: TypeAlias = Literal[
    "empty", "markup", "loop", "echo", "size", "cut", "sections", "fabricated"
]

TOO_LONG, FAR_TOO_LONG = 1.1, 1.5  # a summary's size as a part of what was allowed
# the share of names, numbers and quotes that the source does not contain
UNSUPPORTED, MOSTLY_UNSUPPORTED = 0.1, 0.5
SOME, MANY = 3, 6  # how many of them there must be at least
LOOP = 6  # how often one line may come again
ECHOED = 0.8  # the share of a summary that repeats whole lines of its prompt

_MARKUP = re.compile(
    r"<\|[\w-]+\|>|</?(?:tool_call|tool_calls|function_call|function_calls|tool_use|invoke|antml:\w+|parameter)\b[^>\n]{0,80}>|"
    r"\[/?TOOL_CALLS?\]|<function=\w+|```tool_(?:code|call)|\bto=functions\.\w+|"
    r"(?m:^\s*\{\s*\"(?:name|tool|function)\"\s*:\s*\"[\w.-]+\"\s*,\s*\"(?:arguments|parameters|input)\"\s*:)"
)
_LABEL = re.compile(
    r"(?m)^\s*\[(?:User|Assistant|System|Summary|Result)\b[^\]\n]{0,80}\]:|</?(?:conversation|previous-summary)>"
)
_HEADING = re.compile(r"^[\s#*_>\-\d.)]*(.*?)[\s:*_#]*$")
_NAMES = frozenset(
    {"path", "url", "hash", "version", "flag", "identifier", "id", "number", "quote"}
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a summary.

    Attributes:
        fatal: whether it makes the summary useless; else it is merely worse than it could be.
        sentence: for the model that may repair it, and for reports.
    """

    what: What
    fatal: bool
    sentence: str


def findings(request: SummaryRequest, answer: Completion) -> tuple[Finding, ...]:
    """What is wrong with a model's summary; nothing for a good one.

    Fails to see: a false sentence whose names are all true. Takes for false: a number that was
    worked out.
    """
    text = answer.text.strip()
    if not text:
        return (Finding("empty", True, "it is empty"),)
    source = _source(request)
    possible_findings = (
        _markup(text, source),
        _loop(text),
        _echo(text, request),
        _size(request, text),
        _cut(answer),
        _sections(request, text),
        _fabricated(text, source),
    )
    return tuple(finding for finding in possible_findings if finding is not None)


def _cut(answer: Completion) -> Finding | None:
    if not answer.cut:
        return None
    return Finding("cut", False, "it was cut off at its token limit")


def _source(request: SummaryRequest) -> str:
    """All that a summary may be made of."""
    parts = [request.previous, request.instructions]
    parts += map(counted_text, request.messages)
    parts += map(counted_text, request.conversation)
    parts += request.files.read
    parts += request.files.modified
    return "\n".join(parts)


def _markup(text: str, source: str) -> Finding | None:
    for match in _MARKUP.findall(text):
        markup = match.strip()
        if markup not in source:
            sentence = f"it contains the markup of a tool call or of a chat: {markup!r}"
            return Finding("markup", True, sentence)
    return None


def _loop(text: str) -> Finding | None:
    stripped_lines = map(str.strip, text.splitlines())
    lines = [line for line in stripped_lines if len(line) > 2]
    for line, times in Counter(lines).most_common(1):
        if times >= LOOP and times > len(lines) / 3:
            return _repetition(line, times)
    if len(text) > 300:
        tail = text[-60:].strip()
        times = text.count(tail)
        if times >= LOOP and times * len(tail) > len(text) / 2:
            return _repetition(tail, times)
    return None


def _repetition(passage: str, times: int) -> Finding:
    return Finding("loop", True, f"it repeats itself: {_short(passage)!r} occurs {times} times")


def _echo(text: str, request: SummaryRequest) -> Finding | None:
    labels = len(_LABEL.findall(text))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if labels >= SOME or labels > 0.2 * len(lines):
        return Finding(
            "echo",
            True,
            "it continues the record instead of summarising it: its lines have speaker labels",
        )
    long_lines = [line for line in lines if len(line) >= 40]
    long_length = sum(map(len, long_lines))
    if long_length <= ECHOED * len(text) or len(long_lines) < SOME:
        return None
    prompt = sent_text(request)
    copied_length = 0
    for line in long_lines:
        if line in prompt:
            copied_length += len(line)
    copied_share = copied_length / len(text)
    if copied_length <= ECHOED * len(text):
        return None
    return Finding(
        "echo",
        True,
        f"{copied_share:.0%} of it is copied word for word from the prompt",
    )


def _size(request: SummaryRequest, text: str) -> Finding | None:
    size = request.count(Summary(id="", text=text))
    replaced = sum(map(request.count, request.messages))
    if request.previous:
        replaced += request.count(Summary(id="", text=request.previous))
    if request.messages and size >= replaced:
        sentence = f"it has {size} tokens, and the messages that it replaces only {replaced}"
        return Finding("size", True, sentence)
    if request.max_tokens is not None and size > TOO_LONG * request.max_tokens:
        is_fatal = size > FAR_TOO_LONG * request.max_tokens
        sentence = f"it has {size} tokens; at most {request.max_tokens} were allowed"
        return Finding("size", is_fatal, sentence)
    return None


def _sections(request: SummaryRequest, text: str) -> Finding | None:
    if not request.sections:
        return None
    headings: set[str] = set()
    for match in map(_HEADING.match, text.splitlines()):
        if match:
            headings.add(match.group(1).casefold())
    missing = [name for name in request.sections if name.casefold() not in headings]
    if not missing:
        return None
    fatal = len(missing) > len(request.sections) / 2
    return Finding("sections", fatal, f"these headings are missing: {', '.join(missing)}")


def _fabricated(text: str, source: str) -> Finding | None:
    # escapes of JSON
    unescaped = source.replace("\\n", " ").replace('\\"', '"').replace("\\\\", "\\")
    plain_source = plain(unescaped)
    numbers_of_source = plain_source.replace(",", "").replace("_", "")
    named_count = 0
    false_names: list[str] = []
    for kind, name in _named_things(text):
        named_count += 1
        searched = numbers_of_source if kind == "number" else plain_source
        if not _is_supported(kind, name, searched):
            false_names.append(name)
    false_count = len(false_names)
    if false_count < SOME or false_count < UNSUPPORTED * named_count:
        return None
    fatal = false_count >= MANY and false_count > MOSTLY_UNSUPPORTED * named_count
    examples = ", ".join(repr(_short(name)) for name in false_names[:8])
    return Finding(
        "fabricated",
        fatal,
        f"{false_count} of the {named_count} things it names are not in the record: {examples}",
    )


def _named_things(text: str) -> Iterator[tuple[str, str]]:
    """The names, numbers and quotes of a summary that can be looked up, each with its kind."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    extractor = Extractor()
    extractor.read("\n".join(lines))
    for kind, name in extractor.entities:
        if kind not in _NAMES:
            continue
        number, _, _ = name.partition(" ")
        digits = number.strip("%")
        is_short_number = kind == "number" and len(digits) <= 2
        if not is_short_number:
            yield kind, name


def _is_supported(kind: str, name: str, source: str) -> bool:
    text = plain(name)
    if kind == "number":
        number, _, _ = text.partition(" ")
        return number in source
    if text in source:
        return True
    return kind == "path" and any(tail in source for tail in _tails(text))


def _tails(path: str) -> Iterator[str]:
    """What a path may be called for short: its last two parts, and the file alone."""
    parts = [part for part in path.split("/") if part not in ("", ".", "~")]
    if len(parts) > 2:
        yield "/".join(parts[-2:])
    if parts and "." in parts[-1]:
        yield parts[-1]


def _short(text: str) -> str:
    if len(text) <= 60:
        return text
    return text[:57] + "..."


OnBadSummary: TypeAlias = Literal["fallback", "fail", "keep"]
"""What becomes of a useless summary: what the preset declares for that, a failed replay, or it
is used as it is.
"""

CHOICES: tuple[OnBadSummary, ...] = get_args(OnBadSummary)

STANDS_IN = "extractive stands in"

_TAG = re.compile(r"<(?=\s*/?\s*draft\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RepairingModel(ModelWrapper):
    """Checks each summary; asks once more, saying what is wrong; then does what the user chose.

    Attributes:
        otherwise: `fallback` takes the text that the preset declares for a model that fails, and
            the extractive summary where it declares none; `fail` accepts no other text in the
            model's place; `keep` takes the first summary as it came and only lists what is wrong
            with it.
    """

    otherwise: OnBadSummary = "fallback"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The summary, with what is wrong with it in `findings`; raises Refused where no other
        text is accepted.
        """
        if request.purpose == "question":
            return self.model.complete(request)
        try:
            draft = self.model.complete(request)
        except ModelError as error:
            if self.otherwise == "fail" and not error.outage:
                raise Refused(f"{self.name} wrote no summary: {error}") from error
            raise
        wrong = findings(request, draft)
        if not wrong or self.otherwise == "keep":
            return replace(draft, findings=_sentences(wrong))
        completion, remaining = self._repaired(request, draft, wrong)
        if not any(finding.fatal for finding in remaining):
            return replace(completion, findings=_sentences(remaining))
        return self._fallback(request, completion, remaining)

    def _repaired(
        self, request: SummaryRequest, draft: Completion, wrong: Sequence[Finding]
    ) -> tuple[Completion, Sequence[Finding]]:
        """The better one of two summaries, with what both cost."""
        repair_request = replace(
            request, write=lambda _: _repair_prompt(request, draft.text, wrong)
        )
        try:
            repair = self.model.complete(repair_request)
        except ModelError as error:
            if error.outage:
                raise
            return draft, wrong  # the first one may still be of use
        remaining = findings(request, repair)
        best = draft
        method = "repair was worse"
        faults = wrong
        if _rank(remaining) >= _rank(wrong):
            best = repair
            method = "repaired"
            faults = remaining
        if best.method:
            method = f"{best.method}, {method}"
        best = replace(best, method=method)
        return with_total_cost(best, (draft, repair)), faults

    def _fallback(
        self, request: SummaryRequest, completion: Completion, wrong: Sequence[Finding]
    ) -> Completion:
        reason = f"{completion.model} wrote a useless summary: {'; '.join(_sentences(wrong))}"
        if self.otherwise == "fail":
            raise Refused(reason)
        if not completion.text.strip() and request.if_empty is not None:
            return completion  # the preset says itself what an empty summary means
        completion = replace(completion, fallback=True, why=reason, findings=_sentences(wrong))
        stand_in = request.stand_in
        if stand_in is not None:
            return replace(completion, text=stand_in, method="")
        extract = Extractive().complete(request)
        return replace(completion, text=extract.text, model=extract.model, method=STANDS_IN)


def _repair_prompt(request: SummaryRequest, draft: str, wrong: Sequence[Finding]) -> str:
    """The prompt of the second request: the first one, the draft that it gave, and what is wrong
    with the draft.
    """
    faults = "\n".join(f"- {fault.sentence}" for fault in wrong)
    draft = _TAG.sub("&lt;", draft) or "(nothing)"
    return (
        f"{request.prompt}\n\nThis was written for it before:\n\n<draft>\n{draft}\n</draft>\n\n"
        f"It cannot be used as it is:\n{faults}\n\nWrite the whole summary again, without these faults. Name"
        " only what occurs in the record above."
    )


def _rank(faults: Sequence[Finding]) -> tuple[int, int]:
    """More is better: first no fatal findings, then few."""
    return -sum(fault.fatal for fault in faults), -len(faults)


def _sentences(faults: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(fault.sentence for fault in faults)
