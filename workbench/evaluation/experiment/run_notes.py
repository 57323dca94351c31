"""What is said of a run: its name, tags and a note, and marks on its losses, by a person and by
models. Kept in the run's folder, beside the tables.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

from workbench.base.errors import SettingError
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.run_folder import (
    LOOK_UPS_FILE,
    REPLAYS,
    SIMULATED_FILE,
    TABLE_PARTS,
)
from workbench.evaluation.experiment.table_columns import COLUMNS

FILE = "notes.json"
LONGEST_NAME, LONGEST_TAG, LONGEST_NOTE = 120, 40, 4_000
"""Characters."""
MOST_TAGS = 20
Mark: TypeAlias = Literal["needed", "not needed", "wrong kind"]
MARKS: tuple[str, ...] = get_args(Mark)
"""What may be said of a loss."""
LEFT_OUT = ("not needed", "wrong kind")
"""The marks whose losses are in no figure."""


def loss_key(session: str, kind: str, entity: str, needed_at: int) -> str:
    """The name of a loss in addresses and marks: the same in each run over the session."""
    return key(session, kind, entity, needed_at)[:10]


FURTHER = "further"
"""What the notes call fields of a later version."""
YOU = "you"
"""Who made a mark that no model made."""


@dataclass(frozen=True, slots=True)
class LossMark:
    """What is said of a loss, and by whom.

    Attributes:
        mark: one of `MARKS`.
        by: the name of the model; `YOU` for a person.
        reason: why a model called it no need; empty elsewhere.
        kind: what the model says that the thing is; empty for a person.
        words: what shows it, quoted from what the model read; empty for a person.
        sentence: what the model says of it; empty for a person.
        further: fields of a later version, which are kept.
    """

    mark: str
    by: str = YOU
    reason: str = ""
    kind: str = ""
    words: str = ""
    sentence: str = ""
    further: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_json(cls, fields: Mapping[str, Any]) -> Self:
        """The mark with these fields."""
        current, further = _apart(fields, cls)
        return cls(**current, further=further)

    def as_json(self) -> dict[str, Any]:
        """Its fields in a file."""
        return _together(asdict(self))


@dataclass(frozen=True, slots=True)
class RunNotes:
    """What is said of a run.

    Attributes:
        name: shown in the place of the folder's.
        tags: in the order in which they were given.
        note: any text.
        marks: a person's, by `loss_key`: one of `MARKS`.
        judged: the models', by `loss_key`, those too over which a person's mark stands.
        further: fields of a later version, which are kept.
    """

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    judged: Mapping[str, LossMark] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The notes in a run's folder; empty ones where nobody wrote any.

        Raises:
            SettingError: the file is damaged.
        """
        path = folder / FILE
        if not path.is_file():
            return cls()
        try:
            fields = json.loads(text_of(path))
        except (ValueError, RecursionError):
            fields = None
        if not _are_notes(fields):
            raise SettingError(f"{path} holds no notes of a run; remove the file or mend it")
        judged: dict[str, LossMark] = {}
        for loss, mark in fields.get("judged", {}).items():
            judged[loss] = LossMark.of_json(mark)
        tags = tuple(fields["tags"])
        _, further = _apart(fields, cls)
        return cls(
            name=fields["name"],
            tags=tags,
            note=fields["note"],
            marks=fields["marks"],
            judged=judged,
            further=further,
        )

    def write(self, folder: Path) -> None:
        """Write them into a run's folder, with what a later version wrote there."""
        notes = _together(asdict(self))
        judged = {}
        for loss, mark in self.judged.items():
            judged[loss] = mark.as_json()
        notes["judged"] = judged
        text = json.dumps(notes, indent=2)
        write_atomically(folder / FILE, text + "\n")

    @property
    def standing(self) -> Mapping[str, LossMark]:
        """The marks that count, by `loss_key`: a person's, and a model's where no person made
        one.
        """
        standing = dict(self.judged)
        for loss, mark in self.marks.items():
            standing[loss] = LossMark(mark)
        return standing

    def described(
        self,
        name: str | None = None,
        tags: Iterable[str] | None = None,
        note: str | None = None,
    ) -> Self:
        """The same notes with another name, other tags or another note; None leaves each as it is.

        Raises:
            SettingError: one of them is too long, or a tag is empty or has a comma.
        """
        notes = self
        if name is not None:
            words = " ".join(name.split())
            notes = replace(notes, name=_checked("name", words, LONGEST_NAME))
        if tags is not None:
            notes = replace(notes, tags=_checked_tags(tags))
        if note is not None:
            text = note.strip()
            notes = replace(notes, note=_checked("note", text, LONGEST_NOTE))
        return notes

    def marked(self, loss: str, mark: str) -> Self:
        """The same notes with a person's mark on a loss; an empty mark takes it away.

        Raises:
            SettingError: the mark is none of `MARKS`.
        """
        if mark and mark not in MARKS:
            raise SettingError(f"the mark is {mark!r}; it must be one of {', '.join(MARKS)}")
        marks = dict(self.marks)
        marks.pop(loss, None)
        if mark:
            marks[loss] = mark
        return replace(self, marks=marks)

    def judged_by_model(self, marks: Mapping[str, LossMark]) -> Self:
        """The same notes with marks of a model; each takes the place of a model's mark before it."""
        return replace(self, judged={**self.judged, **marks})


