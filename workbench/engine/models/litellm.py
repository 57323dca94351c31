"""Asks any provider through litellm: the only file that imports it, and only when a request is
sent.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

from workbench.base.errors import ModelError, SetupError, Unanswered
from workbench.engine.models.billing import BoundedRequest, bound, read_response, was_free
from workbench.engine.models.conversation import sent_messages, sent_text
from workbench.engine.models.keys import without_whole_keys
from workbench.engine.models.language_model import LanguageModel, with_retries
from workbench.engine.models.litellm_errors import error_in_answer, model_error, short_error
from workbench.engine.models.model import Completion, ServerRequest, SummaryRequest, within
from workbench.engine.models.prices import most_output
from workbench.engine.models.prices import window as listed_window
from workbench.engine.models.provider_options import ProviderOptions, provider_options

UNBOUNDED = 16_000
"""Tokens of a completion without a bound, where a spending limit needs one and the price table
has none.
"""

GRACE = 30.0
"""Seconds after its time-out for which a call still takes a place among those that may be open
at once.
"""

SLACK = 1.0
"""Seconds that a call gets beyond its time-out: the clients' own time-outs restart with every
byte.
"""


@dataclass(frozen=True)
class LiteLLM(LanguageModel):
    """A model by litellm's name for it, such as `gpt-4o-mini`, or `openai/<any>` with an
    `api_base`.

    API keys come from the variables that litellm reads for each provider.
    """

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return f"litellm:{self.model}"

    def load(self) -> None:
        """Import litellm, which takes seconds, before a first request is timed.

        Raises:
            SetupError: it is not installed.
        """
        _litellm()

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's words, empty if it has none, and its calls. What it thought before is
        dropped.

        Raises:
            ModelError: no answer; `overflow` if the prompt was too large, `retryable` if it might
                work later.
            Unanswered: the spending limit could be passed, or cannot be kept.
            SetupError: the provider's key is missing.
        """
        litellm = _litellm()
        model, options = self.called(request)
        bounded = self.ledger is not None and self.ledger.max_usd is not None
        sent = _bounded_request(request, model, options, bounded=bounded)
        if bounded:
            _check_bound(litellm, model)
        if not sent.call.get("api_base"):
            _check_key(litellm, model, options)
        return with_retries(options, lambda: self._try(litellm, sent, options))

    def compact_on_server(self, request: ServerRequest, /) -> Completion:
        """The compaction of the model's provider.

        Raises:
            ModelError: it is a model of another provider, its key is missing, none came, or a
                spending limit holds, which cannot be kept there.
        """
        if self.ledger is not None and self.ledger.max_usd is not None:
            raise ModelError(f"{self.model} was not asked to compact: a spending limit holds")
        from workbench.engine.models.server_compaction import compacted

        return compacted(request, self.model, self.options or provider_options(self.model))

    def called(self, request: SummaryRequest) -> tuple[str, ProviderOptions]:
        """The model that is asked, and how."""
        model = request.model or self.model
        return model, self.options or provider_options(model)

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself, as plain JSON."""
        model, options = self.called(request)
        return {
            "model": model,
            "api_base": options.api_base or _environment_base(),
            "temperature": options.temperature,
            "thinking": options.thinking,
        }

    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included; None if unknown."""
        model, options = self.called(request)
        return options.window or listed_window(model)

    @property
    def patience(self) -> float:
        """Seconds after which a completion must have come or failed."""
        options = self.options or provider_options(self.model)
        return options.tries * (options.timeout + options.longest_wait) + GRACE

    def _try(
        self, litellm: ModuleType, sent: BoundedRequest, options: ProviderOptions
    ) -> Completion:
        """Ask once, and write down what that cost."""
        number = 0
        if self.ledger:
            number = self.ledger.open(sent.model, sent.bound.usd, options.timeout + GRACE)
        # until the cost is known, all that was set aside counts as spent
        spent: float | None = None
        failed = f"the call of {sent.model} was interrupted"
        answers: list[object] = []

        def keep_answer(call_details: Mapping[str, object]) -> None:
            answers.append(call_details.get("original_response"))

        try:
            ask = partial(litellm.completion, **sent.call, logger_fn=keep_answer)
            response = within(options.timeout + SLACK, ask)
            completion, spent = read_response(response, sent)
            failed = ""
            return _without_keys(completion, options)
        except ModelError:  # its provider is there, and its answer of no use
            failed = ""
            raise
        except litellm.exceptions.openai.OpenAIError as error:
            spent = 0.0 if was_free(error) else None
            failure = error_in_answer(sent.model, error, answers, options, sent.tokens)
            if failure is None:
                shown_text = short_error(error, options)
                failure = model_error(litellm, sent.model, error, shown_text, sent.tokens)
            failed = ""
            if failure.outage:
                failed = str(failure)
            raise failure from error
        except TimeoutError:
            failed = f"{sent.model} gave no answer in {options.timeout:g} seconds"
            raise ModelError(failed, retryable=True) from None
        # litellm could not read it
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            shown_text = short_error(error, options)
            failed = f"{sent.model} gave an answer that cannot be read: {shown_text}"
            raise ModelError(failed, retryable=True) from error
        finally:
            if self.ledger:
                self.ledger.close(number, spent, failed)


