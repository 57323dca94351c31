"""A shared copy has the run's numbers and not a word of its recordings."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from command import shared_copy
from planted_run import TABLES, written
from report.page.here import rendered

from builders import called, remembering, result, rules, said, told
from profiles import FULL
from workbench import Findings, Report, Results, Session, compare, save
from workbench.cli import main
from workbench.cli.headline_table import headline
from workbench.engine.transcript.message import Message
from workbench.evaluation.experiment.table_columns import COLUMNS

ROOT = Path(__file__).parents[3]
WORD = re.compile(r"[^\W\d_]{4,}")
# Colours of a heat map, and the ids of drawings and of a notebook's cells, which hold any four
# letters by chance.
HEX = re.compile(
    r"#[0-9a-f]{3,8}\b|(?<![^\W_])(?=[0-9a-z]*\d)[a-z]?[0-9a-f]{8,}(?![^\W_])", re.IGNORECASE
)


def words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(HEX.sub(" ", text))}


def text_of(folder: Path) -> str:
    """Everything in a folder as text, tables as well."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    # packed bytes hold any four letters by chance
    packed = [path for path in files if path.suffix == ".parquet"]
    plain = [path.read_text(encoding="utf-8") for path in files if path not in packed]
    return "\n".join([*plain, *(pd.read_parquet(path).to_csv() for path in packed)])


@cache
def our_words() -> frozenset[str]:
    """The words of the package, its documentation and its notebooks."""
    folders: list[tuple[Path, tuple[str, ...]]] = [
        (ROOT / "workbench", ("*.py", "*.md", "*.css", "*.js", "*.j2", "*.json"))
    ]
    folders += [(ROOT / "docs", ("*.md",)), (ROOT / "notebooks", ("*.ipynb",))]
    paths = [path for folder, kinds in folders for kind in kinds for path in folder.rglob(kind)]
    return frozenset().union(*(words(path.read_text(encoding="utf-8")) for path in paths))


