"""The engine: trigger, then for each stage plan, ask, apply and guard."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.base.errors import PASSED_ON, ModelError, PlanError, error_text
from workbench.base.markup import card
from workbench.base.typed_value import check_instance
from workbench.engine.compaction.clip import clipped
from workbench.engine.compaction.guard import Violation, violations
from workbench.engine.compaction.plan import Budget, Plan, Stage
from workbench.engine.compaction.recall import with_ids, with_room
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.models.model import (
    Completion,
    Model,
    SummaryRequest,
    is_concurrent,
    reads_messages,
)
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.context_lookup import tokens_of, tokens_of_text
from workbench.engine.transcript.message import Message, Text, UserMessage

Outcome: TypeAlias = Literal["compacted", "too_large", "unchanged"]
Planner: TypeAlias = Callable[[Stage, Context, Budget], Plan | None]


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage did. Its result was not used if it broke an invariant; `violations` say which.

    Attributes:
        dropped, rewritten: ids of the messages that it removed, and of those that it changed.
        wrote: the new messages: summaries, and the changed ones as they are now.
        conversation: the agent's own conversation with the question behind it, where its model was
            asked so; empty where it got a transcript.
    """

    name: str
    tokens_before: int
    tokens_after: int
    completions: tuple[Completion, ...] = ()
    violations: tuple[Violation, ...] = ()
    dropped: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    wrote: tuple[Message, ...] = ()
    conversation: tuple[Message, ...] = ()

    @property
    def used(self) -> bool:
        """Whether the stage's result was taken."""
        return not self.violations


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction.

    Attributes:
        before: the history that went in.
        after: the history that came out; `before` itself if nothing changed.
        sent: `after` as the view shows it; the same object if the strategy has no view.
        stages: what each did, in order; behind them those of the view that broke an invariant.
        outcome: `compacted` at or below the target, `too_large` above it, `unchanged`.
        why: a sentence where the outcome needs one.
        refusal: why a stage had no room for what it would do.
    """

    before: Context
    after: Context
    sent: Context
    budget: Budget
    stages: tuple[StageRecord, ...]
    outcome: Outcome
    why: str = ""
    refusal: str = ""

    @property
    def completions(self) -> tuple[Completion, ...]:
        """All answers of models, in order."""
        completions: list[Completion] = []
        for record in self.stages:
            completions += record.completions
        return tuple(completions)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All findings of the guard."""
        findings: list[Violation] = []
        for record in self.stages:
            findings += record.violations
        return tuple(findings)

    def __repr__(self) -> str:
        names = [record.name for record in self.stages]
        stage_names = " > ".join(names) or "nothing to do"
        return (
            f"<Compaction {self.before.tokens:,} to {self.after.tokens:,} tokens, {self.outcome}:"
            f" {stage_names}>"
        )

    def _repr_html_(self) -> str:
        facts = {
            "tokens before": self.before.tokens,
            "after": self.after.tokens,
            "sent": self.sent.tokens,
            "target": self.budget.target,
            "messages before": len(self.before.messages),
            "messages after": len(self.after.messages),
            "reason": self.budget.reason,
        }
        heads = ("stage", "tokens before", "after", "dropped", "rewritten", "requests", "findings")
        rows: list[tuple[object, ...]] = []
        for record in self.stages:
            findings = [f"not used: {violation}" for violation in record.violations]
            rows.append(
                (
                    record.name,
                    record.tokens_before,
                    record.tokens_after,
                    len(record.dropped),
                    len(record.rewritten),
                    len(record.completions),
                    "; ".join(findings),
                )
            )
        return card(f"Compaction: {self.outcome.replace('_', ' ')}", facts, heads, rows, self.why)


def seen(
    history: Context, strategy: Strategy, budget: Budget
) -> tuple[Context, tuple[StageRecord, ...]]:
    """The history as it is sent: with the strategy's view, whose result is never kept; and the
    stages of the view that broke an invariant, so that they were passed over.
    """
    view = history
    broken: list[StageRecord] = []
    for stage in strategy.view:
        plan = _planned(stage, view, budget)
        if plan is None:
            continue
        projected = _applied(stage, plan, view)
        findings = violations(view, projected)
        if findings:
            record = StageRecord(stage.name, view.tokens, projected.tokens, violations=findings)
            broken.append(record)
        else:
            view = projected
    return view, tuple(broken)


