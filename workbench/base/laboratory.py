"""What the laboratory (`workbench.lab`) adds to other floors. Each part is imported when it is
used.

No other floor imports the laboratory. Where its folder is missing, its parts are absent and all
else runs.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

LABORATORY = "workbench.lab"
SECTIONS: Mapping[str, str] = {
    "closed_loop": "closed_loop_html",
    "trust": "trust_html",
}
"""Parts of a report: a module of `lab.sections`, and its function that makes an `Html` of a run's
`Results` and `Findings`.
"""


def section(name: str) -> Callable[..., Any] | None:
    """The function that makes a section of a report; None without the laboratory."""
    if find_spec(LABORATORY) is None:
        return None
    module = import_module(f"{LABORATORY}.sections.{name}")
    make: Callable[..., Any] = getattr(module, SECTIONS[name])
    return make


def simulation() -> Callable[..., None] | None:
    """The function that simulates beside a comparison; None without the laboratory."""
    if find_spec(LABORATORY) is None:
        return None
    module = import_module(f"{LABORATORY}.simulation.beside")
    simulate: Callable[..., None] = module.simulate_beside
    return simulate
