"""A small real model behind OpenAI's protocol on this machine's loopback, in a process of its own.

`python -m workbench.models.serving FILE ALIAS WINDOW PORT THREADS` serves until its standard input is closed: it never
outlives the process that started it.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from workbench.errors import SetupError
from workbench.models.weights import Weights, weights

HOST = "127.0.0.1"
PORT = 8791
"""Where `workbench serve` listens, and where a run looks for it."""

_PLAIN = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"
"""What a model without a chat template of its own reads: the words, one message after another."""


@dataclass(slots=True)
class Server:
    """A server that this process started.

    Attributes:
        address: what a client takes as its base address.
    """

    address: str
    _process: subprocess.Popen[str]

    @property
    def alive(self) -> bool:
        """Whether it still serves."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Stop it, and wait until it is gone."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start_server(found: Weights, *, port: int = 0, threads: int = 0) -> Server:
    """Start a server for these weights; it takes about a second.

    Args:
        found: the weights.
        port: 0 for a free one.
        threads: that compute; 0 for one a core.

    Raises:
        SetupError: the extra is not installed, or the server does not come up.
    """
    if find_spec("xllamacpp") is None:
        raise SetupError("a local model needs the extra `local`: pip install 'compaction-workbench[local]'")
    words = [str(found.path), alias(found), str(found.window), str(port), str(threads or os.cpu_count() or 1)]
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench.models.serving", *words], text=True, env=_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            process.wait()
            log.seek(0)
            last = [text.strip() for text in log.read().splitlines() if text.strip()][-1:]
            raise SetupError(f"the server for {found.label} did not start: {' '.join(last) or 'it gave no reason'}")
    return Server(str(json.loads(line)["address"]), process)


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


def address(name: str) -> str:
    """The address of a server for the weights of that name: one that runs, else one that this process starts.

    Raises:
        SetupError, SettingError: there are no such weights, or they cannot be served.
    """
    found = weights(name)
    with _LOCK:
        own = _OWN.get(name)
        if own is not None and own.alive:
            return own.address
        there = running_address(found)
        if there is not None:
            return there
        _OWN[name] = start_server(found)
        return _OWN[name].address


@atexit.register
def stop_own() -> None:
    """Stop what this process started."""
    with _LOCK:
        while _OWN:
            _OWN.popitem()[1].stop()


@contextmanager
def local_servers(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Addresses of servers for these weights, one each for any number of workers; those started here end here."""
    try:
        yield {name: address(name) for name in names}
    finally:
        if names:
            stop_own()


def _environment() -> dict[str, str]:
    """The child's environment: threads that wait must sleep, else one busy neighbour makes it thirty times slower."""
    places = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    policy = os.environ.get("OMP_WAIT_POLICY", "passive")
    return {**os.environ, "OMP_WAIT_POLICY": policy, "PYTHONPATH": os.pathsep.join(places)}


def main(words: Sequence[str]) -> None:
    """Serve until standard input is closed."""
    import xllamacpp

    file, name, window, port, threads = words
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = {name}
    params.n_ctx = int(window)
    params.n_parallel = 1  # the window is divided among the slots
    params.hostnames = [HOST]
    params.port = int(port)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.warmup = False
    params.verbosity = 0
    params.ui = False
    if not _has_template(file):
        params.chat_template = _PLAIN
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"address": f"{server.listening_address}/v1"}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server


def _has_template(file: str) -> bool:
    """Whether the weights bring a chat template; it is part of the file's header."""
    with Path(file).open("rb") as opened:
        return b"tokenizer.chat_template" in opened.read(64 * 1024 * 1024)


if __name__ == "__main__":
    main(sys.argv[1:])
