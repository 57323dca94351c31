"""What a person can read off a recording of a listed loss, as numbers: where the thing was used, who
said it how often, how it is spelled, what of it is still sent, and how many other projects have it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.engine.transcript.message import is_real_user, said_text
from workbench.evaluation.metrics.defined_names import DEFINITION
from workbench.evaluation.metrics.uses import text_of_use
from workbench.lab.judge.losses.page import LossAtHand

FORMS = ("words", "added", "file", "argument")
KINDS = ("line", "path", "identifier", "url", "number", "version", "command", "id", "quote")
FROM_OTHER_PROJECTS = (
    "other projects with it",
    "no other project has it",
    "other projects with its rarest part",
)
"""The features of `Elsewhere`."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAME = re.compile(r"[\w-]+(?:[./@:-]+[\w-]+)*")
_BETWEEN_NAMES = re.compile(r"[/:@.]")
_PART_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CAPITAL_INSIDE = re.compile(r"[a-z][A-Z]")
_NO_SIGN_OF_NAME = re.compile(r"[^a-z0-9\n]")
FEWEST_LETTERS = 3
"""A part of a name that is shorter says nothing."""
LARGEST_FILE = 4_000_000
FILES_OF_PROJECT = 3


def parts_of(name: str) -> list[str]:
    """The words of a name, in small letters; those of a letter or two only where it has no other."""
    parts = [part.lower() for part in _PART_OF_NAME.findall(name)]
    long_parts = [part for part in parts if len(part) >= FEWEST_LETTERS]
    return long_parts or parts or [name.lower()]


@dataclass(frozen=True)
class LossRead(LossAtHand):
    """A loss with its texts, each put together once."""

    @cached_property
    def name(self) -> str:
        """The thing."""
        return str(self.row["entity"])

    @cached_property
    def texts(self) -> Sequence[str]:
        """What each message says."""
        return [said_text(message) for message in self.messages]

    @cached_property
    def sent(self) -> str:
        """What is sent at the boundary, in small letters."""
        for snapshot in self.data.snapshots:
            if snapshot.at == self.row["at"]:
                return "\n".join(map(said_text, snapshot.context.messages)).lower()
        return ""

    @cached_property
    def since(self) -> str:
        """What is said from the boundary to the use, in small letters."""
        begin, end = self.row["at"], self.row["needed_at"]
        return "\n".join(self.texts[begin:end]).lower()

    @cached_property
    def request(self) -> str:
        """The user's last words before the use, in small letters."""
        for message in reversed(self.messages[: self.row["needed_at"]]):
            if is_real_user(message):
                return said_text(message).lower()
        return ""

    @cached_property
    def sayers(self) -> Sequence[str]:
        """Who said the thing before the boundary, a role for each message that has it."""
        roles: list[str] = []
        for message, text in zip(self.messages[: self.row["at"]], self.texts, strict=False):
            if self.name in text:
                roles.append(message.role)
        return roles

    @cached_property
    def others_in_use(self) -> set[str]:
        """The words of the line of the use, beside the thing."""
        return _words(self.row["use"]) - set(parts_of(self.name))


def features(loss: LossRead) -> dict[str, float]:
    """The features of a loss, by name; without those that other projects tell."""
    values = dict(_of_use(loss))
    values |= _of_history(loss)
    values |= _of_name(loss.name)
    values |= _of_what_is_sent(loss)
    values |= _of_what_follows(loss)
    return values


def _of_use(loss: LossRead) -> Iterator[tuple[str, float]]:
    """Where the thing is used, and what it is."""
    row, name = loss.row, loss.name
    kind = str(row["kind"])
    for one_kind in KINDS:
        yield f"kind: {one_kind}", float(kind == one_kind)
    use = text_of_use(loss.messages[row["needed_at"]], row["use"])
    form = use.form if use else "none"
    for one_form in FORMS:
        yield f"used in: {one_form}", float(form == one_form and kind != "line")
    line = row["use"]
    place = line.find(name)
    before = line[:place][-1:] if place > 0 else ""
    after = line[place + len(name) :][:1] if place >= 0 else ""
    yield "used as a member", float(before == ".")
    yield "used in quotation marks", float(before in {'"', "'", "`"})
    yield "used as a call", float(after == "(")
    yield "used alone", float(line.strip() == name)
    yield "the use defines it", float(name in DEFINITION.findall(line))
    yield "length of its line", math.log1p(len(line))


def _of_history(loss: LossRead) -> dict[str, float]:
    """Who said the thing, how often and how long before."""
    row = loss.row
    evidence = row["evidence"]
    sayers = loss.sayers
    shared_words = loss.others_in_use & _words(evidence)
    defining_lines = _definitions(loss)
    return {
        "messages that say it": math.log1p(len(sayers)),
        "a tool said it": float("tool" in sayers),
        "the user said it": float("user" in sayers),
        "only the agent said it": float(set(sayers) == {"assistant"}),
        "stated last by a tool": float(row["said_by"] == "tool"),
        "stated last by the user": float(row["said_by"] == "user"),
        "messages since it was stated": math.log1p(row["at"] - row["evidence_at"]),
        "messages to its use": math.log1p(row["needed_at"] - row["at"]),
        "the line of the use was said before": float(evidence.strip() == row["use"].strip()),
        "words of the use in its line": len(shared_words) / max(1, len(loss.others_in_use)),
        "the recording defines it": float(defining_lines > 0),
        "one call brings it back": float(row["way_back"] == "call"),
    }


