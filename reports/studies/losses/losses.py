"""How often losses are right: their kind, whether the thing was needed, the stage that lost it, and
what brings it back.

    python reports/studies/losses/losses.py RECORDINGS [SET]

prints, for each set of labelled losses beside this file, how many of the losses that the workbench
still lists agree with a reader's label; with SET (`eighth`) for the sets that begin so. RECORDINGS
is a folder with `corpora`, `more-projects` and `others`, which holds files of public repositories as
`others/OWNER+NAME/PATH`. Labels whose recording is not there are left out. A label names its loss by
recording, place and a hash of the thing, so that no text ships. A name in code that an edit quotes
is no longer listed: the line of the edit is.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.evaluation.experiment.loss_rows import Loss, worst_losses
from workbench.evaluation.experiment.prepared import Prepared, metric_input, read, replay
from workbench.evaluation.experiment.sources import SessionSource
from workbench.lab.judge.losses.page import LossAtHand

HERE = Path(__file__).parent
SETS = {
    "first": "labels-first.csv",
    "second": "labels-second.csv",
    "second, by other readers": "labels-second-others.csv",
    "third": "labels-third.csv",
    "fourth": "labels-fourth.csv",
    "fifth, by other readers": "labels-fifth.csv",
    "sixth, by other readers": "labels-sixth.csv",
    "seventh, by other readers": "labels-seventh.csv",
    "eighth, by other readers": "labels-eighth.csv",
    "ninth, by other readers": "labels-ninth.csv",
    "tenth, by other readers": "labels-tenth.csv",
}
PLACE = ("recording", "session", "window", "strategy")


@dataclass(frozen=True, slots=True)
class Agreement:
    """One quality of the listed losses: how many agree with their labels."""

    quality: str
    right: int
    labelled: int

    def __str__(self) -> str:
        return f"| {self.quality} | {self.right} of {self.labelled} | {self.right / self.labelled:.3f} |"


def digest(text: str) -> str:
    """The name of a thing in the labels."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def labels_at_hand(file: Path, recordings: Path) -> list[dict[str, str]]:
    """The labels of a set whose recordings are there; none where the set is not labelled yet."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8") as lines:
        labels = list(csv.DictReader(lines))
    return [label for label in labels if (recordings / label["recording"]).exists()]


def agreements(labels: Sequence[dict[str, str]], recordings: Path) -> Iterator[Agreement]:
    """What agrees, of the labelled losses that are still listed."""
    listed: list[tuple[dict[str, str], Loss]] = []
    left_out = []
    for label, loss in zip(labels, verdicts(labels, recordings), strict=True):
        if loss is None:
            left_out.append(label)
        else:
            listed.append((label, loss))
    total = len(listed)
    needed = sum(label["need"] == "yes" for label, _ in listed)
    kinds = sum(label["kind"] == loss["kind"] for label, loss in listed)
    stages = sum(label["stage"] == loss["stage"] for label, loss in listed)
    ways = sum(label["way_back"] == loss["way_back"] for label, loss in listed)
    had_again = sum(
        (label["way_back"] == "call") == (loss["way_back"] == "call") for label, loss in listed
    )
    yield Agreement("kind", kinds, total)
    yield Agreement("need", needed, total)
    yield Agreement("stage", stages, total)
    yield Agreement("recoverability", had_again, total)
    yield Agreement("what brings it back", ways, total)
    if left_out:
        not_needed = sum(label["need"] == "no" for label in left_out)
        yield Agreement("left out, and no need", not_needed, len(left_out))


def verdicts(labels: Sequence[dict[str, str]], recordings: Path) -> list[Loss | None]:
    """The loss that each label is about; None where it is not listed."""
    found: list[Loss | None] = [None] * len(labels)
    for number, loss in losses_at_hand(labels, recordings):
        found[number] = loss.row
    return found


def losses_at_hand(
    labels: Sequence[dict[str, str]], recordings: Path
) -> Iterator[tuple[int, LossAtHand]]:
    """By the number of its label each loss that is still listed, with the replay that it is of."""
    by_place: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, label in enumerate(labels):
        by_place[tuple(label[name] for name in PLACE)].append(number)
    for (recording, session, window, strategy), numbers in sorted(by_place.items()):
        prepared = prepared_session(recordings / recording, session, int(window))
        data = metric_input(prepared, replay(prepared, strategy))
        losses: dict[tuple[str, ...], Loss] = {}
        for loss in worst_losses(data):
            key = str(loss["at"]), str(loss["needed_at"]), digest(loss["entity"])
            losses[key] = loss
        for number in numbers:
            label = labels[number]
            row = losses.get((label["at"], label["needed_at"], label["thing"]))
            if row is not None:
                yield number, LossAtHand(data, row)


def prepared_session(path: Path, session: str, window: int) -> Prepared:
    """A session of a recording.

    Raises:
        StopIteration: the recording has none of that id.
    """
    recording = read(SessionSource(path=path), window)
    return next(prepared for prepared in recording.ready if prepared.session.id == session)


def main() -> None:
    """Print the agreement of each set of labels."""
    recordings = Path(sys.argv[1])
    wanted_set = "".join(sys.argv[2:3])
    for name, file in SETS.items():
        if not name.startswith(wanted_set):
            continue
        labels = labels_at_hand(HERE / file, recordings)
        if not labels:
            continue
        head = "| | right | share |\n|---|---|---|\n"
        sys.stdout.write(f"\n{name} set, {len(labels)} labels\n\n{head}")
        for agreement in agreements(labels, recordings):
            sys.stdout.write(f"{agreement}\n")


if __name__ == "__main__":
    main()
