"""What a session's replay costs, and how well its own usage is reproduced, as rows of the run's
tables.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from workbench.engine.transcript.recorded_requests import Turn
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.reconciliation import USD, reconcile
from workbench.evaluation.metrics.metric import MetricInput

TURNS: dict[str, Turn] = {
    "compactions": "compaction", "clearings": "clearing", "shrunk": "shrunk", "grown": "grown",
    "unseen_start": "unseen start",
}  # fmt: skip
"""The columns that count turns of a session's prompts."""


def costs(data: MetricInput) -> Iterable[dict[str, str | int | float | None]]:
    """One row: the bill of a natural replay, by part."""
    bill = data.bill
    if bill is None:
        return
    charges = bill.charges
    parted, even = bill.break_even or (None, None)
    yield {
        **_whose(bill.pricing),
        "requests": len(charges),
        "tokens_input": sum(one.prompt - one.read - one.written for one in charges),
        "tokens_read": sum(one.read for one in charges),
        "tokens_written": sum(one.written for one in charges),
        "tokens_output": sum(one.output for one in charges),
        "usd": bill.usd,
        "net_saving": bill.net_saving,
        "breaks": sum(b.prefix_reused < a.tokens_sent for a, b in pairwise(data.replay.steps)),
        **{
            name: sum(getattr(one, name) for one in charges)
            for name in ("usd_input", "usd_read", "usd_write", "usd_output")
        },
        "usd_summaries": sum(one.summaries for one in charges),
        "usd_uncompacted": bill.usd_plain,
        "usd_fetching": bill.reacquired,
        "parted_at": parted,
        "even_at": even,
        "assumed_summaries": bill.assumed,
    }


def _whose(pricing: Pricing) -> dict[str, str | int | float | None]:
    row = pricing.tariff.row if pricing.tariff is not None else ""
    return {"model": pricing.model, "row": row, "cache": pricing.rules.name, "why": pricing.why}


def reconciliation(
    ready: Prepared, pricing: Pricing
) -> Iterable[dict[str, str | int | float | None]]:
    """One row: the session's own replay against its reported usage."""
    found = reconcile(ready.session, ready.sizing, pricing)
    usd, reported = (float(part[:, USD].sum()) for part in (found.predicted, found.reported))
    requests = len(found.predicted)
    yield {
        **_whose(pricing),
        "why": found.why or pricing.why,
        "requests": requests,
        "left_out": found.left_out,
        **{f"{name}_error": found.error(name) for name in ("prompt", "read", "usd")},
        "usd": usd if requests else None,
        "usd_reported": reported if requests else None,
        "bill_error": found.bill_error,
        "usd_missed": found.usd_missed if requests else None,
        "usd_found": found.usd_found if requests else None,
        "missed": found.missed if requests else None,
        "reasons": _reasons(found.reasons, reported) if reported else "",
        **{column: found.turns[turn] for column, turn in TURNS.items()},
    }


def _reasons(usd: Mapping[str, float], reported: float) -> str:
    """What makes a bill wrong, as shares of the reported one: those that round to a per cent and
    more.
    """
    shares = {reason: 100 * one / reported for reason, one in usd.items()}
    return ", ".join(
        f"{reason} {share:+.0f} %" for reason, share in shares.items() if abs(share) >= 0.5
    )
