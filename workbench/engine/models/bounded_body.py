"""Bounds what is read of a provider's answer, so that none can fill the memory. Imported once a
model is asked.
"""

import ssl
from collections.abc import Iterator

import httpx

MOST = 64 << 20
"""Bytes of an answer: a hundred times the longest that a model writes."""
MOST_PACKED = 256 << 10
"""Of one that is compressed, which may hold a thousand times as much."""


class BoundedStream(httpx.SyncByteStream):
    """An answer's bytes, up to a bound."""

    def __init__(self, stream: httpx.SyncByteStream, max_bytes: int) -> None:
        self._stream, self._most = stream, max_bytes

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for part in self._stream:
            read += len(part)
            if read > self._most:
                raise httpx.ReadError(f"the answer is larger than {self._most:,} bytes")
            yield part

    def close(self) -> None:
        """See httpx."""
        self._stream.close()


def bounded_client(verify: ssl.SSLContext | str | bool) -> httpx.Client:
    """A client whose answers are bounded; in all else it is httpx's own, with this machine's
    proxies.
    """
    return httpx.Client(verify=verify, follow_redirects=True, event_hooks={"response": [_bound]})


def _bound(response: httpx.Response) -> None:
    is_packed = response.headers.get("content-encoding", "identity") != "identity"
    assert isinstance(response.stream, httpx.SyncByteStream)
    max_bytes = MOST_PACKED if is_packed else MOST
    response.stream = BoundedStream(response.stream, max_bytes)
