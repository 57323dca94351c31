"""How right the list of losses is after a model has looked at each, by the labels of other readers.

    python reports/studies/losses/judged.py RECORDINGS SET FOLDER

writes the page of each labelled loss of SET that is still listed as a request into FOLDER/req-1 to
req-3, as `folder:` models have them, and, once each has an answer that can be used or two that
cannot, prints what leaves the list and how right the rest is. SET begins the name of a set
(`ninth`), or is a file of labels, or the `drawn.csv` of `draw.py`, whose losses are asked about
before anybody has labelled them. FOLDER/pages.jsonl keeps
the pages, so that they are made once.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from losses import HERE, SETS, labels_at_hand, losses_at_hand

from workbench import AnswerAwaited, ModelSettings
from workbench.lab.judge.losses.page import LossPage, loss_page
from workbench.lab.judge.losses.verdict import UnusableAnswer, Verdict, asked_verdict

FOLDERS = 3
QUALITIES = ("kind", "need", "stage", "recoverability")


@dataclass(frozen=True, slots=True)
class ListedPage:
    """The page of a listed loss, what the list says of it, and the number of its label."""

    number: int
    kind: str
    stage: str
    way_back: str
    page: LossPage


@dataclass(frozen=True, slots=True)
class JudgedLoss:
    """A labelled loss with what a model says of it; None where no answer could be used."""

    label: dict[str, str]
    listed: ListedPage
    verdict: Verdict | None

    @property
    def leaves(self) -> bool:
        """Whether the model calls it no need, so that it leaves the list."""
        return self.verdict is not None and not self.verdict.is_needed

    @property
    def is_needed(self) -> bool:
        """Whether its label says that it was needed."""
        return self.label["need"] == "yes"

    def is_right(self, quality: str) -> bool:
        """Whether the list agrees with the label."""
        if quality == "need":
            return self.is_needed
        if quality == "kind":
            return self.label["kind"] == self.listed.kind
        if quality == "stage":
            return self.label["stage"] == self.listed.stage
        return (self.label["way_back"] == "call") == (self.listed.way_back == "call")


def pages_of(
    labels: Sequence[dict[str, str]], recordings: Path, folder: Path
) -> Iterator[ListedPage]:
    """The pages of the labelled losses that are still listed, in the order of the labels."""
    file = folder / "pages.jsonl"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        lines: dict[int, str] = {}
        for number, loss in losses_at_hand(labels, recordings):
            row = loss.row
            page = loss_page(loss)
            listed = ListedPage(number, row["kind"], row["stage"], row["way_back"], page)
            lines[number] = json.dumps(asdict(listed)) + "\n"
        text = "".join(lines[number] for number in sorted(lines))
        file.write_text(text, encoding="utf-8")
    for line in file.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        yield ListedPage(**{**fields, "page": LossPage(**fields["page"])})


def judged_losses(
    labels: Sequence[dict[str, str]], recordings: Path, folder: Path
) -> tuple[list[JudgedLoss], int]:
    """The losses that were judged, and how many answers are awaited."""
    settings = ModelSettings(use_cache=False)
    models = [settings.model(f"folder:{folder}/req-{place + 1}") for place in range(FOLDERS)]
    judged: list[JudgedLoss] = []
    awaited = 0
    pages = list(pages_of(labels, recordings, folder))
    for place, listed in enumerate(pages):
        model = models[place * FOLDERS // len(pages)]
        verdict = None
        try:
            verdict = asked_verdict(listed.page, model)
        except AnswerAwaited:
            awaited += 1
            continue
        except UnusableAnswer:
            pass
        judged.append(JudgedLoss(labels[listed.number], listed, verdict))
    return judged, awaited


def lines_of(judged: Sequence[JudgedLoss]) -> Iterator[str]:
    """What leaves the list, and how right the rest is."""
    rest = [loss for loss in judged if not loss.leaves]
    left = [loss for loss in judged if loss.leaves]
    needed_that_left = sum(loss.is_needed for loss in left)
    unusable = sum(loss.verdict is None for loss in judged)
    yield from ("| | before | after |", "|---|---|---|")
    yield f"| listed | {len(judged)} | {len(rest)} |"
    for quality in QUALITIES:
        yield f"| {quality} | {_share(judged, quality)} | {_share(rest, quality)} |"
    yield f"| needed by the label, left | | {needed_that_left} of {len(left)} |"
    yield f"| no answer that can be used | | {unusable} |"
    yield "\nWhere the model's kind is not the list's:"
    yield from _counted(map(_whose_kind_is_right, judged))
    yield "Why losses left:"
    yield from _counted(map(_reason, left))


def _counted(names: Iterable[str]) -> Iterator[str]:
    for name, count in Counter(names).most_common():
        if name:
            yield f"- {name}: {count}"


def _whose_kind_is_right(loss: JudgedLoss) -> str:
    """Empty where the model's kind is the list's."""
    if loss.verdict is None or loss.verdict.kind == loss.listed.kind:
        return ""
    if loss.label["kind"] == loss.listed.kind:
        return "the list's is the label's"
    if loss.label["kind"] == loss.verdict.kind:
        return "the model's is the label's"
    return "neither is the label's"


def _reason(loss: JudgedLoss) -> str:
    assert loss.verdict is not None
    if loss.is_needed:
        return f"{loss.verdict.reason}, but needed by the label"
    return f"{loss.verdict.reason}, no need by the label"


def _share(losses: Sequence[JudgedLoss], quality: str) -> str:
    right = sum(loss.is_right(quality) for loss in losses)
    return f"{right} of {len(losses)} ({right / max(len(losses), 1):.3f})"


def main() -> None:
    """Ask, or print what was answered."""
    recordings, wanted_set, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    file = Path(wanted_set)
    for name, labelled in SETS.items():
        if name.startswith(wanted_set):
            file = HERE / labelled
    labels = labels_at_hand(file, recordings)
    judged, awaited = judged_losses(labels, recordings, folder)
    if awaited:
        sys.stdout.write(f"{awaited} answers are awaited in {folder}\n")
        return
    sys.stdout.write("\n".join(lines_of(judged)) + "\n")


if __name__ == "__main__":
    main()
