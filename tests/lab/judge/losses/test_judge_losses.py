"""A model looks at the losses of a real small run: its marks leave the figures under its name, a
person's stand over them, and an answer that cannot be used marks nothing.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from command import Ended, answer, ended, shared_copy
from lab.judge.knowing import Foreseen
from report.view.made import get, losses_of, made_run, served

from builders import remembering, said
from workbench import (
    Completion,
    Findings,
    JudgedLosses,
    ModelError,
    Results,
    Scripted,
    Session,
    SettingError,
    SummaryRequest,
    UnknownName,
    UserMessage,
    WorkbenchError,
    compare,
    judge_losses,
    save,
)
from workbench.evaluation.experiment.run_notes import RunNotes

NEEDED = {"need": "yes", "reason": "", "kind": "identifier", "words": "The thing"}
KNOWN = {
    "why": "Any model knows it.",
    "need": "no",
    "reason": "known",
    "kind": "identifier",
    "words": "The thing",
}
ADDRESS = "ann@example.com"
TOLD = {**KNOWN, "reason": "told", "words": "what is sent at message"}


@dataclass
class Reader:
    """Says what `says` has for the thing on a page, and keeps what it was asked."""

    says: Callable[[str], dict[str, str]]
    name: str = "reader"
    prompts: list[str] = field(default_factory=list)

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        return Completion(text=json.dumps(self.says(thing_of(request.prompt))), model=self.name)

    @property
    def asked(self) -> Counter[str]:
        """How often each thing was asked about."""
        return Counter(map(thing_of, self.prompts))


def thing_of(prompt: str) -> str:
    thing = re.search("The thing: `(.*)`", prompt)
    assert thing is not None
    return thing[1]


@pytest.fixture
def run(made_once: Callable[..., Path], tmp_path: Path) -> Path:
    shutil.copytree(made_once("view", made_run), tmp_path / "made")
    return tmp_path / "made" / "reports" / "run"


def judged(run: Path, says: Callable[[str], dict[str, str]], **settings: Any) -> JudgedLosses:
    losses = judge_losses(run, model=Reader(says), quiet=True, **settings)
    assert losses is not None
    return losses


def told_by(run: Path) -> str:
    return " ".join(Findings.of(Results.open(run)).warnings)


def lost(run: Path) -> set[str]:
    return set(Findings.of(Results.open(run)).tables.losses["entity"])


def test_what_a_model_calls_not_needed_leaves_the_figures_under_its_name(run: Path) -> None:
    before = Findings.of(Results.open(run)).tables.retention["demanded"].sum()
    (first,) = judged(run, lambda _: NEEDED, limit=1).outcomes
    known = first.entity
    assert known in lost(run)
    says = {known: KNOWN}
    losses = judged(run, lambda thing: says.get(thing, NEEDED), again=True, limit=4)
    row = losses.table[losses.table["entity"] == known].iloc[0]
    assert (row["mark"], row["reason"], row["sentence"]) == ("not needed", "known", KNOWN["why"])
    assert losses.counts == {"not needed": 1, "needed": 3}
    assert known not in lost(run)
    assert "1 loss called not needed by reader is left out" in told_by(run)
    assert Findings.of(Results.open(run)).tables.retention["demanded"].sum() < before


def test_a_person_s_mark_stands_and_is_not_asked_about(run: Path) -> None:
    losses = judged(run, lambda _: KNOWN, limit=2)
    first, second = losses.outcomes
    assert not lost(run) & {first.entity, second.entity}
    RunNotes.of(run).marked(first.loss, "needed").write(run)
    assert first.entity in lost(run) and second.entity not in lost(run)
    reader = Reader(lambda _: KNOWN)
    judge_losses(run, model=reader, quiet=True, again=True, limit=4)
    assert first.entity not in reader.asked and second.entity in reader.asked
    assert first.entity in lost(run)
    RunNotes.of(run).marked(second.loss, "wrong kind").write(run)
    assert "and 1 marked loss (1 wrong kind) are left out" in told_by(run)


UNUSABLE: dict[str, dict[str, str]] = {
    '"need" must be "yes" or "no"': {**NEEDED, "need": "perhaps"},
    '"kind" must be one of line, path': {**NEEDED, "kind": "thing"},
    '"reason" must be one of told, known': {**KNOWN, "reason": ""},
    "for a line only told and no use count": {**KNOWN, "kind": "line"},
    "must be copied from the page": {**NEEDED, "words": "words of no page at all"},
    "what is sent and in the messages after": {**TOLD, "words": "Messages before the cut"},
    "must copy words of the page": {**NEEDED, "words": "..."},
}
"""Answers that cannot be used, by what the model is told."""


def test_an_answer_that_cannot_be_used_twice_marks_nothing(run: Path) -> None:
    wrong: dict[str, dict[str, str]] = {}

    def says(thing: str) -> dict[str, str]:
        if thing not in wrong:
            wrong[thing] = list(UNUSABLE.values())[len(wrong)]
        return wrong[thing]

    reader = Reader(says)
    losses = judge_losses(run, model=reader, quiet=True, limit=len(UNUSABLE))
    assert losses is not None
    assert (losses.unmarked, losses.pending) == (len(UNUSABLE), 0)
    for why, outcome in zip(UNUSABLE, losses.outcomes, strict=True):
        assert why in outcome.problem
        first, again = (prompt for prompt in reader.prompts if thing_of(prompt) == outcome.entity)
        assert again.startswith(first) and why in again
    assert {outcome.entity for outcome in losses.outcomes} <= lost(run)
    assert RunNotes.of(run).standing == {}


def test_the_second_answer_counts_and_may_stand_among_words(run: Path) -> None:
    says = ["I do not know.", f"Well: {json.dumps(KNOWN)} That is all."]
    losses = judge_losses(run, model=Scripted(says), quiet=True, limit=1)
    assert losses is not None
    assert losses.counts == {"not needed": 1}


def test_a_thing_that_is_no_thing_is_of_the_wrong_kind(run: Path) -> None:
    losses = judged(run, lambda _: {**NEEDED, "kind": "wrong"}, limit=1)
    assert losses.counts == {"wrong kind": 1}
    assert "1 loss called wrong kind by reader is left out" in told_by(run)


def test_a_thing_is_told_only_where_the_contexts_of_all_strategies_tell_it(run: Path) -> None:
    reader = Reader(lambda _: TOLD)
    told = judge_losses(run, model=reader, quiet=True)
    assert told is not None
    thing, count = reader.asked.most_common(1)[0]
    pages = {prompt for prompt in reader.prompts if thing_of(prompt) == thing}
    assert count == len(pages) == 2, "each context once"
    assert marks_of(told)[thing] == "not needed"
    says = iter([TOLD, NEEDED])
    differs = judged(run, lambda name: next(says) if name == thing else TOLD, again=True)
    assert marks_of(differs)[thing] == "needed"
    reader = Reader(lambda _: KNOWN)
    judge_losses(run, model=reader, quiet=True, again=True)
    assert set(reader.asked.values()) == {1}, "what is known is known whatever is sent"


def marks_of(losses: JudgedLosses) -> dict[str, str]:
    return dict(zip(losses.table["entity"], losses.table["mark"], strict=True))


def test_losses_of_one_strategy_are_looked_at_worst_first(run: Path) -> None:
    with served(run.parent) as view:
        listed = losses_of(view, "run")
    by_truncate = [row["loss"] for row in listed if "truncate" in row["by"]]
    losses = judged(run, lambda _: NEEDED, strategies="truncate", limit=3)
    assert [outcome.loss for outcome in losses.outcomes] == by_truncate[:3]


def test_a_provider_that_is_down_leaves_losses_pending(run: Path) -> None:
    down = [ModelError("down", outage=True)] * 3
    losses = judge_losses(run, model=Scripted(down), quiet=True, limit=3)
    assert losses is not None
    assert (losses.pending, losses.unmarked, set(losses.table["problem"])) == (3, 0, {"down"})
    assert RunNotes.of(run).standing == {}


def test_the_forecast_comes_before_anything_is_asked(run: Path) -> None:
    forecasts: list[Foreseen] = []

    def hear(uses: Sequence[Foreseen]) -> bool:
        forecasts.extend(uses)
        return False

    reader = Reader(lambda _: NEEDED)
    assert judge_losses(run, model=reader, quiet=True, before=hear) is None
    assert forecasts[0].requests > 0 and reader.prompts == []


def judge(run: Path, folder: Path, *words: str) -> Ended:
    model = f"folder:{folder}"
    return ended("lab", "judge", "losses", run, "--model", model, "--no-cache", *words)


def answered(folder: Path, says: dict[str, str]) -> int:
    """Answer the requests that wait in a folder; how many there are."""
    count = 0
    for request in folder.glob("*.request.txt"):
        file = request.with_name(request.name.replace("request", "answer"))
        if not file.exists():
            file.write_text(json.dumps(says))
            count += 1
    return count


def test_the_command_goes_on_as_answers_come(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "readers"
    forecast = judge(run, folder, "--limit", "2", "--dry-run")
    assert forecast.code == 0 and "to folder:readers for looking at losses" in forecast.printed
    assert not folder.exists()
    assert judge(run, folder, "--limit", "2").code == 3
    assert "2 losses of 2 not looked at yet" in capsys.readouterr().err
    assert answered(folder, {"need": "no"}) == 2
    assert judge(run, folder, "--limit", "2").code == 3, "an answer that says nothing"
    assert answered(folder, KNOWN) == 2
    done = judge(run, folder, "--limit", "2")
    assert done.code == 0 and "folder:readers looked at 2 losses: 2 not needed." in done.printed
    assert "known: Any model knows it." in done.printed
    assert judge(run, folder, "--limit", "2").code == 3, "the next two are asked about"
    assert answered(folder, NEEDED) == 2
    assert judge(run, folder, "--limit", "2", "--json").answer["marks"] == {"needed": 2}
    judged(run, lambda _: NEEDED, limit=None)
    nothing = judge(run, folder)
    assert nothing.code == 0 and "nothing was asked" in nothing.printed


def test_wrong_calls_are_refused_in_a_sentence(run: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="are looked at by a language model; name one"):
        judge_losses(run)
    with pytest.raises(SettingError, match="extractive is no language model"):
        judge_losses(run, model="extractive")
    with pytest.raises(UnknownName, match="strategy of this run"):
        judge_losses(run, model=Reader(lambda _: KNOWN), strategies=["pi"])
    with pytest.raises(WorkbenchError, match="holds no finished run"):
        judge_losses(tmp_path, model=Reader(lambda _: KNOWN))
    copy = shared_copy(run, tmp_path / "copy")
    with pytest.raises(WorkbenchError, match="shared copy"):
        judge_losses(copy, model=Reader(lambda _: KNOWN))


@pytest.fixture
def run_of_mail(tmp_path: Path) -> Path:
    """A run of a recording with an address in each request of the user."""
    messages = []
    for message in remembering(40):
        if isinstance(message, UserMessage):
            message = said(f"mail {ADDRESS} about part {message.id}", message.id)
        messages.append(message)
    save(Session.of(messages, id="mail"), tmp_path / "mail.jsonl")
    compare(
        [tmp_path / "mail.jsonl"],
        strategies=["truncate"],
        window=6_000,
        shares=(),
        out=tmp_path / "run",
        quiet=True,
    )
    return tmp_path / "run"


def test_personal_data_are_masked_before_a_model_sees_them(run_of_mail: Path) -> None:
    reader = Reader(lambda _: NEEDED)
    for redact in (False, True):
        judge_losses(run_of_mail, model=reader, quiet=True, redact=redact, limit=1, again=True)
    plain, masked = reader.prompts
    assert ADDRESS in plain
    assert ADDRESS not in masked


def test_a_recording_that_is_gone_leaves_its_losses_unmarked(run_of_mail: Path) -> None:
    (run_of_mail.parent / "mail.jsonl").unlink()
    losses = judged(run_of_mail, lambda _: KNOWN, limit=2)
    assert losses.unmarked == 2
    assert "is no longer where the run read it" in losses.outcomes[0].problem


def test_the_view_shows_what_a_model_said_and_a_person_may_say_otherwise(run: Path) -> None:
    (outcome,) = judged(run, lambda _: {**KNOWN, "kind": "number"}, limit=1).outcomes
    with served(run.parent) as view:
        page = get(f"{view.address}runs/run/queue?loss={outcome.loss}")[1]
        assert "reader calls it not needed (known): Any model knows it." in page
        assert 'data-key="0"' not in page, "there is no mark of a person's to take away"
        RunNotes.of(run).marked(outcome.loss, "needed").write(run)
        page = get(f"{view.address}runs/run/queue?loss={outcome.loss}")[1]
        assert "reader calls it not needed" in page and 'data-key="0"' in page


def test_validate_tells_a_person_s_marks_from_a_model_s(run: Path) -> None:
    first, _ = judged(run, lambda _: KNOWN, limit=2).outcomes
    RunNotes.of(run).marked(first.loss, "needed").write(run)
    rows = answer("lab", "validate", "needs", "--marks", run)["marked losses"]
    totals = {row["by"]: row for row in rows if row["kind"] == "all"}
    assert (totals["you"]["losses"], totals["you"]["right"]) == (1, 1.0)
    assert (totals["reader"]["losses"], totals["reader"]["not needed"]) == (2, 2)


def test_notes_of_before_models_looked_at_losses_are_read(run: Path) -> None:
    (outcome,) = judged(run, lambda _: KNOWN, limit=1).outcomes
    old = {"name": "", "tags": [], "note": "", "marks": {outcome.loss: "not needed"}}
    (run / "notes.json").write_text(json.dumps(old))
    assert RunNotes.of(run).standing[outcome.loss].by == "you"
    assert "1 marked loss (1 not needed) is left out" in told_by(run)
