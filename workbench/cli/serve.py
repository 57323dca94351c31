"""`workbench lab serve`: a small real model on this machine."""

import time
from typing import Annotated

import typer

from workbench.base.errors import SettingError
from workbench.cli.options import AsJson
from workbench.cli.output import complain, say, say_json
from workbench.engine.models.local import DEFAULT, start_server
from workbench.engine.models.weights import weights


def serve(
    model: Annotated[
        str,
        typer.Argument(
            help="local, local:smollm2, or local:FILE.gguf.", metavar="MODEL", show_default=True
        ),
    ] = "local",
    port: Annotated[int, typer.Option("--port", "-p", min=0, help="0 takes a free one.")] = 8791,
    threads: Annotated[
        int, typer.Option("--threads", min=0, help="That compute; 0 is one a core.")
    ] = 0,
    as_json: AsJson = False,
) -> int:
    """Serve a small real model on this machine's loopback, in OpenAI's protocol, until Ctrl-C.

    Runs find it at its usual port and use it; without it, `--model local` starts its own.

    Example:

      workbench lab serve local --port 8791
    """
    kind, _, name = model.partition(":")
    if kind != "local":
        raise SettingError(
            f"{model!r} cannot be served; write local, local:smollm2 or local:FILE.gguf"
        )
    model_weights = weights(name or DEFAULT)
    server = start_server(model_weights, port=port, threads=threads)
    try:
        complain(f"{model_weights.label}: {model_weights.terms}")
        if as_json:
            say_json(
                {
                    "address": server.address,
                    "weights": model_weights.label,
                    "window": model_weights.window,
                }
            )
        else:
            say(
                f"{server.address} serves {model_weights.label} with a window of {model_weights.window:,} tokens;"
                " Ctrl-C ends it"
            )
        while True:
            time.sleep(0.5)
    except KeyboardInterrupt:
        return 0
