"""Packs a real model's summaries for the bundled sessions.

Usage: python datasets/pack_summaries.py [FOLDER] [--who WHO] [--ask] [--check] [--file FILE]

Only a maintainer needs this. The program asks what the README's main command, its simulation, and the
command of reports/studies/bundled ask, takes each answer from FOLDER, else from the file that ships (datasets/summaries/answers.jsonl),
and writes that file anew. Answers that nobody asks for any more are dropped.

FOLDER is one of `--model folder:FOLDER`. Requests are written there by those two commands with that
model, or by this program with `--ask`, which is quicker. A summary of a summary is asked for once the
first one is there, so answers come in rounds, and each round adds to the file. Without `--ask`
nothing is written into FOLDER.

Without FOLDER it uses what ships. `--check` writes nothing, and exits with 1 where an answer is
missing or stale.
"""

import argparse
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from workbench.base.errors import AnswerAwaited  # noqa: E402
from workbench.evaluation.experiment.compare import Run  # noqa: E402
from workbench.evaluation.experiment.prepared import read
from workbench.evaluation.experiment.sources import What, limited, sources_of
from workbench.evaluation.experiment.replay_rows import replays_of  # noqa: E402
from workbench.evaluation.experiment.requests_ahead import RequestsAhead  # noqa: E402
from workbench.evaluation.experiment.spec import RunSpec  # noqa: E402
from workbench.engine.compaction.presets import preset
from workbench.engine.models.bundled_answers import (  # noqa: E402
    NAME,
    BundledAnswer,
    answers_text,
    read_answers,
    shipped_file,
)
from workbench.engine.models.folder import Folder, about  # noqa: E402
from workbench.engine.models.model import Completion, SummaryRequest  # noqa: E402
from workbench.engine.models.plain_text import request_key  # noqa: E402
from workbench.engine.models.summary_quality import RepairingModel  # noqa: E402
from workbench.engine.models.wrappers import AnsweringModel  # noqa: E402
from workbench.lab.simulation.beside import simulation_spec
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.simulated_rows import simulated_row

COMMANDS = {"main": "README.md", "results": "reports/studies/bundled/README.md"}
"""The commands whose summaries ship, by their marks, and the page that has each."""


