from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only

from workbench.engine.transcript.message import Image

UNKNOWN_TOKENS = 1_200


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\0" * 9


def jpeg(width: int, height: int, preview: int = 0) -> bytes:
    header = b"\xff\xe1" + struct.pack(">H", preview + 2) + b"\0" * preview
    return (
        b"\xff\xd8"
        + header
        + b"\xff\xc0\0\x11\x08"
        + struct.pack(">HH", height, width)
        + b"\0" * 12
    )


def pictured(folder: Path, **source: Any) -> Image:
    """The picture of a message whose part has this source."""
    part = {"type": "image", "source": source}
    messages = [{"role": "user", "content": [part]}, {"role": "assistant", "content": "I see"}]
    session = only(document(folder, messages), format="anthropic_messages")
    (picture,) = session.messages[0].blocks
    assert isinstance(picture, Image)
    return picture


def image(folder: Path, media_type: str, data: str) -> Image:
    """The picture of these data."""
    return pictured(folder, type="base64", media_type=media_type, data=data)


def linked(folder: Path, url: str) -> Image:
    """The picture that is named by this address."""
    return pictured(folder, type="url", url=url)


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        (png(750, 400), 400),
        (png(1, 1), 1),
        (png(3_136, 750), 784),
        (png(8_000, 8_000), 1_600),
        (jpeg(750, 400), 400),
        (jpeg(750, 400, preview=60_000), 400),
        (b"GIF89a" + struct.pack("<HH", 750, 400) + b"\0", 400),
        (png(0, 10), UNKNOWN_TOKENS),
        (b"RIFF....WEBP", UNKNOWN_TOKENS),
        (b"", UNKNOWN_TOKENS),
    ],
)
def test_tokens_come_from_width_and_height(tmp_path: Path, data: bytes, tokens: int) -> None:
    assert image(tmp_path, "image/png", base64.b64encode(data).decode()) == Image(
        "image/png", len(data), tokens
    )


def test_base64_that_does_not_decode_still_has_a_size(tmp_path: Path) -> None:
    assert image(tmp_path, "image/png", "REDACTED*").tokens == UNKNOWN_TOKENS


def test_a_data_url_says_its_own_kind(tmp_path: Path) -> None:
    data = base64.b64encode(png(750, 400)).decode()
    assert linked(tmp_path, f"data:image/webp;base64,{data}") == Image("image/webp", 33, 400)


def test_a_picture_that_is_named_by_url_is_a_placeholder_of_unknown_size(tmp_path: Path) -> None:
    assert linked(tmp_path, "https://example.org/a.png") == Image("image/png", 0, UNKNOWN_TOKENS)


def test_a_document_counts_by_its_pages(tmp_path: Path) -> None:
    pages = b"%PDF-1.4\n" + b"<< /Type /Page\n >>\n" * 3
    assert image(tmp_path, "application/pdf", base64.b64encode(pages).decode()).tokens == 6_000
