"""What `--dry-run` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from workbench.cli.output import count, say, say_json, table
from workbench.experiment.forecast import Forecast


def show_forecast(found: Forecast, as_json: bool, besides: Mapping[str, object] | None = None) -> int:
    """Print what a run would take; 0, since nothing was asked of it.

    Args:
        found: of the run.
        as_json: for other programs.
        besides: further fields of the JSON.
    """
    if as_json:
        say_json({**(besides or {}), **asdict(found), "requests": found.requests, "usd": found.usd})
        return 0
    left = f" and {found.unreadable} that cannot be replayed" * bool(found.unreadable)
    say(f"{found.sessions} sessions{left}; {found.replays} replays, {found.done} of them on disk already.")
    say(f"{count(found.tokens)} tokens to replay in the other {found.replays - found.done}.")
    if not found.asked:
        say("No provider's model would be asked: it costs nothing.")
        return 0
    rows = [
        {
            "strategy": one.strategy,
            "model": one.model,
            "requests": count(one.requests),
            "tokens read": count(one.input_tokens),
            "tokens written": count(one.output_tokens),
            "USD": _dollars(one.usd),
        }
        for one in found.asked
    ]
    say(f"\n{table(rows, left=['strategy', 'model'])}\n")
    unknown = sorted({one.model for one in found.asked if one.usd is None})
    if unknown:
        say(f"No price is known for {', '.join(unknown)}; give one with WORKBENCH_MODELS, see docs/my-provider.md.")
    else:
        say(f"At most about {_dollars(found.usd)} USD, if each summary takes all its room and none is in the cache.")
    return 0


def _dollars(value: float | None) -> str:
    """An amount to a cent, or to a digit that is not 0."""
    if value is None:
        return "unknown"
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"
