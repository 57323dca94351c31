"""What a run would take, printed before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from workbench.cli.output import say, say_json, table
from workbench.experiment.compare import Forecast
from workbench.formats import dollars

COLUMNS = {
    "strategy": "strategy", "model": "model", "requests": "requests:count", "tokens read": "input_tokens:count",
    "tokens written": "output_tokens:count", "cost": "usd:dollars",
}  # fmt: skip


def show_forecast(found: Forecast, as_json: bool, besides: Mapping[str, object] | None = None) -> int:
    """Print what a run would take; `besides` has further fields of the JSON. The exit code is 0."""
    if as_json:
        say_json({**(besides or {}), **asdict(found), "requests": found.requests, "usd": found.usd})
        return 0
    left = f" and {found.unreadable} that cannot be replayed" * bool(found.unreadable)
    say(f"{found.sessions} sessions{left}; {found.replays} replays, {found.done} of them on disk already.")
    say(f"{found.tokens:,} tokens to replay in the other {found.replays - found.done}.")
    if not found.asked:
        say("No provider's model would be asked: it costs nothing.")
        return 0
    say(f"\n{table(map(asdict, found.asked), COLUMNS)}\n")
    unknown = sorted({one.model for one in found.asked if one.usd is None})
    if unknown:
        say(f"No price is known for {', '.join(unknown)}; docs/my-provider.md says how to give one.")
    else:
        say(f"At most about {dollars(found.usd)}, if each summary takes all its room and none is in the cache.")
    return 0
