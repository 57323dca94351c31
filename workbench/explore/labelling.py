"""A person labels answers as right or wrong, without seeing the judge's verdict or whose context they come from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.judge.calibration import calibrate
from workbench.judge.probes.accuracy import LABELS, Item, items, labelled, read_labels
from workbench.judge.probes.answers import ProbeResults
from workbench.markup import render


class Labelling:
    """Shows one answer after another with two buttons; each label is written into a file at once, a JSON object a line.

    Answers that the judge called right and wrong are mixed; with the same file it continues where it stopped.
    """

    def __init__(self, probed: ProbeResults, file: Path | None = None, each: int = 25) -> None:
        self._probed = probed
        self.file = file or probed.path / LABELS
        self.items: Sequence[Item] = items(probed.table, each)

    @property
    def left(self) -> tuple[Item, ...]:
        """What is still to be labelled, in order."""
        known = read_labels(self.file)
        return tuple(item for item in self.items if item.key not in known)

    def label(self, right: bool) -> None:
        """Label the item that is shown, and go on to the next."""
        if self.left:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"key": self.left[0].key, "right": right}) + "\n")
        if "page" in self.__dict__:
            self._show(self.page)

    @property
    def text(self) -> str:
        """What the page shows now, as HTML."""
        left = self.left
        labels = None if left else labelled(self.file, self._probed.table)
        judge = calibrate(labels) if labels else None
        return render("explore/labelling.html", total=len(self.items), left=left, judge=judge)

    @cached_property
    def page(self) -> Any:  # noqa: ANN401 - ipywidgets is untyped
        """The widgets, made when they are first shown."""
        import ipywidgets

        names = {"The same": "success", "Not the same": "danger"}
        buttons = [ipywidgets.Button(description=name, button_style=style) for name, style in names.items()]
        for button, right in zip(buttons, (True, False), strict=True):
            button.on_click(lambda _, right=right: self.label(right))
        page = ipywidgets.VBox([ipywidgets.HTML(), ipywidgets.HBox(buttons)])
        self._show(page)
        return page

    def _show(self, page: Any) -> None:  # noqa: ANN401 - ipywidgets is untyped
        text, buttons = page.children
        text.value = self.text
        for button in buttons.children:
            button.disabled = not self.left

    def _repr_mimebundle_(self, **more: object) -> Any:  # noqa: ANN401 - as IPython gives them
        return self.page._repr_mimebundle_(**more)


def label(folder: str | Path | ProbeResults, file: str | Path | None = None, each: int = 25) -> Labelling:
    """Label answers that a judge ruled on, so that its part of a score can be corrected.

    Args:
        folder: of `workbench judge probes --judge`.
        file: where the labels go; by default beside the answers.
        each: how many of each of the judge's verdicts.
    """
    probed = folder if isinstance(folder, ProbeResults) else ProbeResults.open(folder)
    return Labelling(probed, None if file is None else Path(file), each)