def session(number: int) -> Session:
    said_first: list[Message] = [
        rules("be brief", f"s-{number}"),
        said(
            f"The zeppelin of Klaustrophil must never land before {5000 + number}", f"u-x{number}"
        ),
        called("dirigible", f"c-x{number}", harbour=f"src/quagmire_{number}/ostrich.py"),
        result("xylophone gargoyle E0404 in src/quagmire/ostrich.py", f"c-x{number}"),
    ]
    needed = [
        told(
            f"src/quagmire_{number}/ostrich.py: zeppelin Klaustrophil lands at {5000 + number}",
            f"a-x{number}",
        )
    ]
    return Session.of(
        [*said_first, *remembering(18 + number), *needed],
        id=f"Brouhaha-{9 - number}",
        title="Kerfuffle at the quay",
        project=f"Wombat{number}",
        model="Hullabaloo-7",
        cwd="/srv/Shenanigans",
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("Rigmarole")
    for number in range(3):
        save(session(number), folder / f"Hodgepodge{number}.jsonl")
    (folder / "Lollygag.jsonl").write_text('{"Skedaddle": 1}\n{"Widdershins"')
    return compare(
        folder, window=4_000, out=folder / "run", quiet=True, strategies=("truncate", "summarize")
    )


@pytest.fixture(scope="module")
def copy(run: Results, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return shared_copy(run.path, tmp_path_factory.mktemp("copy") / "shared")


@pytest.fixture(scope="module")
def page(copy: Results) -> Path:
    """The report of the copy, beside its tables."""
    return rendered(copy.path)


def test_a_copy_has_the_same_tables_but_for_texts(run: Results, copy: Results) -> None:
    for name in COLUMNS:
        hidden = [
            column for column, kind in COLUMNS[name].items() if kind in ("session", "text", "lines")
        ]
        pd.testing.assert_frame_equal(
            run.table(name).drop(columns=hidden), copy.table(name).drop(columns=hidden)
        )
        for column in hidden:
            before, after = run.table(name)[column].fillna(""), copy.table(name)[column].fillna("")
            assert ((before == "") == (after == "")).all()
            assert (before.groupby(before.to_numpy()).ngroup() >= 0).all()
            assert (
                before.nunique()
                == after.nunique()
                == pd.Series(zip(before, after, strict=True)).nunique()
            )


def test_the_headline_numbers_are_equal(run: Results, copy: Results) -> None:
    for row, shared in zip(headline(Findings.of(run)), headline(Findings.of(copy)), strict=True):
        assert row.pop("strategy") == shared.pop("strategy")
        known = {name for name, value in row.items() if value is not None}
        assert row.keys() == shared.keys() and known == {
            name for name, value in shared.items() if value is not None
        }
        assert {name: row[name] for name in known} == pytest.approx(
            {name: shared[name] for name in known}, rel=1e-12, nan_ok=True
        )


def test_a_copy_and_its_report_hold_no_word_that_only_the_recordings_hold(
    run: Results, copy: Results, page: Path
) -> None:
    assert page.parent == copy.path
    recorded = "\n".join(f"{path} {path.read_text()}" for path in run.path.parent.glob("*.jsonl"))
    theirs = words(recorded) - our_words()
    assert {
        "zeppelin",
        "klaustrophil",
        "hullabaloo",
        "widdershins",
        "rigmarole",
        "hodgepodge",
    } <= theirs
    shared, whole = words(text_of(copy.path)), words(text_of(run.path))
    assert "klaustrophil" in whole and "hodgepodge" in whole
    assert sorted(theirs & shared) == []


def cells(html: str) -> list[str]:
    """The texts of the headline tables."""
    tables = re.findall(r'<table class="headline [^"]*">.*?</table>', html, re.DOTALL)
    assert len(tables) == 2
    texts = re.findall(r">([^<>]+)<", "".join(tables))
    return [unescape(text).strip() for text in texts]


def test_the_report_of_a_copy_shows_the_same_figures_and_says_what_it_is(
    run: Results, page: Path
) -> None:
    html = page.read_text(encoding="utf-8")
    assert cells(html) == cells(Report(run).headline.html)
    assert "This is a shared copy" in html and re.search(r"entity \d{18}", html)


def test_equal_things_are_equal_in_all_tables_of_a_copy(copy: Results) -> None:
    known = set(copy.sessions["session"])
    assert all(
        set(copy.table(name)["session"]) <= known
        for name in ("steps", "scores", "losses", "replays")
    )


def test_sessions_keep_their_order(run: Results, copy: Results) -> None:
    before, after = list(run.sessions["session"]), list(copy.sessions["session"])
    assert sorted(range(len(before)), key=lambda i: before[i]) == sorted(
        range(len(after)), key=lambda i: after[i]
    )


def test_two_copies_have_no_hash_in_common(run: Results, copy: Results, tmp_path: Path) -> None:
    other = shared_copy(run.path, tmp_path / "other")
    assert set(other.losses["entity"]).isdisjoint(copy.losses["entity"])


def test_neither_the_recordings_places_nor_the_command_are_copied(copy: Results) -> None:
    assert copy.manifest["command"] == [] and len(copy.manifest["sources"]) == 4
    assert not (copy.path / "replays").exists()


def test_a_folder_that_holds_something_is_left_alone(
    run: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.txt").write_text("mine")
    assert main(["runs", "share", str(run.path), "--out", str(tmp_path)]) == 2
    assert "holds something already" in capsys.readouterr().err


def test_what_is_told_of_a_recording_is_hidden_line_by_line(run: Results, tmp_path: Path) -> None:
    quoting = [
        ("sessions", "skipped"),
        ("sessions", "reason"),
        ("compactions", "findings"),
        ("replays", "reason"),
    ]
    tables = {name: run.table(name) for name in TABLES}
    for table, column in quoting:
        tables[table][column] = (
            f"line 7 says Flibbertigibbet of {table}\nline 9 says Taradiddle of {column}"
        )
    folder = written(tmp_path / "run", tables, run.manifest)
    copy = shared_copy(folder, tmp_path / "copy")
    assert {"flibbertigibbet", "taradiddle"} <= words(text_of(folder))
    assert {"flibbertigibbet", "taradiddle"}.isdisjoint(words(text_of(copy.path)))
    for table, column in quoting:
        hidden = copy.table(table)[column]
        assert len(hidden) and hidden.str.strip().ne("").all(), (
            "that something was told is no secret"
        )


def test_what_a_metric_of_ones_own_raised_is_hidden_and_our_reasons_are_not(
    run: Results, tmp_path: Path
) -> None:
    tables = {name: run.table(name) for name in TABLES}
    own = tables["scores"].head(1).assign(metric="mine", value=float("nan"))
    own["why"] = "it failed: KeyError: 'Flibbertigibbet'"
    tables["scores"] = pd.concat([tables["scores"], own], ignore_index=True)
    copy = shared_copy(written(tmp_path / "run", tables, run.manifest), tmp_path / "copy")
    assert "flibbertigibbet" not in words(text_of(copy.path))
    is_own = copy.scores["metric"] == "mine"
    assert copy.scores.loc[is_own, "why"].str.endswith("characters").all()
    assert list(copy.scores.loc[~is_own, "why"]) == list(run.scores["why"])


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("call 'toolu_Flibbertigibbet' lost its result", "a call lost its result"),
        ('call "it\'s Flibbertigibbet" has 2 results', "a call has 2 results"),
        ("message id 'Flibbertigibbet\\'s' occurs 3 times", "a message id occurs 3 times"),
        ("a result now answers a call of 'Flibbertigibbet'", "a result now answers another call"),
        ("the context grew from 10 to 20 tokens", "the context grew from 10 to 20 tokens"),
    ],
)
def test_a_reason_names_no_id_of_a_recording(
    run: Results, tmp_path: Path, rule: str, shown: str
) -> None:
    said = "no compaction was used: stage 'x' broke a rule, first before message 7: {}; not used"
    tables = {name: run.table(name) for name in TABLES}
    tables["scores"]["why"] = said.format(rule)
    copy = shared_copy(written(tmp_path / "run", tables, run.manifest), tmp_path / "copy")
    assert set(copy.scores["why"]) == {said.format(shown)}


def test_what_a_metric_of_ours_raised_is_hidden_too(run: Results, tmp_path: Path) -> None:
    tables = {name: run.table(name) for name in TABLES}
    tables["scores"]["why"] = "it failed: KeyError: 'Flibbertigibbet'"
    copy = shared_copy(written(tmp_path / "run", tables, run.manifest), tmp_path / "copy")
    assert copy.scores["why"].str.endswith("characters").all()


def test_a_copy_counts_failed_replays_and_shows_no_hash_for_their_reason(
    run: Results, tmp_path: Path
) -> None:
    tables = {name: run.table(name) for name in TABLES}
    is_first = tables["replays"].index == tables["replays"].index[0]
    tables["replays"].loc[is_first, ["status", "reason"]] = ["failed", "it broke"]
    folder = written(tmp_path / "run", tables, run.manifest)
    copy = shared_copy(folder, tmp_path / "copy")
    assert "(it broke)." in str(Findings.of(Results.open(folder)).verdict)
    assert "is missing from every figure." in str(Findings.of(copy).verdict)


@pytest.mark.slow
def test_a_real_run_is_shared_without_a_word_of_its_recordings(
    page: Path, corpora: Path, tmp_path: Path
) -> None:
    paths = sorted((corpora / "pi-mono").glob("*.jsonl*"), key=lambda path: path.stat().st_size)[
        1:2
    ]
    run = compare(
        paths,
        window=16_000,
        out=tmp_path / "run",
        quiet=True,
        strategies=("truncate",),
        shares=(0.2,),
        boundaries=(0.5,),
        jobs=1,
    )
    real = shared_copy(run.path, tmp_path / "copy")
    if FULL:  # the page is made of the copy alone
        rendered(real.path)
    # the words of notebooks and drawings, whatever was recorded
    drawn = words(text_of(page.parent))
    theirs = (
        words("\n".join(path.read_bytes().decode("utf-8", "replace") for path in paths))
        - our_words()
        - drawn
    )
    assert len(theirs) > 1_000
    assert sorted(theirs & words(text_of(real.path))) == []
    assert headline(Findings.of(run)) == headline(Findings.of(real))


def test_a_strategy_with_weights_of_ones_own_is_named_after_the_file_and_not_its_place(
    run: Results, tmp_path: Path
) -> None:
    folder = tmp_path / "Canoodle"
    folder.mkdir()
    (folder / "mine.json").write_bytes(
        (ROOT / "workbench/engine/models/learned/weights.json").read_bytes()
    )
    sessions = Path(run.manifest["sources"][0])
    strategy = f"learned:{folder}/mine.json"
    results = compare(
        sessions, strategies=("truncate", strategy), window=4_000, out=tmp_path / "own", quiet=True
    )
    copy = shared_copy(results.path, tmp_path / "shared")
    assert "learned:mine.json" in set(copy.replays["strategy"]) and "learned:mine.json" in str(
        copy.manifest["presets"]
    )
    assert "Canoodle" in text_of(results.path) and "Canoodle" not in text_of(copy.path)