def compact(
    history: Context,
    strategy: Strategy,
    budget: Budget,
    model: Model,
    planner: Planner | None = None,
) -> Compaction:
    """Run the stages, cheapest first, until what is sent is at or below the target.

    The history itself does not change. A stage that breaks an invariant is undone and its
    violations recorded.

    Args:
        history: the messages to compact.
        strategy: the stages.
        budget: with the target.
        model: writes the summaries.
        planner: plans each stage in place of the stage itself; a host may skip a stage or change
            its plan.

    Raises:
        ModelError: a model gave no usable answer and the request has nothing to use otherwise.
        PlanError: a stage raised an error, gave no plan, or one that does not fit.
        SettingError: history, strategy or budget is of another class.
    """
    check_instance("history", history, Context, "a wb.Context")
    check_instance("strategy", strategy, Strategy, "a wb.Strategy, such as that of a preset,")
    check_instance("budget", budget, Budget, "a wb.Budget")
    if not strategy.recall:
        return _compacted(history, strategy, budget, model, planner)
    reduced_budget = with_room(budget, history)
    compaction = _compacted(history, strategy, reduced_budget, model, planner)
    if compaction.after is history and reduced_budget.target < budget.target:
        # it cannot be done with room for ids: then without
        compaction = _compacted(history, strategy, budget, model, planner)
    if compaction.sent is history:
        return replace(compaction, budget=budget)
    compacted, sent = with_ids(history, compaction.after, compaction.sent, budget)
    outcome, reason = _outcome(history, compacted, sent, budget, compaction.stages)
    return replace(
        compaction,
        after=compacted,
        sent=sent,
        budget=budget,
        outcome=outcome,
        why=reason,
    )


def _compacted(
    history: Context,
    strategy: Strategy,
    budget: Budget,
    model: Model,
    planner: Planner | None,
) -> Compaction:
    """Run the stages, without any thought of ids."""
    current = history
    sent: Context | None = None
    records: list[StageRecord] = []
    broken_views: tuple[StageRecord, ...] = ()
    refusal = ""
    for stage in strategy.stages:
        if not budget.force:
            if current.tokens <= budget.target:
                break  # what is sent is never larger: no view is planned to find that out
            if sent is None:
                sent, broken_views = seen(current, strategy, budget)
            if sent.tokens <= budget.target:
                break
        plan = _planned(stage, current, budget, planner)
        if plan is None:
            continue
        if not plan.edits:
            refusal = refusal or plan.refusal
            continue
        record, changed = _run(stage, plan, current, model)
        records.append(record)
        if changed is not current:
            current = changed
            sent = None
    if sent is None:
        sent, broken_views = seen(current, strategy, budget)
    records += broken_views
    outcome, reason = _outcome(history, current, sent, budget, records)
    return Compaction(
        before=history,
        after=current,
        sent=sent,
        budget=budget,
        stages=tuple(records),
        outcome=outcome,
        why=reason,
        refusal=refusal,
    )


def _planned(
    stage: Stage,
    context: Context,
    budget: Budget,
    planner: Planner | None = None,
) -> Plan | None:
    """What a stage plans, or a host's planner in its place, whose errors are the host's.

    Raises:
        PlanError: the stage raised an error that is none of ours, or gave no plan.
    """
    if planner is not None:
        plan = planner(stage, context, budget)
    else:
        try:
            plan = stage.plan(context, budget)
        except PASSED_ON:
            raise
        except Exception as error:
            raise PlanError(f"stage {stage.name!r} raised {error_text(error)}") from error
    if plan is not None and not isinstance(plan, Plan):
        raise PlanError(
            f"stage {stage.name!r} returned {plan!r:.80}; a wb.Plan or None would be accepted"
        )
    return plan


def _applied(
    stage: Stage,
    plan: Plan,
    context: Context,
    answers: Sequence[str] = (),
    writer: str = "",
) -> Context:
    """The context after the plan of a stage, see `Plan.apply`.

    Raises:
        PlanError: the plan does not fit the context.
    """
    try:
        return plan.apply(context, answers, writer)
    except PlanError as error:
        raise PlanError(f"stage {stage.name!r} gave a plan that does not fit: {error}") from error


def _run(
    stage: Stage,
    plan: Plan,
    context: Context,
    model: Model,
) -> tuple[StageRecord, Context]:
    """What a stage did, and the context after it: the same one where it broke an invariant."""
    completions = _completions(plan, model)
    writer = completions[0].model if completions else ""
    answers = [completion.text for completion in completions]
    changed = _with_sealed(_applied(stage, plan, context, answers, writer), completions)
    if _same_objects(context.messages, changed.messages):
        changed = context  # such as after an empty answer that compacts nothing
    findings = violations(context, changed)
    new_by_id = {message.id: message for message in changed.messages}
    dropped: list[str] = []
    rewritten: list[str] = []
    for message in context.messages:
        if message.id not in new_by_id:
            dropped.append(message.id)
        elif new_by_id[message.id] is not message:
            rewritten.append(message.id)
    old_objects = set(map(id, context.messages))
    new_messages = [message for message in changed.messages if id(message) not in old_objects]
    record = StageRecord(
        name=stage.name,
        tokens_before=context.tokens,
        tokens_after=changed.tokens,
        completions=completions,
        violations=findings,
        dropped=tuple(dropped),
        rewritten=tuple(rewritten),
        wrote=tuple(new_messages),
        conversation=_conversation(plan.requests),
    )
    return record, context if findings else changed


