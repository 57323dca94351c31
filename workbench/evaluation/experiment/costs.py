"""What a session's replay costs, and how well its own usage is reproduced, as rows of the run's
tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from workbench.engine.transcript.recorded_requests import Turn
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.costs.pricing import Pricing
from workbench.evaluation.metrics.costs.reconciliation import USD, reconcile
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.replays.step import Step

TURNS: dict[str, Turn] = {
    "compactions": "compaction", "clearings": "clearing", "shrunk": "shrunk", "grown": "grown",
    "unseen_start": "unseen start",
}  # fmt: skip
"""The columns that count turns of a session's prompts."""
CostRow: TypeAlias = dict[str, str | int | float | None]


def costs(data: MetricInput) -> Iterable[CostRow]:
    """One row: the bill of a natural replay, by part."""
    bill = data.bill
    if bill is None:
        return
    charges = bill.charges
    parted, even_at = bill.break_even or (None, None)
    row = _whose(bill.pricing)
    row |= {
        "requests": len(charges),
        "tokens_input": sum(charge.prompt - charge.read - charge.written for charge in charges),
        "tokens_read": sum(charge.read for charge in charges),
        "tokens_written": sum(charge.written for charge in charges),
        "tokens_output": sum(charge.output for charge in charges),
        "usd": bill.usd,
        "net_saving": bill.net_saving,
        "breaks": _breaks(data.replay.steps),
        "usd_summaries": sum(charge.summaries for charge in charges),
        "usd_uncompacted": bill.usd_plain,
        "usd_fetching": bill.reacquired,
        "parted_at": parted,
        "even_at": even_at,
        "assumed_summaries": bill.assumed,
    }
    for column in ("usd_input", "usd_read", "usd_write", "usd_output"):
        row[column] = sum(getattr(charge, column) for charge in charges)
    yield row


def _breaks(steps: Sequence[Step]) -> int:
    """How many requests do not begin with all that was sent before."""
    count = 0
    for earlier_step, step in pairwise(steps):
        count += step.prefix_reused < earlier_step.tokens_sent
    return count


def _whose(pricing: Pricing) -> CostRow:
    tariff_row = ""
    if pricing.tariff is not None:
        tariff_row = pricing.tariff.row
    return {
        "model": pricing.model,
        "row": tariff_row,
        "cache": pricing.rules.name,
        "why": pricing.why,
    }


def reconciliation(prepared: Prepared, pricing: Pricing) -> Iterable[CostRow]:
    """One row: the session's own replay against its reported usage."""
    reconciled = reconcile(prepared.session, prepared.sizing, pricing)
    reported = float(reconciled.reported[:, USD].sum())
    requests = len(reconciled.predicted)
    row = _whose(pricing)
    row |= {
        "why": reconciled.why or pricing.why,
        "requests": requests,
        "left_out": reconciled.left_out,
        "bill_error": reconciled.bill_error,
        "reasons": "",
    }
    if reported:
        row["reasons"] = _reasons(reconciled.reasons, reported)
    for name in ("prompt", "read", "usd"):
        row[f"{name}_error"] = reconciled.error(name)
    if requests:
        row["usd"] = float(reconciled.predicted[:, USD].sum())
        row["usd_reported"] = reported
        row["usd_missed"] = reconciled.usd_missed
        row["usd_found"] = reconciled.usd_found
        row["missed"] = reconciled.missed
    for column, turn in TURNS.items():
        row[column] = reconciled.turns[turn]
    yield row


def _reasons(usd: Mapping[str, float], reported: float) -> str:
    """What makes a bill wrong, as shares of the reported one: those that round to a per cent and
    more.
    """
    reasons: list[str] = []
    for reason, usd_of_reason in usd.items():
        share = 100 * usd_of_reason / reported
        if abs(share) >= 0.5:
            reasons.append(f"{reason} {share:+.0f} %")
    return ", ".join(reasons)
