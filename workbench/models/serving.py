"""A small real model behind OpenAI's protocol on this machine's loopback, served by threads of this process."""

from __future__ import annotations

import atexit
import json
import os
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from workbench.errors import SetupError
from workbench.models.weights import Weights, weights

HOST = "127.0.0.1"
PORT = 8791
"""Where `workbench serve` listens, and where a run looks for it."""

_PLAIN = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"
"""What a model without a chat template reads: the words, one message after another."""


class Server(NamedTuple):
    """A server of this process, which ends when nothing refers to it; a client takes its base address."""

    address: str
    handle: object


def start_server(found: Weights, *, port: int = 0, threads: int = 0) -> Server:
    """Start a server for these weights at this port (0: a free one) with so many threads (0: one a core).

    Raises:
        SetupError: the extra is not installed, or the server does not start.
    """
    if find_spec("xllamacpp") is None:
        raise SetupError("a local model needs the extra `local`: pip install 'compaction-workbench[local]'")
    # Threads that wait must sleep, else one busy neighbour makes them thirty times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(found.path)
    params.model_alias = {alias(found)}
    params.n_ctx = found.window
    params.n_parallel = 1  # the window is divided among the slots
    params.hostnames = [HOST]
    params.port = port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or os.cpu_count() or 1
    params.warmup = False
    params.verbosity = 0
    params.ui = False
    if not _has_template(found.path):
        params.chat_template = _PLAIN
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise SetupError(f"the server for {found.label} did not start: {error}") from error
    return Server(f"{server.listening_address}/v1", server)


def alias(found: Weights) -> str:
    """The name under which a server offers these weights, and no others."""
    return f"workbench-{found.name}-{found.path.stat().st_size}-{found.window}"


def running_address(found: Weights, port: int = PORT) -> str | None:
    """The address of a server for these weights that `workbench serve` started; None if there is none."""
    base = f"http://{HOST}:{port}/v1"
    try:
        with build_opener(ProxyHandler({})).open(f"{base}/models", timeout=2.0) as answer:
            models = json.loads(answer.read())["data"]
            return base if any(model["id"] == alias(found) for model in models) else None
    except (URLError, OSError, ValueError, LookupError, TypeError):
        return None


_OWN: dict[str, Server] = {}
_LOCK = threading.Lock()


def server_address(name: str) -> str:
    """The address of a server for the weights of that name: one that runs, else one that this process starts.

    Raises:
        SetupError, SettingError: there are no such weights, or they cannot be served.
    """
    found = weights(name)
    with _LOCK:
        if name not in _OWN and (running := running_address(found)) is not None:
            return running
        if name not in _OWN:
            _OWN[name] = start_server(found)
        return _OWN[name].address


atexit.register(_OWN.clear)


def _has_template(file: Path) -> bool:
    """Whether the weights bring a chat template; it is part of the file's header."""
    with file.open("rb") as opened:
        return b"tokenizer.chat_template" in opened.read(64 * 1024 * 1024)