def _apart(
    fields: Mapping[str, Any], kind: type[LossMark | RunNotes]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a file that this version knows, and those of a later one."""
    names = kind.__dataclass_fields__.keys() - {FURTHER}
    current: dict[str, Any] = {}
    further: dict[str, Any] = {}
    for name, value in fields.items():
        if name in names:
            current[name] = value
        else:
            further[name] = value
    return current, further


def _together(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as a file has them: those of a later version beside the others."""
    further = fields.pop(FURTHER)
    return {**further, **fields}


def _are_notes(fields: Any) -> bool:  # noqa: ANN401 - any JSON
    if not isinstance(fields, dict):
        return False
    tags = fields.get("tags")
    marks = fields.get("marks")
    if not isinstance(tags, list) or not isinstance(marks, dict):
        return False
    texts = [fields.get("name"), fields.get("note"), *tags]
    if not all(isinstance(text, str) for text in texts):
        return False
    judged = fields.get("judged", {})
    if not isinstance(judged, dict) or not all(map(_is_loss_mark, judged.values())):
        return False
    return all(mark in MARKS for mark in marks.values())


def _is_loss_mark(fields: Any) -> bool:  # noqa: ANN401 - any JSON
    if not isinstance(fields, dict) or fields.get("mark") not in MARKS:
        return False
    current, _ = _apart(fields, LossMark)
    return all(isinstance(text, str) for text in current.values())


def _checked(field: str, text: str, longest: int) -> str:
    """A text without lone surrogates, which no file can hold."""
    if len(text) > longest:
        raise SettingError(
            f"the {field} has {len(text):,} characters; {longest:,} are the most that it may have"
        )
    encoded = text.encode("utf-8", "replace")
    return encoded.decode("utf-8")


def _checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without spaces around them, each once."""
    checked: list[str] = []
    for tag in tags:
        spaced = " ".join(tag.split())
        words = _checked("tag", spaced, LONGEST_TAG)
        if not words or "," in words:
            raise SettingError(f"{tag!r} is no tag; a tag is some words without a comma")
        if words not in checked:
            checked.append(words)
    if len(checked) > MOST_TAGS:
        raise SettingError(f"a run may have {MOST_TAGS} tags, not {len(checked)}")
    return tuple(checked)


OWN_FILES = frozenset(
    {"manifest.json", "code.json", FILE, "report.html", "report.ipynb"}
    | {"experiment.ipynb", "done.json"}
    | {SIMULATED_FILE, "simulated.json", LOOK_UPS_FILE}
    | {f"{table}.parquet" for table in COLUMNS}
)
"""What a run writes into its folder, one of the experiment notebook too."""
PARTS = ("replicates", "runs")
"""Folders of the runs that a run is combined of."""


def delete_run(folder: Path) -> None:
    """Delete a run, finished or not.

    Raises:
        SettingError: as `check_deletable`; then nothing is deleted.
    """
    check_deletable(folder)
    shutil.rmtree(folder)


def check_deletable(folder: Path) -> None:
    """Nothing where a folder is that of a run and holds nothing else.

    Raises:
        SettingError: the folder is no run, is a link, or holds anything that no run writes.
    """
    if folder.is_symlink() or not folder.is_dir() or not _is_run(folder):
        raise SettingError(f"{folder} is no folder of a run, so it is not deleted")
    for path in _foreign(folder):
        raise SettingError(f"{folder} also holds {path}, which no run writes; move it away first")


def _is_run(folder: Path) -> bool:
    """Whether a folder has the manifest and a table of a run, or replays of one that is not
    finished.
    """
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return any(folder.glob(f"{REPLAYS}/*.json"))
    try:
        fields = json.loads(text_of(manifest))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(fields, dict):
        return False
    has_version = isinstance(fields.get("schema"), int)
    scores = folder / "scores.parquet"
    return has_version and scores.is_file()


def _foreign(folder: Path) -> Iterator[Path]:
    """What lies in a run's folder and no run writes, by its path below the folder."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not _is_own(path):
            yield Path(path.name)
        elif path.is_dir() and path.name in (REPLAYS, TABLE_PARTS):
            for file in sorted(path.iterdir()):
                if not _is_part(file):
                    yield Path(path.name, file.name)
        elif path.is_dir():
            yield from _foreign_in_parts(path)


def _foreign_in_parts(folder: Path) -> Iterator[Path]:
    """The same of a folder of runs."""
    for part in sorted(folder.iterdir()):
        name = Path(folder.name, part.name)
        if part.is_symlink() or not part.is_dir():
            yield name
        else:
            for path in _foreign(part):
                yield name / path


def _is_own(path: Path) -> bool:
    """Whether a run writes a file or a folder of this name."""
    if path.is_dir():
        return path.name in (REPLAYS, TABLE_PARTS, *PARTS)
    return path.name in OWN_FILES or _is_unfinished(path)


def _is_part(path: Path) -> bool:
    """Whether a file is a replay, or a part of a table."""
    if not path.is_file() or path.is_symlink():
        return False
    ending = ".json" if path.parent.name == REPLAYS else ".parquet"
    return path.suffix == ending or _is_unfinished(path)


def _is_unfinished(path: Path) -> bool:
    """Whether a file is what a killed process had begun to write."""
    return path.name.startswith(".") and path.suffix == ".part"
