"""Every overflow wording that providers are known for, every trap, and the numbers in them."""

from __future__ import annotations

import pytest
from engine.models.refused import judged, overflow_in_answer

OVERFLOWS: list[tuple[str, str, int | None, int | None, int | None]] = [
    # provider, text, status, limit, used
    ("openai", "This model's maximum context length is 128000 tokens. However, your messages resulted in 131,072 "
     "tokens. Please reduce the length of the messages.", 400, 128_000, 131_072),
    ("openai code", '{"error": {"code": "context_length_exceeded", "message": "x"}}', 400, None, None),
    ("openai window", "Your input exceeds the context window of this model. Please adjust your input and try again.",
     400, None, None),
    ("openai configured", "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in "
     "300,123 tokens.", 400, 272_000, None),
    ("openai stream", '{"type": "response.failed", "response": {"error": {"code": "context_length_exceeded"}}}',
     None, None, None),
    ("azure", "{'error': {'message': \"This model's maximum context length is 16385 tokens.\", 'code': "
     "'context_length_exceeded'}}", 400, 16_385, None),
    ("anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 400, 200_000, 213_462),
    ("google", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 400,
     1_048_576, 1_200_000),
    ("bedrock", "Input is too long for requested model.", 400, None, None),
    ("bedrock max", "Too many input tokens. Max input tokens: 200000, request input token count: 250000", 400,
     200_000, None),
    ("bedrock length", "Malformed input request: expected maxLength: 100000, actual: 200000", 400, 100_000, None),
    ("groq", "Please reduce the length of the messages or completion.", 400, None, None),
    ("xai", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 400, 131_072,
     537_812),
    ("xai code", "[input_too_large] the request does not fit", 400, None, None),
    ("mistral", "Prompt contains 40012 tokens and 0 draft tokens, too large for model with 32768 maximum context "
     "length", 400, 32_768, 40_012),
    ("openrouter", "This endpoint's maximum context length is 163840 tokens. However, you requested about 210000 "
     "tokens (200000 of text input, 10000 in the output). Please reduce either.", 400, 163_840, 200_000),
    ("openrouter nested", '{"error": {"message": "Provider returned error", "metadata": {"raw": "{\\"message\\": '
     '\\"prompt is too long: 213462 tokens > 200000 maximum\\"}"}}}', 400, 200_000, 213_462),
    ("llama.cpp", "the request exceeds the available context size. try increasing the context size", 400, None, None),
    ("llama.cpp sizes", "request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it",
     400, 65_536, 66_202),
    ("llama.cpp full", "Context size has been exceeded.", 500, None, None),
    ("llama.cpp slot", "input is larger than the slot context, n_ctx_slot = 8192", 500, None, None),
    ("lm studio", "The prompt has more tokens: it is greater than the context length of the model", 400, None, None),
    ("lm studio keep", "The number of tokens to keep from the initial prompt is greater than the context length.", 400,
     None, None),
    ("ollama", "prompt too long; exceeded max context length by 1200 tokens", 400, None, None),
    ("ollama embed", "the input length exceeds the context length", 400, None, None),
    ("vllm decoder", "The decoder prompt (length 40000) is longer than the maximum model length of 32768.", 400, 32_768,
     40_000),
    ("vllm negative", "max_tokens must be at least 1, got -512.", 400, None, None),
    ("vllm new", "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. "
     "Please reduce the length of the input messages.", 400, 32_768, None),
    ("sglang", "The input (40000 tokens) is longer than the model's context length (32768 tokens).", 400, 32_768, None),
    ("copilot", "prompt token count of 140000 exceeds the limit of 128000", 400, 128_000, 140_000),
    ("copilot code", "model_max_prompt_tokens_exceeded", 400, None, None),
    ("moonshot", "Your request exceeded model token limit: 262144 (requested: 300000)", 400, 262_144, 300_000),
    ("minimax", "invalid params, context window exceeds limit (2013)", 400, None, None),
    ("z.ai", '{"error": {"code": "1261", "message": "Prompt exceeds max length"}}', 400, None, None),
    ("z.ai 1210", "tokens in request more than max tokens allowed", 400, None, None),
    ("deepseek gateway", "prompt has 70000 tokens, but the configured context size is 65536", 400, 65_536, 70_000),
    ("dashscope", "Range of input length should be [1, 129024]", 400, 129_024, None),
    ("cerebras", "Current length is 9001 while limit is 8192", 400, 8_192, 9_001),
    ("cohere", "too many tokens: size limit exceeded by 1200 tokens", 400, None, None),
    ("cohere total", "total tokens exceeds the model limit", 400, None, None),
    ("cohere prompt", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. "
     "Try using a shorter prompt, or enable prompt truncating.", 400, 4_081, 4_292),
    ("cohere both", "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received "
     "6354. Try using a shorter prompt or a smaller max_tokens value.", 400, 2_048, 6_354),
    ("cohere size", "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs, or "
     "setting prompt_truncation='AUTO'.", 400, None, None),
    ("together", "{'error': {'message': 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. "
     "Given: 80125 `inputs` tokens and 4096 `max_new_tokens`', 'type': 'invalid_request_error', 'param': 'max_tokens', "
     "'code': None}}", 400, 4_097, 80_125),
    ("together inputs", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000", 422, 4_096,
     5_000),
    ("groq code", "{'error': {'message': 'Please reduce the length of the messages or completion.', 'type': "
     "'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}}", 400, None, None),
    ("ollama server", '{"error":{"code":400,"message":"request (13392 tokens) exceeds the available context size (8192 '
     'tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":13392,"n_ctx":8192}}', 400,
     8_192, 13_392),
    ("ollama type", '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":13392,"n_ctx":8192}}', 400, 8_192,
     13_392),
    ("deepseek", "This model's maximum context length is 65536 tokens. However, you requested 65853 tokens (65853 in "
     "the messages, 0 in the completion). Please reduce the length of the messages or completion.", 400, 65_536,
     65_853),
    ("ai21", "Prompt has too many tokens", 400, None, None),
    ("hugging face", "length limit exceeded", 400, None, None),
    ("replicate", "input is too long", 400, None, None),
    ("nlp cloud", "Input text length should not exceed 4096 characters", 400, None, None),
    ("poolside", "request is above the maximum allowed input length of 131072 tokens", 400, 131_072, None),
    ("cloudflare", "the request exceeded this model context window limit", 413, None, None),
    ("watsonx", "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model", 400, 8_192,
     9_000),
    ("databricks", "Input is too long: 140000 input tokens, limit is 128000", 400, 128_000, 140_000),
    ("volcengine", "Input length 140000 exceeds the maximum length 131072", 400, 131_072, 140_000),
    ("fireworks", "The prompt is too long: 140000, model maximum context length: 131072", 400, 131_072, 140_000),
    ("deepinfra", "the input length is too long", 400, None, None),
    ("gateway zh", "请求超过最大长度限制", 400, None, None),
    ("gateway zh context", "上下文过长，请缩短", 400, None, None),
]  # fmt: skip

TRAPS: list[tuple[str, str, int | None, str, str]] = [
    # name, text, status, kind, action
    ("bedrock throttle", "Too many tokens, please wait before trying again.", 429, "rate", "back_off"),
    ("tokens a minute", "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000", 429, "rate", "back_off"),
    ("tokens a day", "You have reached your TPD allowance", None, "rate", "back_off"),
    ("long context tier", "This request would exceed the long context entitlement", 429, "rate", "back_off"),
    ("groq minute", "Request too large for model `llama-3.1-70b-versatile` in organization `org_01` service tier "
     "`on_demand` on tokens per minute (TPM): Limit 6000, Requested 9012, please reduce your message size and try "
     "again.", 413, "rate_permanent", "compact"),
    ("cohere output", "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this "
     "model - received 8192.", 400, "output_cap", "lower_output"),
    ("quota", "You exceeded your current quota, insufficient_quota", 429, "rate", "back_off"),
    ("gemini", "RESOURCE_EXHAUSTED: input_token_count", None, "rate", "back_off"),
    ("overload", '{"type": "overloaded_error", "message": "Overloaded"}', 529, "rate", "back_off"),
    ("throttling", "ThrottlingException: too many tokens", 400, "rate", "back_off"),
    ("output cap", "max_tokens is too large: 200000. This model supports at most 16384 completion tokens", 400,
     "output_cap", "lower_output"),
    ("qwen output", "Range of max_tokens should be [1, 8192]", 400, "output_cap", "lower_output"),
    ("anthropic output", "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", 400,
     "output_cap", "lower_output"),
    ("user id", "Invalid 'user': string too long. Expected a string with maximum length 64, but got 80", 400,
     "malformed", "repair"),
    ("string", "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760", 400,
     "bytes", "strip_media"),
    ("string code", "string_above_max_length", 400, "bytes", "strip_media"),
    ("anthropic bytes", '{"type": "request_too_large", "message": "Request exceeds the maximum size"}', 413, "bytes",
     "strip_media"),
    ("google bytes", "400 Request payload size exceeds the limit: 20971520 bytes.", 400, "bytes", "strip_media"),
    ("empty body", "", 413, "bytes", "strip_media"),
    ("cache minimum", "Cached content is too small; minimum token count to start caching is 4096", 400, "other",
     "leave_alone"),
    ("image bytes", "messages.3.content.1.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", 400,
     "media", "strip_media"),
    ("many images", "image dimensions exceed the limit for many-image requests: 2000 pixels", 400, "media",
     "strip_media"),
    ("pages", "A maximum of 100 PDF pages may be provided", 400, "media", "strip_media"),
    ("lost result", "messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: t1", 400,
     "malformed", "repair"),
    ("lost call", "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", 400,
     "malformed", "repair"),
    ("responses", "No tool output found for function call call_abc.", 400, "malformed", "repair"),
    ("thinking", "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified", 400,
     "malformed", "repair"),
    ("signature", "Invalid `signature` in `thinking` block", 400, "malformed", "repair"),
    ("alternation", "roles must alternate between user and assistant", 400, "malformed", "repair"),
    ("gemini turn", "Please ensure that function call turn comes immediately after a user turn", 400, "malformed",
     "repair"),
    ("qwen template", "No user query found in messages.", 400, "malformed", "repair"),
    ("arguments", "Failed to parse tool call arguments as JSON", 500, "malformed", "repair"),
    ("prefill", "final assistant content cannot end with trailing whitespace", 400, "malformed", "repair"),
    ("key", "Incorrect API key provided", 401, "other", "leave_alone"),
    ("no model", "The model `gpt-9` does not exist", 404, "other", "leave_alone"),
    ("reasoning budget", "thinking.budget_tokens: Input should be greater than or equal to 1024", 400, "other",
     "leave_alone"),
    ("server", "Internal server error", 500, "other", "leave_alone"),
    ("stream", "peer closed connection without sending complete message body", None, "other", "leave_alone"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "text", "status", "limit", "used"), OVERFLOWS, ids=[row[0] for row in OVERFLOWS]
)
def test_an_overflow_is_recognised_with_its_numbers(
    provider: str, text: str, status: int | None, limit: int | None, used: int | None
) -> None:
    diagnosis = judged(text, status).diagnosis
    assert (diagnosis.kind, diagnosis.action) in {("overflow", "compact"), ("mixed", "compact")}
    if limit is not None:
        assert diagnosis.limit == limit
    if used is not None:
        assert diagnosis.used == used


def test_a_prompt_that_ollama_cut_to_half_of_its_context_shows_the_context() -> None:
    cut = overflow_in_answer(32_770, "stop", 128_000, read_before=65_530, grown=500)
    assert cut is not None
    assert (cut.diagnosis.limit, cut.diagnosis.action) == (65_536, "compact")
    assert overflow_in_answer(60_000, "stop", 128_000, read_before=65_530, grown=500) is None


@pytest.mark.parametrize(
    ("name", "text", "status", "kind", "action"), TRAPS, ids=[row[0] for row in TRAPS]
)
def test_what_only_looks_like_an_overflow_is_told_apart(
    name: str, text: str, status: int | None, kind: str, action: str
) -> None:
    diagnosis = judged(text, status).diagnosis
    assert (diagnosis.kind, diagnosis.action) == (kind, action)


def test_a_request_above_a_rate_limit_is_compacted_to_it_since_waiting_cannot_help() -> None:
    text = (
        "Request too large for model on tokens per minute (TPM): Limit 6,000, Requested 9,500,"
        " please reduce"
    )
    diagnosis = judged(text, 413).diagnosis
    assert (diagnosis.kind, diagnosis.action, diagnosis.limit, diagnosis.used) == (
        "rate_permanent",
        "compact",
        6_000,
        9_500,
    )


def test_a_request_below_a_rate_limit_waits() -> None:
    diagnosis = judged(
        "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 9500", 429
    ).diagnosis
    assert diagnosis.action == "back_off"


def test_less_output_is_asked_for_where_the_prompt_itself_fits() -> None:
    diagnosis = judged(
        "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000", 400
    ).diagnosis
    assert (diagnosis.action, diagnosis.output, diagnosis.limit) == (
        "lower_output",
        20_000,
        200_000,
    )


def test_a_prompt_that_leaves_no_room_for_an_answer_is_compacted() -> None:
    diagnosis = judged(
        "input length and `max_tokens` exceed context limit: 199900 + 32000 > 200000", 400
    ).diagnosis
    assert (diagnosis.action, diagnosis.used, diagnosis.limit) == ("compact", 199_900, 200_000)


def test_vllm_says_prompt_and_completion_apart() -> None:
    text = (
        "This model's maximum context length is 32768 tokens. However, you requested 36000 tokens"
        " (20000 in the messages, 16000 in the completion). Please reduce the length of the"
        " messages or completion."
    )
    diagnosis = judged(text, 400).diagnosis
    assert (diagnosis.action, diagnosis.output) == ("lower_output", 12_768)


def test_tgi_states_its_sum() -> None:
    text = (
        "`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 6000 `inputs` tokens and 4096"
        " `max_new_tokens`"
    )
    assert judged(text, 422).diagnosis.output == 2_192


def test_an_output_cap_says_how_much_may_be_asked_for() -> None:
    text = "max_tokens is too large: 200000. This model supports at most 16384 completion tokens"
    assert judged(text, 400).diagnosis.output == 16_384


def test_a_number_that_is_no_window_is_not_taken_for_one() -> None:
    assert judged("context window exceeds limit (2013)", 400).diagnosis.kind == "overflow"
    assert judged("maximum context length is 12 tokens", 400).diagnosis.limit is None


class ProviderError(Exception):
    """As an HTTP client raises it: a status and a decoded body."""

    def __init__(self, status_code: int, body: dict[str, object]) -> None:
        self.status_code, self.body = status_code, body
        super().__init__(f"Error code: {status_code} - {body}")


class RateLimitError(Exception):
    """As a wrapper raises it: its own guess of class and status around the provider's text."""

    status_code = 429


def test_the_innermost_status_counts_not_a_wrappers_guess() -> None:
    try:
        try:
            raise ProviderError(
                413, {"error": {"type": "request_too_large", "message": "Request exceeds the size"}}
            )
        except ProviderError as inner:
            raise RateLimitError(
                f"litellm.RateLimitError: RateLimitError: OpenAIException - {inner}"
            ) from inner
    except RateLimitError as error:
        assert judged(error).diagnosis.kind == "bytes"


def test_an_unrelated_error_in_whose_handling_it_was_raised_is_not_read() -> None:
    try:
        try:
            raise KeyError("prompt is too long")
        except KeyError:
            raise ProviderError(401, {"error": {"message": "no key"}})  # noqa: B904 - the unrelated context is the test
    except ProviderError as error:
        assert judged(error).diagnosis.action == "leave_alone"


def test_a_stop_reason_alone_can_say_overflow() -> None:
    overflow = overflow_in_answer(900, "model_context_window_exceeded", 1_000)
    assert overflow is not None and overflow.diagnosis.action == "compact"


def test_no_output_at_a_full_window_is_an_overflow_and_a_long_answer_is_not() -> None:
    full = overflow_in_answer(995, "length", 1_000)
    assert full is not None and full.diagnosis.kind == "overflow"
    assert overflow_in_answer(995, "length", 1_000, wrote=5) is None


def test_more_usage_than_the_window_is_a_silent_overflow() -> None:
    assert overflow_in_answer(1_200, "stop", 1_000, wrote=10) is not None
    assert overflow_in_answer(800, "stop", 1_000, wrote=10) is None


def test_a_report_that_stays_while_the_prompt_grows_says_that_it_was_cut() -> None:
    cut = overflow_in_answer(4_096, "stop", 32_768, read_before=4_096, grown=3_000)
    assert cut is not None and cut.diagnosis.limit == 4_096
    assert overflow_in_answer(4_096, "stop", 32_768, read_before=4_096, grown=0) is None