@dataclass
class Recorder:
    """A model that answers from a folder, else from a file of answers, and keeps what was asked.

    Attributes:
        file: the answers that are packed already.
        folder: new answers; None for none.
        who: who wrote the new answers.
        asks: whether requests without an answer are written into the folder.
        answers: by the key of each request that was asked: its answer, or None where there is none.
        fresh: the keys of the answers that came from the folder.
    """

    file: Path
    folder: Path | None = None
    who: str = ""
    asks: bool = False
    name: str = NAME
    answers: dict[str, BundledAnswer | None] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The answer.

        Raises:
            AnswerAwaited: there is none.
        """
        key = request_key(request)
        if self.answers.get(key) is None:
            shipped = read_answers(self.file).get(key)
            asks = self.asks and shipped is None
            self.answers[key] = self._from_folder(key, request, asks) or shipped
        answer = self.answers[key]
        if answer is None:
            raise AnswerAwaited("no answer is there yet")
        return answer.completion(self.name)

    def _from_folder(self, key: str, request: SummaryRequest, asks: bool) -> BundledAnswer | None:
        """The answer in the folder; where there is none, the request may be written there."""
        if self.folder is None:
            return None
        try:
            completion = Folder(str(self.folder), writes=asks).complete(request)
        except AnswerAwaited:
            return None
        self.fresh.add(key)
        return BundledAnswer(
            key=key,
            text=completion.text,
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            writer=self.who,
            cut=completion.cut,
        )


@dataclass(frozen=True)
class ShippedRun:
    """A run whose summaries ship.

    Attributes:
        spec: its settings.
        is_simulated: whether it is simulated too.
    """

    spec: RunSpec
    is_simulated: bool


def shipped_runs(root: Path) -> Iterator[ShippedRun]:
    """The runs of the commands whose summaries ship, from the pages below a folder."""
    options = argparse.ArgumentParser()
    options.add_argument("--strategies", "-s")
    options.add_argument("--shares")
    options.add_argument("--out")
    options.add_argument("--no-report", action="store_true")
    options.add_argument("--no-simulate", action="store_true")
    for name, page in COMMANDS.items():
        text = (root / page).read_text("utf-8")
        command = re.search(rf"<!-- {name} command -->\n```bash\n(.*?)```", text, re.DOTALL)
        if command is None:
            raise SystemExit(f"{page} has no {name} command")
        words = shlex.split(command[1].replace("\\\n", " "))
        chosen = options.parse_args(words[words.index("compare") + 1 :])
        settings = {"strategies": chosen.strategies, "shares": chosen.shares}
        named = {setting: value for setting, value in settings.items() if value}
        yield ShippedRun(RunSpec(model=NAME, **named), not chosen.no_simulate)


def ask_all(recorder: Recorder, spec: RunSpec, what: What = ()) -> None:
    """Ask a recorder all that a run asks, as far as answers allow.

    A summary of a summary waits for the first one.

    Args:
        recorder: is asked, and remembers.
        spec: of the run.
        what: its sessions; none: the bundled ones.
    """
    run = Run.of(sources_of(what), spec)
    for source in run.sources:
        for prepared in read(source).ready:
            for strategy in run.job.presets:
                ahead = RequestsAhead(AnsweringModel(RepairingModel(recorder)), chained=True)
                for _ in replays_of(prepared, strategy, ahead, spec):
                    ahead.chained = False  # only the natural replay is, which is made before all others


def ask_simulation(recorder: Recorder, spec: RunSpec, what: What = ()) -> None:
    """Ask a recorder all that the simulation beside a run asks, as far as answers allow.

    Look-ups depend on each summary, so each request waits for all answers before it.

    Args:
        recorder: is asked, and remembers.
        spec: of the run.
        what: its sessions; none: the bundled ones.
    """
    simulation = simulation_spec(spec)
    for source in limited(sources_of(what), simulation.limit):
        for prepared in read(source, simulation.window).ready:
            needs = Needs(prepared)
            for strategy in simulation.strategies:
                ahead = RequestsAhead(AnsweringModel(RepairingModel(recorder)), chained=True)
                simulated_row(prepared, preset(strategy), needs, simulation.changed(model=ahead))


@dataclass(frozen=True)
class Packing:
    """What a file of answers should hold, and what is wrong with what it holds.

    Attributes:
        answers: to all that was asked, as far as they are there.
        asked: how many requests; those behind a missing answer are not known.
        fresh: how many of the answers came from the folder.
        stale: how many answers of the file nobody asks for any more.
    """

    answers: Sequence[BundledAnswer]
    asked: int
    fresh: int
    stale: int

    @property
    def missing(self) -> int:
        """How many requests have no answer."""
        return self.asked - len(self.answers)

    @property
    def is_current(self) -> bool:
        """Whether nothing is missing or stale."""
        return not self.missing and not self.stale

    @classmethod
    def of(cls, recorder: Recorder) -> "Packing":
        """What a recorder was asked."""
        answers = [answer for answer in recorder.answers.values() if answer is not None]
        stale = read_answers(recorder.file).keys() - recorder.answers.keys()
        return cls(answers, len(recorder.answers), len(recorder.fresh), len(stale))

    def __str__(self) -> str:
        return (
            f"asked: {self.asked}, besides what waits behind a missing answer\n"
            f"recorded: {len(self.answers)}, {self.fresh} of them from the folder\n"
            f"missing: {self.missing}\nstale: {self.stale}"
        )


def main(words: Sequence[str] | None = None, what: What = ()) -> int:
    """Pack, and say what is recorded, missing and stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="a folder of `--model folder:FOLDER`")
    parser.add_argument("--who", default="", help="who wrote its answers; else as in model.toml")
    parser.add_argument("--file", type=Path, default=shipped_file(), help="the file of answers")
    parser.add_argument("--ask", action="store_true", help="write unanswered requests there")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where not current")
    arguments = parser.parse_args(words)
    who = arguments.who or (about(arguments.folder).who if arguments.folder else "")
    if arguments.folder and not who:
        parser.error("nobody says who wrote the answers: give --who, or write it into model.toml in the folder")
    recorder = Recorder(arguments.file, arguments.folder, who, arguments.ask)
    for run in shipped_runs(ROOT):
        ask_all(recorder, run.spec, what)
        if run.is_simulated:
            ask_simulation(recorder, run.spec, what)
        print(f"{len(recorder.answers)} requests so far", file=sys.stderr)
    packing = Packing.of(recorder)
    print(packing)
    if arguments.check:
        return int(not packing.is_current)
    arguments.file.write_text(answers_text(packing.answers), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
