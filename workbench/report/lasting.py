"""How long things last under each strategy, in words."""

from __future__ import annotations

from workbench.analysis.survival import Survival
from workbench.markup import shown
from workbench.report.digits import listed, percent, some
from workbench.report.html import Html
from workbench.report.tables import Tables, by_round, contenders, lives


def half_lives_html(run: Tables) -> Html:
    """After how many compactions half of what was said is gone; nothing where no thing was followed."""
    curves = {name: found for name in contenders(run) if (found := lives(run, name)).rounds}
    if not curves:
        return Html("", data=by_round(run))
    told = "Half of the exact things that were said are gone after: " + listed(
        [f"{name} {_half(found)}" for name, found in curves.items()]
    )
    inside = shown(f"{told}. A bar is a 95 % interval over sessions; it takes six of them.", 2000)
    return Html(f'<p class="note">{inside}</p>', told, by_round(run))


def _half(found: Survival) -> str:
    if found.half_life is None:
        last = found.rounds[-1]
        return f"more than {some(last.number, 'compaction')} ({percent(last.surviving)} are left then)"
    return f"{found.half_life:.1f} compactions"
