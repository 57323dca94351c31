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
    parted, even_at = bill.break_even or (None, None)
    yield {
        **_whose(bill.pricing),
        "requests": len(charges),
        "tokens_input": sum(charge.prompt - charge.read - charge.written for charge in charges),
        "tokens_read": sum(charge.read for charge in charges),
        "tokens_written": sum(charge.written for charge in charges),
        "tokens_output": sum(charge.output for charge in charges),
        "usd": bill.usd,
        "net_saving": bill.net_saving,
        "breaks": sum(b.prefix_reused < a.tokens_sent for a, b in pairwise(data.replay.steps)),
        **{
            name: sum(getattr(charge, name) for charge in charges)
            for name in ("usd_input", "usd_read", "usd_write", "usd_output")
        },
        "usd_summaries": sum(charge.summaries for charge in charges),
        "usd_uncompacted": bill.usd_plain,
        "usd_fetching": bill.reacquired,
        "parted_at": parted,
        "even_at": even_at,
        "assumed_summaries": bill.assumed,
    }


def _whose(pricing: Pricing) -> dict[str, str | int | float | None]:
    row = pricing.tariff.row if pricing.tariff is not None else ""
    return {"model": pricing.model, "row": row, "cache": pricing.rules.name, "why": pricing.why}


def reconciliation(
    prepared: Prepared, pricing: Pricing
) -> Iterable[dict[str, str | int | float | None]]:
    """One row: the session's own replay against its reported usage."""
    reconciled = reconcile(prepared.session, prepared.sizing, pricing)
    usd, reported = (
        float(part[:, USD].sum()) for part in (reconciled.predicted, reconciled.reported)
    )
    requests = len(reconciled.predicted)
    yield {
        **_whose(pricing),
        "why": reconciled.why or pricing.why,
        "requests": requests,
        "left_out": reconciled.left_out,
        **{f"{name}_error": reconciled.error(name) for name in ("prompt", "read", "usd")},
        "usd": usd if requests else None,
        "usd_reported": reported if requests else None,
        "bill_error": reconciled.bill_error,
        "usd_missed": reconciled.usd_missed if requests else None,
        "usd_found": reconciled.usd_found if requests else None,
        "missed": reconciled.missed if requests else None,
        "reasons": _reasons(reconciled.reasons, reported) if reported else "",
        **{column: reconciled.turns[turn] for column, turn in TURNS.items()},
    }


def _reasons(usd: Mapping[str, float], reported: float) -> str:
    """What makes a bill wrong, as shares of the reported one: those that round to a per cent and
    more.
    """
    shares = {reason: 100 * usd_of_reason / reported for reason, usd_of_reason in usd.items()}
    return ", ".join(
        f"{reason} {share:+.0f} %" for reason, share in shares.items() if abs(share) >= 0.5
    )
