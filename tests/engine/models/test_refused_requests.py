"""How errors are judged together with the requests that they answer."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from engine.models.refused import UNKNOWN_WINDOW, Request, judged, overflow_in_answer

NOTHING = ("leave_alone", "back_off")
LEAST_WINDOW = 1_000
"""Tokens of the smallest window that a compactor takes."""
FILE = Path(__file__).with_name("requests_and_errors.toml")


@dataclass(frozen=True, slots=True)
class Case:
    """An error, what the host knows of the request, and what an agent should do."""

    status: int
    tokens: int
    window: int
    defect: str
    pictures: int
    action: str
    text: str
    source: str

    @property
    def request(self) -> Request:
        """The request as the live engine describes it."""
        defects = (self.defect,) if self.defect else ()
        window = self.window if self.window >= LEAST_WINDOW else UNKNOWN_WINDOW
        return Request(self.tokens, window, pictures=self.pictures, defects=defects)

    @property
    def is_right(self) -> bool:
        """Whether the error is answered as it should be."""
        action = judged(self.text, self.status or None, self.request).diagnosis.action
        right_actions = NOTHING if self.action == "none" else (self.action,)
        return action in right_actions


SETS = tomllib.loads(FILE.read_text("utf-8"))
CASES = [Case(*row) for rows in SETS.values() for row in rows]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text[:60])
def test_an_error_is_judged_with_the_request_that_it_answers(case: Case) -> None:
    assert case.is_right


def test_an_answer_of_nothing_at_a_full_window_is_an_overflow_without_an_error() -> None:
    overflow = overflow_in_answer(8_213, "length", 8_192)
    assert overflow is not None and overflow.diagnosis.action == "compact"


def test_the_code_of_an_error_is_no_number_of_tokens() -> None:
    text = '{"error_code": 336103, "error_msg": "Prompt tokens too long"}'
    assert judged(text, 200, Request(8_900, 8_192)).diagnosis.action == "compact"


def test_a_minutes_limit_that_counts_the_output_asks_for_less_of_it() -> None:
    text = "Request too large for model on tokens per minute (TPM): Limit 8000, Requested 32979"
    diagnosis = judged(text, 413, Request(211, 131_072)).diagnosis
    assert (diagnosis.action, diagnosis.output) == ("lower_output", 7_789)


def test_a_limit_of_a_minute_counts_beside_a_number_that_is_not_exact() -> None:
    text = "Rate limit reached on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903."
    diagnosis = judged(text, 429, Request(12_900, 131_072)).diagnosis
    assert (diagnosis.kind, diagnosis.limit) == ("rate_permanent", 7_000)


def test_a_sum_that_is_the_limit_itself_asks_for_less_output() -> None:
    text = (
        "maximum context length is 8192 tokens. However, you requested 8192 tokens (58 in the"
        " messages, 8134 in the completion)."
    )
    diagnosis = judged(text, 400, Request(58, 8_192, pictures=0)).diagnosis
    assert (diagnosis.action, diagnosis.output) == ("lower_output", 8_133)


@pytest.mark.parametrize(("used", "action"), [(1_000, "lower_output"), (1_200, "compact")])
def test_a_quarter_of_a_small_window_is_room_enough_for_an_answer(used: int, action: str) -> None:
    text = (
        "`inputs` tokens + `max_new_tokens` must be <= 1512."
        f" Given: {used} `inputs` tokens and 1024 `max_new_tokens`"
    )
    request = Request(used, 2_048, pictures=0)
    assert judged(text, 422, request).diagnosis.action == action


@pytest.mark.parametrize(
    ("tokens", "media", "action"),
    [(25_000, 0, "lower_output"), (31_000, 0, "compact"), (25_000, 1, "lower_output")],
)
def test_a_sum_that_is_named_so_counts_the_output_also_near_the_limit(
    tokens: int, media: int, action: str
) -> None:
    text = "max_total_tokens (33802) must be less than or equal to max_seq_len (32768)"
    request = Request(tokens, 32_768, pictures=media)
    assert judged(text, 400, request).diagnosis.action == action


@pytest.mark.parametrize("tokens", [30_000, 100_000])
@pytest.mark.parametrize(
    ("used", "answer", "output"),
    [(100_000, "completion", 31_072), (130_900, "completion", None), (100_000, "tail", None)],
)
def test_a_prompt_that_is_within_the_limit_by_the_providers_count_leaves_the_rest_to_the_output(
    tokens: int, used: int, answer: str, output: int | None
) -> None:
    text = (
        f"maximum context length is 131072 tokens. your prompt has {used} tokens and the {answer}"
        " does not fit"
    )
    diagnosis = judged(text, 400, Request(tokens, 131_072, pictures=0)).diagnosis
    assert diagnosis.output == output
    assert (diagnosis.action == "compact") == (output is None)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("Prompt and completion are too long for this context window: (1336 > 512)", 1_336),
        (
            "maximum context length is 8192 tokens. However, you requested 16000 tokens (9000 in the"
            " messages, 7000 in the completion).",
            9_000,
        ),
    ],
)
def test_what_a_provider_counts_of_the_prompt_comes_before_our_own_count(
    text: str, used: int
) -> None:
    diagnosis = judged(text, 400, Request(1_300, 8_192, pictures=0)).diagnosis
    assert (diagnosis.action, diagnosis.used) == ("compact", used)


@pytest.mark.parametrize(("accepted", "action"), [(0, "compact"), (60_000, "back_off")])
def test_a_request_above_the_tokens_of_a_minute_is_compacted_unless_a_larger_one_was_answered(
    accepted: int, action: str
) -> None:
    text = "This request would exceed the rate limit of 30,000 input tokens per minute."
    request = Request(45_000, 200_000, accepted=accepted)
    assert judged(text, 429, request).diagnosis.action == action


@pytest.mark.parametrize(
    ("tokens", "media", "action"),
    [(30_000, 0, "lower_output"), (60_000, 0, "compact"), (30_000, 4, "compact")],
)
def test_a_total_counts_the_output_where_the_messages_are_well_below_the_limit(
    tokens: int, media: int, action: str
) -> None:
    text = "total tokens 70000 exceed the limit 65536"
    request = Request(tokens, 65_536, pictures=media)
    assert judged(text, 400, request).diagnosis.action == action


def test_messages_that_are_counted_are_no_tokens() -> None:
    request = Request(90_000, 131_072)
    for text in (
        "messages array has 5000 elements; at most 2048 are accepted",
        "Too many messages in the conversation: 3120 messages, maximum 2000",
    ):
        diagnosis = judged(text, 400, request).diagnosis
        assert (diagnosis.action, diagnosis.limit) == ("compact", None)


@pytest.mark.parametrize(
    "text",
    [
        "Too many tools: 200 > 128",
        "The number of functions exceeds the limit of 64.",
        "A maximum of 64 functions can be supplied; this request supplies 70.",
    ],
)
def test_a_full_window_explains_no_error_about_the_number_of_tools(text: str) -> None:
    request = Request(125_000, 131_072)
    assert judged(text, 400, request).diagnosis.action == "leave_alone"


def test_a_limit_of_millions_counts_bytes_and_those_are_the_pictures() -> None:
    text = "Value at 'body' failed: Member must have length less than or equal to 25000000"
    assert judged(text, 400, Request(61_000, 200_000, pictures=34)).diagnosis.kind == "bytes"
    assert judged(text, 400, Request(61_000, 200_000, pictures=0)).diagnosis.kind == "other"


SAYS_NOTHING = '{"error": {"message": "Provider returned error", "code": 400}}'


@pytest.mark.parametrize(
    ("request_state", "action"),
    [
        (Request(130_000, 131_072), "compact"),
        (Request(140_000, 131_072), "compact"),
        (Request(30_000, 131_072), "leave_alone"),
        (Request(130_000, 131_072, accepted=130_500), "leave_alone"),
        (Request(30_000, 131_072, defects=("orphan result",)), "repair"),
        (Request(), "leave_alone"),
    ],
)
def test_an_error_that_says_nothing_is_explained_by_the_request(
    request_state: Request, action: str
) -> None:
    assert judged(SAYS_NOTHING, 400, request_state).diagnosis.action == action


@pytest.mark.parametrize("status", [401, 403, 404, 429, 502, 529])
def test_a_full_window_explains_no_error_of_another_status(status: int) -> None:
    full = Request(140_000, 131_072)
    assert judged("request failed", status, full).diagnosis.action in NOTHING


def test_pictures_are_at_fault_only_where_there_are_some() -> None:
    text = "this model does not support image input"
    assert judged(text, 400, Request(pictures=2)).diagnosis.action == "strip_media"
    assert judged(text, 400, Request(pictures=0)).diagnosis.action == "leave_alone"


NOTHING_TO_DO = [
    case
    for case in CASES
    if case.action == "none" and not re.search("image|video|pdf", case.text, re.IGNORECASE)
]


@pytest.mark.parametrize("case", NOTHING_TO_DO, ids=lambda case: case.text[:60])
def test_pictures_explain_no_error_that_does_not_speak_of_them(case: Case) -> None:
    request = replace(case.request, pictures=2)
    assert judged(case.text, case.status or None, request).diagnosis.action in NOTHING


def test_a_field_beside_the_messages_that_is_too_long_is_no_overflow() -> None:
    text = "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64"
    request = Request(30_000, 200_000, pictures=0)
    assert judged(text, 400, request).diagnosis.action == "leave_alone"


@pytest.mark.parametrize(("media", "action"), [(0, "compact"), (3, "strip_media")])
def test_a_body_that_is_too_large_is_compacted_where_it_has_no_picture(
    media: int, action: str
) -> None:
    request = Request(30_000, 128_000, pictures=media)
    assert judged("request entity too large", 413, request).diagnosis.action == action


@pytest.mark.parametrize(
    "text",
    [
        "Request too large: 150000 > 131072",
        "Payload Too Large: 150,000 exceeds 131,072",
        "request entity too large (150000 of 131072)",
        "150000 > 131072",
    ],
)
def test_two_numbers_without_a_unit_are_tokens_where_the_larger_is_the_count_of_the_request(
    text: str,
) -> None:
    assert judged(text, 413, Request(149_000, 131_072, pictures=3)).diagnosis.action == "compact"
    of_a_body = judged(text, 413, Request(20_000, 131_072, pictures=3)).diagnosis
    assert of_a_body.action == "strip_media"  # 150,000 bytes, mostly of pictures


def test_a_limit_on_the_length_of_a_body_is_one_of_bytes() -> None:
    for text, status in (
        ("Failed to buffer the request body: length limit exceeded", None),
        (
            "OpenAI API error (413): 413 Failed to buffer the request body: length limit exceeded",
            413,
        ),
        ("length limit exceeded", 413),
    ):
        diagnosis = judged(text, status, Request(20_000, 200_000, pictures=3)).diagnosis
        assert (diagnosis.kind, diagnosis.action) == ("bytes", "strip_media")
        without_pictures = judged(text, status, Request(20_000, 200_000, pictures=0)).diagnosis
        assert (without_pictures.kind, without_pictures.action) == ("bytes", "compact")


USED = (
    "prompt uses {} tokens",
    "your prompt has {} tokens",
    "input is {} tokens",
    "the conversation takes {} tokens",
    "the prompt is {} tokens long",
)
LIMITS = (
    "the window is {}",
    "the window is {} tokens",
    "the model's context window holds {} tokens",
    "the limit is {} tokens",
    "the maximum is {} tokens",
    "at most {} tokens fit",
)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("used", USED)
def test_limit_and_use_are_told_apart_in_either_order(used: str, limit: str) -> None:
    for tokens, window in ((135_000, 128_000), (120_000, 128_000)):
        use, bound = used.format(f"{tokens:,}"), limit.format(f"{window:,}")
        for first, second in ((use, bound), (bound, use)):
            for between in (", ", "; ", ". ", " but "):
                text = f"{first}{between}{second}"
                diagnosis = judged(text, 400, Request(tokens, 200_000, pictures=0)).diagnosis
                assert diagnosis.action == "compact", text
                assert diagnosis.limit == window, text
                assert diagnosis.used in (tokens, None), text
                if tokens > window:
                    assert diagnosis.used == tokens, text


@pytest.mark.parametrize("pictures", [0, 3])
def test_a_request_that_is_too_large_by_a_count_of_tokens_keeps_its_pictures(pictures: int) -> None:
    text = "Request too large: 150000 > 131072 tokens"
    diagnosis = judged(text, 413, Request(149_000, 200_000, pictures=pictures)).diagnosis
    assert (diagnosis.action, diagnosis.limit) == ("compact", 131_072)


@pytest.mark.parametrize(
    "text",
    [
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation",
        "The response was filtered. Read our documentation: Azure OpenAI's content management",
    ],
)
def test_a_word_about_documentation_takes_no_picture_out(text: str) -> None:
    request = Request(30_000, 200_000, pictures=2)
    assert judged(text, 400, request).diagnosis.action == "leave_alone"


@pytest.mark.parametrize(
    "text",
    [
        "Field `metadata.user` is longer than 256 characters",
        "max_tokens and max_completion_tokens cannot be set at the same time",
        "Either `max_tokens` or `max_completion_tokens` may be given, not both",
        "Cached content is too small. total_token_count=1042, min_total_token_count=4096",
    ],
)
def test_a_full_window_explains_no_error_about_something_else(text: str) -> None:
    request = Request(194_000, 200_000, pictures=0)
    assert judged(text, 400, request).diagnosis.action == "leave_alone"


def test_numbers_of_another_size_speak_of_another_thing() -> None:
    text = "the input field is too long: 2048 characters, at most 1024"
    assert judged(text, 400, Request(90_000)).diagnosis.action == "leave_alone"
    assert judged(text, 400, Request(2_100)).diagnosis.action == "compact"


def test_a_parameter_that_a_model_does_not_take_is_no_broken_history() -> None:
    text = (
        "litellm.UnsupportedParamsError: anthropic does not support parameters: ['thinking'], for"
        " model=some-model. To drop these, set `litellm.drop_params=True`"
    )
    broken = Request(
        5_000,
        100_000,
        defects=(
            "duplicate id",
            "role order",
        ),
    )
    assert judged(text, 400, broken).diagnosis.action == "leave_alone"