def _bounded_request(
    request: SummaryRequest, model: str, options: ProviderOptions, *, bounded: bool
) -> BoundedRequest:
    messages = sent_messages(request)
    call: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "timeout": options.timeout,
        "drop_params": True,
        "num_retries": 0,
        "max_retries": 0,
    }
    max_output = request.max_tokens
    if max_output is None and bounded:
        max_output = UNBOUNDED
    if max_output is not None:
        max_output += options.thinking
        max_output = min(max_output, most_output(model) or max_output)
        call["max_tokens"] = max_output
    if options.temperature is not None:
        call["temperature"] = options.temperature
    if request.logprobs:
        call |= {"logprobs": True, "top_logprobs": request.logprobs}
    if request.tools:
        call["tools"] = list(request.tools)
    elif request.conversation:
        call |= _without_calling(messages)
    if options.api_base:
        call["api_base"] = options.api_base
        if not os.environ.get("OPENAI_API_KEY"):
            call["api_key"] = "none"  # your own server needs no key, but the client does
    if options.key:
        call["api_key"] = os.environ.get(options.key) or call.get("api_key")
    largest = bound(model, options, [request.system, sent_text(request)], max_output)
    return BoundedRequest(model, call, largest, bounded)


def _without_calling(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The tools that a conversation has called, and that none is to be called now.

    Some providers refuse calls of tools that a request does not name. What the tools take, nobody
    knows here.
    """
    names: dict[str, None] = {}
    for message in messages:
        for call in message.get("tool_calls", ()):
            names[call["function"]["name"]] = None
    tools: list[dict[str, Any]] = []
    for name in names:
        function = {
            "name": name,
            "parameters": {"type": "object", "properties": {}},
        }
        tools.append({"type": "function", "function": function})
    if not tools:
        return {}
    return {"tools": tools, "tool_choice": "none"}


def _environment_base() -> str | None:
    """The server that OpenAI's client takes from the environment by itself."""
    return os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or None


@lru_cache(maxsize=1)
def _litellm() -> ModuleType:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import fetches a price list
    try:
        import litellm
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise SetupError(
            "real models need litellm: pip install 'compaction-workbench[litellm]'"
        ) from None
    litellm.suppress_debug_info = True
    # its OpenAI client asks through this, and so any address of your own
    if litellm.client_session is None:
        from litellm.llms.custom_httpx.http_handler import get_ssl_configuration

        from workbench.engine.models.bounded_body import bounded_client

        litellm.client_session = bounded_client(get_ssl_configuration())
    return litellm


def _check_key(litellm: ModuleType, model: str, options: ProviderOptions) -> None:
    needed = _needed_variables(litellm, model, options)
    missing = [name for name in needed if not os.environ.get(name)]
    if missing:
        raise SetupError(f"{model} needs the environment variable {' and '.join(missing)}")


def _needed_variables(litellm: ModuleType, model: str, options: ProviderOptions) -> list[str]:
    """The variables that hold the keys of a model."""
    if options.key:
        return [options.key]
    return litellm.validate_environment(model).get("missing_keys") or []


def _check_bound(litellm: ModuleType, model: str) -> None:
    """Refuse a model whose answers cannot be bounded: litellm would leave the bound out."""
    supported = litellm.get_supported_openai_params(model=model)
    if supported and not {"max_tokens", "max_completion_tokens"} & set(supported):
        raise Unanswered(
            f"{model} was not asked: it takes no bound on the length of its answers, so the"
            " spending limit cannot be kept; without one it is asked"
        )


def _without_keys(completion: Completion, options: ProviderOptions) -> Completion:
    """An answer in which no key stands whole, as a gateway may repeat one."""
    mask = partial(without_whole_keys, variable=options.key or "", address=options.api_base or "")
    calls = tuple((mask(name), mask(arguments)) for name, arguments in completion.calls)
    return replace(
        completion,
        text=mask(completion.text),
        model=mask(completion.model),
        why=mask(completion.why),
        calls=calls,
    )