def _with_sealed(
    context: Context,
    completions: Sequence[Completion],
) -> Context:
    """The context in which summaries hold what a provider gave in the place of a text."""
    sealed_by_text: dict[str, Completion] = {}
    for completion in completions:
        if completion.sealed:
            sealed_by_text[completion.text] = completion
    if not sealed_by_text:
        return context
    messages = list(context.messages)
    sizes = list(context.sizes)
    for i, message in enumerate(messages):
        if message.role != "summary" or message.text not in sealed_by_text:
            continue
        completion = sealed_by_text[message.text]
        messages[i] = replace(
            message,
            sealed=completion.sealed,
            sealed_tokens=completion.sealed_tokens,
        )
        sizes[i] = context.count(messages[i])
    return replace(context, messages=tuple(messages), sizes=tuple(sizes))


def _conversation(requests: Sequence[SummaryRequest]) -> tuple[Message, ...]:
    """The agent's own conversation as a request repeats it, with its question; else nothing."""
    for request in requests:
        if request.is_agents_own:
            question = UserMessage(id="", blocks=(Text(request.prompt),))
            return (*request.conversation, question)
    return ()


def _same_objects(messages: Sequence[Message], other_messages: Sequence[Message]) -> bool:
    return list(map(id, messages)) == list(map(id, other_messages))


def _completions(plan: Plan, model: Model) -> tuple[Completion, ...]:
    """The answers to all requests of a plan; at the same time, where the model allows that."""
    requests = plan.requests
    if len(requests) < 2 or not is_concurrent(model):
        return tuple([completed(request, model) for request in requests])
    with ThreadPoolExecutor(len(requests)) as pool:
        return tuple(pool.map(completed, requests, [model] * len(requests)))


def completed(request: SummaryRequest, model: Model) -> Completion:
    """The model's answer, or the request's stand-in where there is none.

    Raises:
        ModelError: no usable answer, and no stand-in.
    """
    try:
        completion = model.complete(request)
    except ModelError as error:
        stand_in = request.stand_in
        if stand_in is None:
            raise
        return Completion(
            text=stand_in,
            model=model.name,
            fallback=True,
            why=str(error),
        )
    if completion.text.strip():
        if request.server and not completion.sealed:
            completion = _standing_in(completion, request.server)
        completion = _no_longer_than_useful(completion, request)
        if completion.left_out is not None or completion.fallback or reads_messages(model):
            return completion
        return replace(completion, left_out=request.left_out)
    reason = f"{completion.model} answered with an empty text"
    text = request.stand_in if request.if_empty is None else request.if_empty
    if text is None:
        raise ModelError(reason)
    return replace(completion, text=text, fallback=True, why=reason)


def _standing_in(completion: Completion, service: str) -> Completion:
    """The completion, whose method says that it stands for a provider's compaction."""
    if service in completion.method:
        return completion
    methods = [completion.method, f"in the place of {service}"]
    return replace(completion, method=", ".join(filter(None, methods)))


CLIPPED_SHARE = 0.25
"""The part of what a summary replaces that is left of one that is longer than that."""


def _no_longer_than_useful(completion: Completion, request: SummaryRequest) -> Completion:
    """The completion, or its two ends where it is no shorter than what it replaces."""
    if request.useful_tokens is None or completion.sealed:
        return completion
    tokens = tokens_of_text(completion.text, request.count)
    if tokens <= request.useful_tokens:
        return completion
    max_tokens = int(CLIPPED_SHARE * request.useful_tokens)
    text = clipped(completion.text, max_tokens, request.count)
    if not text:
        return completion
    finding = "it was longer than what it replaces, so that its middle was left out"
    return replace(completion, text=text, findings=(*completion.findings, finding))


def _outcome(
    history: Context,
    compacted: Context,
    sent: Context,
    budget: Budget,
    stages: Sequence[StageRecord],
) -> tuple[Outcome, str]:
    """The outcome, and a sentence where it needs one: which stages were undone, and what is
    left.
    """
    changed = compacted is not history or sent is not history
    if sent.tokens <= budget.target:
        return "compacted" if changed else "unchanged", ""
    protected_tokens = history.overhead + tokens_of(history, protected(history.messages))
    reasons: list[str] = []
    for stage in stages:
        for violation in stage.violations[:1]:
            reasons.append(f"the stage {stage.name!r} was undone: {violation.what}")
    reasons.append(
        f"{sent.tokens} tokens are left, {budget.target} were the target; {protected_tokens} are"
        " protected: overhead, pinned messages with their partners, and the newest user message"
    )
    return "too_large" if changed else "unchanged", "; ".join(reasons)
