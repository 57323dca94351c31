"""Options of every command that may ask a real model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from workbench.cli.words import complain
from workbench.errors import SettingError

if TYPE_CHECKING:
    from workbench.models.settings import ModelSettings

PANEL = "Real models"

Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder with the answers of real models. None: the usual one.", rich_help_panel=PANEL),
]
NoCache: TypeAlias = Annotated[
    bool, typer.Option("--no-cache", help="Ask everything anew, and keep no answer.", rich_help_panel=PANEL)
]
CacheOnly: TypeAlias = Annotated[
    bool, typer.Option("--cache-only", help="Ask nothing; take all answers from the cache.", rich_help_panel=PANEL)
]
MaxDollars: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-dollars", min=0, help="Stop before the run has spent more than this.", rich_help_panel=PANEL),
]
Concurrency: TypeAlias = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, help="Calls at most at once, over all workers.", rich_help_panel=PANEL),
]


OnBad: TypeAlias = Annotated[
    str,
    typer.Option(
        "--on-bad-summary",
        help="What becomes of a useless summary: fallback (the preset's own, else extractive), fail, or keep.",
        rich_help_panel=PANEL,
    ),
]


def model_settings(
    cache: Path | None,
    no_cache: bool,
    cache_only: bool,
    max_dollars: float | None,
    concurrency: int | None = None,
    bad: str = "fallback",
    run: str = "",
) -> ModelSettings:
    """How models are asked, from what stands on the command line; `run` as in `ModelSettings`."""
    from workbench.models.settings import ModelSettings
    from workbench.models.summary_repair import CHOICES

    chosen = next((one for one in CHOICES if one == bad), None)
    if chosen is None:
        raise SettingError(f"--on-bad-summary is {bad!r}; it may be {', '.join(CHOICES)}")
    return ModelSettings(
        cache=cache,
        use_cache=not no_cache,
        cache_only=cache_only,
        max_usd=max_dollars,
        concurrency=concurrency,
        on_bad_summary=chosen,
        run=run,
    )


def tell_terms(model: str) -> None:
    """Show the terms under which the weights of these models are used, if they are weights on this machine."""
    if "local" not in model:
        return
    from workbench.models.settings import local_weights, model_names
    from workbench.models.weights import weights

    for name in local_weights(model_names(model)):
        found = weights(name)
        complain(f"{found.label}: {found.terms}")
