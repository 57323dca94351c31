"""The answers of a model to a plan's summary requests, or what stands in for them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from workbench.base.errors import ModelError
from workbench.engine.compaction.clip import clipped
from workbench.engine.compaction.plan import Plan
from workbench.engine.models.model import (
    Completion,
    Model,
    SummaryRequest,
    is_concurrent,
    reads_messages,
)
from workbench.engine.transcript.context_lookup import tokens_of_text

CLIPPED_SHARE = 0.25
"""The part of what a summary replaces that is left of one that is longer than that."""


def completions_of(plan: Plan, model: Model) -> tuple[Completion, ...]:
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