def _definitions(loss: LossRead) -> int:
    """How many messages before the use define the thing."""
    count = 0
    for text in loss.texts[: loss.row["needed_at"]]:
        if loss.name in text and loss.name in DEFINITION.findall(text):
            count += 1
    return count


def _of_name(name: str) -> dict[str, float]:
    """How the thing is spelled."""
    digit_count = sum(map(str.isdigit, name))
    return {
        "length": math.log1p(len(name)),
        "share of digits": digit_count / len(name),
        "parts": math.log1p(len(parts_of(name))),
        "capitals inside": float(_CAPITAL_INSIDE.search(name) is not None),
        "begins with a capital": float(name[:1].isupper()),
        "underscore": float("_" in name),
        "dash": float("-" in name),
        "slashes": math.log1p(name.count("/")),
        "dot": float("." in name),
        "blank": float(" " in name),
    }


def _of_what_is_sent(loss: LossRead) -> dict[str, float]:
    """What of the thing is still sent, or said since, or in the request."""
    name = loss.name.lower()
    squeezed = _squeezed(name)
    return {
        "named": float(loss.row["level"] == "unbound"),
        "spelled in what is sent": float(name in loss.sent),
        "spelled otherwise in what is sent": float(squeezed in _squeezed(loss.sent)),
        "parts in what is sent": _share_of_parts(loss.name, loss.sent),
        "spelled since": float(name in loss.since),
        "spelled otherwise since": float(squeezed in _squeezed(loss.since)),
        "parts said since": _share_of_parts(loss.name, loss.since),
        "spelled in the request": float(name in loss.request),
        "parts in the request": _share_of_parts(loss.name, loss.request),
    }


def _of_what_follows(loss: LossRead) -> dict[str, float]:
    """What comes of the use."""
    use = loss.row["needed_at"]
    next_messages = loss.messages[use + 1 : use + 2]
    result = next_messages[0] if next_messages and next_messages[0].role == "tool" else None
    is_error = bool(getattr(result, "is_error", False))
    later_uses = sum(loss.name in text for text in loss.texts[use + 1 :])
    return {
        "the call worked": float(result is not None and not is_error),
        "the call failed": float(is_error),
        "the result says it": float(result is not None and loss.name in said_text(result)),
        "messages that say it later": math.log1p(later_uses),
    }


def _words(line: str) -> set[str]:
    return set(map(str.lower, _WORD.findall(line)))


def _squeezed(text: str) -> str:
    return _NO_SIGN_OF_NAME.sub("", text)


def _share_of_parts(name: str, text: str) -> float:
    parts = parts_of(name)
    found_count = sum(part in text for part in parts)
    return found_count / len(parts)


def project_of(recording: str) -> str:
    """The project of a recording, as `corpora/NAME/...` or `others/OWNER+NAME/...` names it."""
    folder = recording.split("/")[1]
    return folder.rpartition("+")[2].lower()


class Elsewhere:
    """In how many projects names and their parts stand, as far as recordings at hand show.

    Args:
        recordings: the folder of `losses.py`; of each project the largest files are read.
        names: what is looked up.
    """

    def __init__(self, recordings: Path, names: Iterable[str]) -> None:
        self._names = set(names)
        self._parts = {part for name in self._names for part in parts_of(name)}
        self._projects_of_name: dict[str, set[str]] = defaultdict(set)
        self._projects_of_part: dict[str, set[str]] = defaultdict(set)
        for folder in sorted(recordings.glob("*/*")):
            project = project_of(folder.relative_to(recordings).as_posix())
            for file in _largest_files(folder):
                self._read(project, file.read_bytes().decode("utf-8", "replace"))

    def _read(self, project: str, text: str) -> None:
        text = text.replace("\\n", " ").replace("\\t", " ")
        names = set(_NAME.findall(text))
        for name in list(names):
            names.update(_BETWEEN_NAMES.split(name))
        parts: set[str] = set()
        for name in names:
            parts.update(parts_of(name))
        for name in self._names:
            if name in names or (" " in name and name in text):
                self._projects_of_name[name].add(project)
        for part in self._parts & parts:
            self._projects_of_part[part].add(project)

    def features(self, name: str, project: str) -> Mapping[str, float]:
        """How many other projects have a name and the rarest of its parts."""
        has_name = self._projects_of_name[name] - {project}
        has_part = [len(self._projects_of_part[part] - {project}) for part in parts_of(name)]
        values = math.log1p(len(has_name)), float(not has_name), math.log1p(min(has_part))
        return dict(zip(FROM_OTHER_PROJECTS, values, strict=True))


def _largest_files(folder: Path) -> list[Path]:
    files: list[Path] = []
    for file in folder.rglob("*"):
        if file.is_file() and file.stat().st_size < LARGEST_FILE:
            files.append(file)
    files.sort(key=lambda file: (-file.stat().st_size, file.as_posix()))
    return files[:FILES_OF_PROJECT]
