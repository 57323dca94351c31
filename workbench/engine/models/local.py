"""A small real model on this machine, behind OpenAI's protocol on loopback, asked through
litellm like any provider.
"""

import atexit
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from workbench.base.errors import SetupError
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.models.weights import NAMES, Weights, weights

HOST = "127.0.0.1"
PORT = 8791
"""Where `workbench lab serve` listens, and where a run looks for it."""

_PLAIN = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"
"""What a model without a chat template reads: the words, one message after another."""


class Server(NamedTuple):
    """A server of this process, which ends when nothing refers to it; a client takes its base
    address.
    """

    address: str
    handle: object


def start_server(served_weights: Weights, *, port: int = 0, threads: int = 0) -> Server:
    """Start a server for these weights at this port (0: a free one) with so many threads (0: one a
    core).

    Raises:
        SetupError: the extra is not installed, or the server does not start.
    """
    if find_spec("xllamacpp") is None:
        raise SetupError(
            "a local model needs the extra `local`: pip install 'compaction-workbench[local]'"
        )
    # Threads that wait must sleep, else one busy neighbour makes them thirty times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(served_weights.path)
    params.model_alias = {alias(served_weights)}
    params.n_ctx = served_weights.window
    params.n_parallel = 1  # the window is divided among the slots
    params.hostnames = [HOST]
    params.port = port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or os.cpu_count() or 1
    params.warmup = False
    params.verbosity = 0
    params.ui = False
    if not _has_template(served_weights.path):
        params.chat_template = _PLAIN
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise SetupError(f"the server for {served_weights.label} did not start: {error}") from error
    return Server(f"{server.listening_address}/v1", server)


def alias(served_weights: Weights) -> str:
    """The name under which a server offers these weights, and no others."""
    return f"workbench-{served_weights.name}-{served_weights.path.stat().st_size}-{served_weights.window}"


def running_address(served_weights: Weights, port: int = PORT) -> str | None:
    """The address of a server for these weights that `workbench lab serve` started; None if
    there is none.
    """
    base = f"http://{HOST}:{port}/v1"
    try:
        with build_opener(ProxyHandler({})).open(f"{base}/models", timeout=2.0) as answer:
            models = json.loads(answer.read())["data"]
        is_served = any(model["id"] == alias(served_weights) for model in models)
    except (URLError, OSError, ValueError, LookupError, TypeError):
        return None
    return base if is_served else None


_OWN: dict[str, Server] = {}
_LOCK = threading.Lock()


def server_address(name: str) -> str:
    """The address of a server for the weights of that name: one that runs, else one that this
    process starts.

    Raises:
        SetupError, SettingError: there are no such weights, or they cannot be served.
    """
    served_weights = weights(name)
    with _LOCK:
        if name not in _OWN:
            address = running_address(served_weights)
            if address is not None:
                return address
            _OWN[name] = start_server(served_weights)
        return _OWN[name].address


atexit.register(_OWN.clear)


def _has_template(file: Path) -> bool:
    """Whether the weights bring a chat template; it is part of the file's header."""
    with file.open("rb") as opened:
        return b"tokenizer.chat_template" in opened.read(64 * 1024 * 1024)


DEFAULT = "gemma"
MOST = 400
"""Tokens of an answer: after some hundred a model this small only repeats itself, at 40 tokens a
second.
"""

_PATIENT = ProviderOptions(timeout=3_600.0, tries=2, input_usd=0.0, output_usd=0.0)
"""A long prompt takes minutes on two cores, and may wait for the requests of other workers."""


@dataclass(frozen=True)
class Local(LiteLLM):
    """Small weights behind a server on loopback. What it writes is bad: it proves that everything
    around it works.

    Attributes:
        model: a name that `models.weights` knows, or the path of a `.gguf` file.
        address: of the server; empty takes one that runs, or starts one and stops it with this
            process.
    """

    model: str = DEFAULT
    options: ProviderOptions = _PATIENT
    address: str = ""

    @property
    def name(self) -> str:
        """Name shown in reports."""
        if self.model == DEFAULT:
            return "local"
        if self.model in NAMES:
            return f"local:{self.model}"
        return f"local:{Path(self.model).name}"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """See `LiteLLM.complete`; raises SetupError where the extra is not installed."""
        max_tokens = min(request.max_tokens or MOST, MOST)
        answer = super().complete(replace(request, model="", max_tokens=max_tokens))
        return replace(answer, model=f"local:{weights(self.model).label}")

    def called(self, request: SummaryRequest) -> tuple[str, ProviderOptions]:
        """The server's name for the weights, and how it is called."""
        own_weights = weights(self.model)
        settings = {
            "api_base": self.address or server_address(self.model),
            "window": own_weights.window,
        }
        return f"openai/{alias(own_weights)}", self.options.model_copy(update=settings)

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself."""
        own_weights = weights(self.model)
        return {
            "weights": _seal(own_weights.path, own_weights.path.stat().st_mtime_ns),
            "window": own_weights.window,
            "most": MOST,
        }

    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included."""
        return weights(self.model).window


@lru_cache(maxsize=8)
def _seal(path: Path, changed: int) -> str:
    with path.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()
