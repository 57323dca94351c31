"""How fast a model reads and writes, so that long work can be predicted: measured on this
machine, assumed elsewhere.
"""

import json
from functools import lru_cache
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from workbench.base.errors import SetupError
from workbench.engine.models import find_model
from workbench.engine.models.local import Local, server_address

PROMPT = "The agent reads a file, changes a line and runs the tests. " * 40
"""What is read to measure: some hundred tokens, a second or two on two cores."""
WRITTEN = 16
PATIENCE = 120.0
"""Seconds to wait for the measurement."""


class Speed(NamedTuple):
    """Tokens a second that are read and written, and how that is known, in words."""

    read: float
    written: float
    known: str

    def seconds(self, read: int, written: int) -> float:
        """What so many tokens take, one call after another."""
        return read / self.read + written / self.written


PROVIDER = Speed(2_000.0, 60.0, "assumed, as is usual for hosted models")
"""Providers are not asked for the sake of a forecast."""


@lru_cache
def speed(name: str) -> Speed:
    """The speed of the model of that name: one on this machine is measured on one short call.

    Raises:
        SetupError, SettingError: it is on this machine, and cannot be served.
    """
    model = find_model(name)
    if not isinstance(model, Local):
        return PROVIDER
    return measured(model.address or server_address(model.model))


def measured(address: str) -> Speed:
    """The speed of the server at this address, from what it says of one short call.

    Raises:
        SetupError: it does not answer, or not with its timings.
    """
    body = json.dumps(
        {"prompt": PROMPT, "n_predict": WRITTEN, "ignore_eos": True, "cache_prompt": False}
    ).encode()
    request = Request(
        f"{address.removesuffix('/v1')}/completion", body, {"Content-Type": "application/json"}
    )
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=PATIENCE) as answer:
            timings = json.loads(answer.read())["timings"]
            read_rate, write_rate = (
                float(timings["prompt_per_second"]),
                float(timings["predicted_per_second"]),
            )
            return Speed(
                read_rate,
                write_rate,
                "measured on one short call; long prompts are read more slowly",
            )
    except (URLError, OSError, ValueError, LookupError, TypeError) as error:
        raise SetupError(f"the model at {address} did not answer a short call: {error}") from error
