"""A person says which answers are right, without seeing what the judge said or whose context they come from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from workbench.judge.calibration import calibrate
from workbench.judge.probes.accuracy import LABELS, Item, items, labelled, read_labels
from workbench.judge.probes.answers import ProbeResults
from workbench.markup import shown

Widget: TypeAlias = Any
"""One of ipywidgets, which is untyped."""


class Labelling:
    """Shows one answer after another with two buttons; each label is written down at once.

    Attributes:
        items: what is to be labelled, judged right and judged wrong mixed.
        file: where the labels go, one JSON object a line; it goes on where it stopped.
    """

    def __init__(self, probed: ProbeResults, file: Path | None = None, each: int = 25) -> None:
        self._probed = probed
        self.file = file or probed.path / LABELS
        self.items: Sequence[Item] = items(probed.table, each)
        self._page: Widget = None

    @property
    def left(self) -> tuple[Item, ...]:
        """What is still to be labelled, in order."""
        known = read_labels(self.file)
        return tuple(item for item in self.items if item.key not in known)

    def label(self, right: bool) -> None:
        """Label the item that is shown, and go on to the next."""
        if not self.left:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"key": self.left[0].key, "right": right}) + "\n")
        self._show()

    @property
    def text(self) -> str:
        """What the page says now, as HTML; everything from a recording is escaped."""
        left = self.left
        if not self.items:
            return "<p>No judge ruled on anything here; `workbench probe --judge NAME` asks one.</p>"
        if not left:
            return self._told()
        item = left[0]
        done = len(self.items) - len(left)
        rows = (("Question", item.question), ("Expected", item.expected), ("Given", item.reply))
        told = "".join(f"<h4>{name}</h4><blockquote>{shown(text, 4_000)}</blockquote>" for name, text in rows)
        return f"<p>{done} of {len(self.items)} labelled. Does the given answer say the same?</p>{told}"

    def _told(self) -> str:
        labels = labelled(self.file, self._probed.table)
        found = None if labels is None else calibrate(labels)
        if labels is None or found is None:
            return (
                f"<p>All {len(self.items)} are labelled; there were too few of one verdict to calibrate the judge.</p>"
            )
        right, wrong = found.sensitivity, found.specificity
        return (
            f"<p>All {len(self.items)} are labelled. The judge calls {right.value:.0%} of what is right so "
            f"({right.low:.0%} to {right.high:.0%}), and {wrong.value:.0%} of what is wrong so ({wrong.low:.0%} to "
            f"{wrong.high:.0%}); kappa {found.kappa:.2f}.</p>"
        )

    @property
    def page(self) -> Widget:
        """The widgets, made when they are first shown."""
        if self._page is None:
            import ipywidgets

            self._text = ipywidgets.HTML()
            self._right = ipywidgets.Button(description="The same", button_style="success")
            self._wrong = ipywidgets.Button(description="Not the same", button_style="danger")
            self._right.on_click(lambda _: self.label(True))
            self._wrong.on_click(lambda _: self.label(False))
            self._page = ipywidgets.VBox([self._text, ipywidgets.HBox([self._right, self._wrong])])
            self._show()
        return self._page

    def _show(self) -> None:
        if self._page is not None:
            self._text.value = self.text
            self._right.disabled = self._wrong.disabled = not self.left

    def _repr_mimebundle_(self, **more: object) -> Widget:
        return self.page._repr_mimebundle_(**more)


def label(folder: str | Path | ProbeResults, file: str | Path | None = None, each: int = 25) -> Labelling:
    """Label answers that a judge ruled on, so that its part of a score can be corrected.

    Args:
        folder: of `workbench probe --judge`.
        file: where the labels go; by default beside the answers.
        each: how many of each of the judge's verdicts.

    Raises:
        SettingError: the folder holds no answers.
    """
    probed = folder if isinstance(folder, ProbeResults) else ProbeResults.open(folder)
    return Labelling(probed, None if file is None else Path(file), each)
