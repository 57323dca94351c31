"""Pictures and bytes have a budget: over it the oldest pictures go before the request is sent."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
import validators
from live.talk import Record, asked, openai
from live.test_native_formats import takes_gemini, takes_responses

from workbench import Compactor, SettingError, Settings

MOST_BYTES = {
    "anthropic": 32_000_000,
    "openai": 50_000_000,
    "responses": 50_000_000,
    "gemini": 20_000_000,
}


def png(size: int, width: int = 1_280, height: int = 800) -> str:
    """The base64 text of a picture of so many bytes; only its head is real."""
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + bytes(size - len(head))).decode()


def openai_step(n: int, data: str) -> list[Record]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": f"c{n}",
            "content": [{"type": "text", "text": f"shot {n}"}, url],
        },
    ]


def anthropic_step(n: int, data: str) -> list[Record]:
    use = {"type": "tool_use", "id": f"c{n}", "name": "shot", "input": {}}
    source = {"type": "base64", "media_type": "image/png", "data": data}
    told = [{"type": "text", "text": f"shot {n}"}, {"type": "image", "source": source}]
    return [
        {"role": "assistant", "content": [use]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": told}],
        },
    ]


def responses_step(n: int, data: str) -> list[Record]:
    shot = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{data}"}
    told = [{"type": "input_text", "text": f"shot {n}"}, shot]
    return [
        {"type": "reasoning", "id": f"rs_{n}", "summary": []},
        {
            "type": "function_call",
            "id": f"fc_{n}",
            "call_id": f"c{n}",
            "name": "shot",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": f"c{n}", "output": told},
    ]


def gemini_step(n: int, data: str) -> list[Record]:
    shot = {"inlineData": {"mimeType": "image/png", "data": data}}
    told = {"name": "shot", "response": {"output": f"shot {n}"}, "parts": [shot]}
    return [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "shot", "args": {}}, "thoughtSignature": "c2VhbA=="}
            ],
        },
        {"role": "user", "parts": [{"functionResponse": told}]},
    ]


Step = Callable[[int, str], list[Record]]
FORMATS: dict[str, tuple[Step, Any]] = {
    "openai": (openai_step, validators.openai_chat),
    "anthropic": (anthropic_step, validators.anthropic),
    "responses": (responses_step, validators.openai_responses),
    "gemini": (gemini_step, validators.gemini),
}


def talk(format: str, steps: int, size: int) -> list[Record]:
    first = {"role": "user", "parts": [{"text": "Look."}]} if format == "gemini" else asked("Look.")
    data = png(size)
    return [first, *(record for n in range(steps) for record in FORMATS[format][0](n, data))]


def length(messages: list[Record]) -> int:
    return len(json.dumps(messages, ensure_ascii=False).encode())


@pytest.mark.parametrize("format", FORMATS)
def test_sixty_megabytes_of_screenshots_are_sent_within_the_limit(format: Any) -> None:
    messages = talk(format, 60, 750_000)
    assert length(messages) > 60_000_000
    live = Compactor("none", window=1_000_000)
    sent = live.before_request(messages)
    assert length(sent) <= MOST_BYTES[live._memory.reader.present_format]
    assert len(sent) == len(messages) and FORMATS[format][1](sent) == []
    assert sent[-1] is messages[-1]
    assert "left out" in str(sent[2])[:2_000] or "left out" in str(sent[3])[:2_000]
    assert [event.type for event in live.events if event.type != "error_judged"] == [
        "images_left_out"
    ]
    if format == "responses":
        takes_responses(sent)
    if format == "gemini":
        takes_gemini(sent)


@pytest.mark.parametrize("format", FORMATS)
def test_further_pictures_do_not_change_what_was_sent_until_the_limit_is_reached_again(
    format: Any,
) -> None:
    messages = talk(format, 12, 600)
    live = Compactor("none", window=128_000, settings=Settings(most_images=10))
    first = live.before_request(messages)
    kept = str(first).count(png(600)[:200])
    assert kept == 5
    again = live.before_request([*messages, *FORMATS[format][0](99, png(600))])
    assert again[: len(first)] == first
    assert len(live.events) == 1
    assert live.original[: len(messages)] == messages


@pytest.mark.parametrize("format", FORMATS)
def test_bytes_are_weighed_as_they_are_sent(format: Any) -> None:
    messages = talk(format, 20, 90_000)
    live = Compactor("none")
    live.before_request(messages)
    assert live._media.weight.bytes == pytest.approx(length(messages), rel=0.01)
    assert live._media.weight.images == 20


def test_without_pictures_nothing_happens() -> None:
    live = Compactor("none", window=128_000, settings=Settings(most_images=0, most_bytes=100))
    assert live.before_request(openai(20)) == openai(20)
    assert live.events == []


def test_pinned_pictures_stay() -> None:
    messages = talk("openai", 4, 600)
    live = Compactor(
        "none",
        settings=Settings(most_images=2),
        pins=lambda one: "shot 0" in str(one.get("content")),
    )
    sent = live.before_request(messages)
    assert sent[2] is messages[2] and sent[4] is not messages[4]


def test_a_request_that_is_refused_for_its_bytes_is_sent_again_with_half_of_the_pictures() -> None:
    messages = talk("openai", 8, 600)
    live = Compactor("none")
    live.before_request(messages)
    retry = live.on_error({"status_code": 413, "message": "Request Entity Too Large"})
    assert retry is not None and str(retry.messages).count("left out") == 4
    assert validators.openai_chat(retry.messages) == []


def test_a_request_that_is_refused_for_one_picture_is_sent_again_without_any() -> None:
    messages = talk("anthropic", 3, 600)
    live = Compactor("none")
    live.before_request(messages)
    retry = live.on_error(
        "messages.3.content.1.image: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"
    )
    assert retry is not None and str(retry.messages).count("left out") == 3


def test_going_back_brings_the_pictures_back() -> None:
    messages = talk("openai", 12, 600)
    live = Compactor("none", settings=Settings(most_images=10))
    live.before_request(messages)
    assert live.before_request(messages[:5]) == messages[:5]


@pytest.mark.parametrize(
    ("format", "tokens"),
    [
        ("openai", 85 + 170 * 6),
        ("responses", 85 + 170 * 6),
        ("anthropic", 1_365),
        ("gemini", 1_548),
    ],
)
def test_a_picture_counts_by_its_providers_rule(format: Any, tokens: int) -> None:
    data = png(600)
    with_picture, without = Compactor("none"), Compactor("none")
    with_picture.before_request(talk(format, 1, 600))
    records = json.loads(json.dumps(talk(format, 1, 600)).replace(data, png(600, 0, 0)))
    without.before_request(records)
    assert with_picture.tokens - without.tokens == tokens - 1_200


def test_a_picture_at_low_detail_counts_85_tokens() -> None:
    part = {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{png(600)}", "detail": "low"},
    }
    live = Compactor("none")
    live.before_request([{"role": "user", "content": [part]}])
    assert 85 <= live.tokens <= 95


def test_limits_below_zero_are_refused() -> None:
    with pytest.raises(SettingError, match="most_images"):
        Settings(most_images=-1)
