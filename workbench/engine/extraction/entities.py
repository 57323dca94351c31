"""Typed pieces of information in a text: the form of each kind of entity, and how it is
normalised.
"""

import re
from collections.abc import Collection
from typing import Literal, NamedTuple, TypeAlias, get_args

from workbench.engine.extraction.lexicon import (
    DOTFILES,
    ERRNO,
    ERROR_WORDS,
    GO_WORDS,
    MEMBERS,
    OWNERS,
    PROGRAMS,
    PROSE,
    SUFFIXES,
    UNIT,
)  # fmt: skip
from workbench.engine.extraction.paths import normal_path

LexicalKind: TypeAlias = Literal[
    "path",
    "url",
    "identifier",
    "number",
    "version",
    "hash",
    "error",
    "command",
    "flag",
    "quote",
    "id",
]
"""Kinds that are found by their form."""
Kind: TypeAlias = LexicalKind | Literal["constraint", "decision", "pending"]
"""The last three are found by what a sentence says (`statements.py`)."""

LEXICAL: tuple[Kind, ...] = get_args(LexicalKind)
KINDS: tuple[Kind, ...] = (*LEXICAL, "constraint", "decision", "pending")

TOKEN = re.compile(r"[A-Za-z0-9_.@~/%#-]+(?:\(|(?:,\d{3}(?![0-9A-Za-z_]))+)?")
"""What one form can be read from: no blank inside, a bracket only behind, where it tells a call
from a file.
"""

LONGEST = 200
"""A token with more characters is data, not a name."""


class Entity(NamedTuple):
    """One typed piece of information; `text` is normalised."""

    kind: Kind
    text: str


_FILE_NAME = re.compile(r"[\w@~-][\w@.~-]*\.([a-z][a-z0-9]{0,7})", re.ASCII)
_NAMED_PART = re.compile(r"[A-Za-z][\w.-]|[\w.-][A-Za-z]", re.ASCII)
_IDENTIFIER = re.compile(
    r"[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[A-Z]{2,}[a-z]\w*|_*[A-Za-z]\w*_\w+|[A-Za-z][a-z0-9]+\w*[A-Z]{2,}\w*",
    re.ASCII,
)
_DIGIT = re.compile(r"\d", re.ASCII)
_GREP_CONTEXT = re.compile(r"\.([a-z]{1,6})-\d+(?:-.*)?$")
_ERROR_NAME = re.compile(r"[A-Z]\w*(?:Error|Exception|Panic)|TS\d{4}|E\d{4}", re.ASCII)
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]+|%)?")
_GROUPED = re.compile(r"\d{1,3}(?:[,_]\d{3})+")
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+(?:-[A-Za-z][\w.-]*)?)|v(\d+\.\d+)", re.ASCII)
_FLAG = re.compile(r"--[a-z][\w-]{2,}", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_TICKET = re.compile(r"#\d+|[A-Z]{2,10}-\d+|\d{1,3}(?:\.\d{1,3}){3}")
_NAMED_ID = re.compile(r"(?=[a-z.-]*\d)[a-z][a-z0-9.]*(?:-[a-z0-9.]+)+")


def bare(token: str) -> str:
    """A token without the marks behind it, or the file alone of a line that grep shows."""
    if "-" in token:
        match = _GREP_CONTEXT.search(token)
        if match and match.group(1) in SUFFIXES:
            return token[: match.end(1)]
    return token.rstrip(".-~@#(")


def whole_entities(token: str, is_call: bool, cwd: str = "") -> list[Entity] | None:
    """The entities of a token that is read as a whole; None if its names say it all.

    `is_call`: a bracket followed it. Relative paths start from `cwd`.
    """
    if not token or len(token) > LONGEST:
        return []
    flag = _FLAG.match(token)
    if flag:
        return [Entity("flag", flag.group())]
    token = token.lstrip("-")
    if "0" <= token[:1] <= "9" or token[:1] == "v":
        numeric = _numeric(token)
        if numeric is not None:
            return numeric
    if not is_call and ("/" in token or "." in token):
        path = _path(token, cwd)
        if path:
            return [Entity("path", path)]
    return _coded(token) or None


def _numeric(token: str) -> list[Entity] | None:
    """A number, a version or a date; None where the token is none of them."""
    if token.isdigit():
        return _number(token, None)
    version = _VERSION.fullmatch(token)
    if version:
        text = version.group(1) or version.group(2)
        return [Entity("version", text)]
    date = _DATE.match(token)
    if date:
        return [Entity("id", date.group())]
    if _GROUPED.fullmatch(token):
        digits = token.replace(",", "").replace("_", "")
        return [Entity("number", digits)]
    number = _NUMBER.fullmatch(token)
    if number is None:
        return None
    value, unit = number.groups()
    if unit and unit.lower() not in UNIT:
        return None
    return _number(value, unit)


def _number(value: str, unit: str | None) -> list[Entity]:
    """A number with its unit, or alone where it has four characters and more."""
    if unit:
        return [Entity("number", f"{value} {UNIT[unit.lower()]}")]
    if len(value) < 4:
        return []
    return [Entity("number", value)]


def _path(token: str, cwd: str) -> str:
    """The path that a token is; empty if it is none."""
    if "/" not in token:
        return token if is_file_name(token) else ""
    if token[:2] == "//" or "%" in token or not _NAMED_PART.search(token):
        return ""
    path = normal_path(token, cwd)
    part_count = path.count("/")
    if not path.startswith("/"):
        part_count += 1
    says_path = token[0] in "/~." or token[-1] == "/"
    enough_parts = 2 if says_path else 3
    file_name = path.rpartition("/")[2]
    if part_count >= enough_parts or _FILE_NAME.fullmatch(file_name):
        return path
    return ""


def is_file_name(name: str) -> bool:
    """Whether a name without a slash is a file's, by its ending."""
    if name in DOTFILES:
        return True
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix not in SUFFIXES or not _FILE_NAME.fullmatch(name):
        return False
    return stem not in OWNERS and (len(stem) > 1 or suffix not in MEMBERS)


def _coded(token: str) -> list[Entity]:
    """Names that no person chose: hashes, uuids, tickets, names with a number in them."""
    if not _DIGIT.search(token):
        return []
    if _UUID.fullmatch(token):
        return [Entity("id", token.lower())]
    if _TICKET.fullmatch(token) or _NAMED_ID.fullmatch(token):
        return [Entity("id", token)]
    return [_hash(part) for part in re.split(r"[-.]", token) if _HASH.fullmatch(part)]


def _hash(text: str) -> Entity:
    """A commit is named by its first characters as well as by all of them."""
    return Entity("hash", text[:7])


def name_entities(name: str) -> list[Entity]:
    """The entity that a name without any mark in it is, if it is one."""
    if len(name) < 4:
        return []
    if name.islower():
        return _lower_case_name(name)
    if name in ERRNO or _ERROR_NAME.fullmatch(name):
        return [Entity("error", name)]
    if _IDENTIFIER.fullmatch(name) and len(name) <= LONGEST:
        return [Entity("identifier", name)]
    return []


def _lower_case_name(name: str) -> list[Entity]:
    """An identifier of several words, or a hash."""
    if "_" in name.strip("_"):
        return [Entity("identifier", name)] if len(name) <= LONGEST else []
    if _HASH.fullmatch(name):
        return [_hash(name)]
    return []


# What needs more than one token. Each rule runs only on lines that hold one of its tokens.

_LONG_UNITS = frozenset(unit for unit in UNIT if len(unit) > 1)
_CAPITAL_UNITS = frozenset({"MB", "KB", "GB", "TB", "MiB", "KiB", "GiB", "B", "Hz"})
_LINE_UNITS = _LONG_UNITS | _CAPITAL_UNITS | {"s", "%"}
SIGNALS = PROGRAMS | ERROR_WORDS | _LINE_UNITS
"""Tokens that make a line worth a second look."""

URL = re.compile(r"https?://[^\s\"'<>)\]}`\\|^]+")
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:\\[\w.\\@~-]*\w", re.ASCII)
_PHRASE = re.compile(r"\w[^\s]*\s.*[\w.!?)%]")
_VALUE = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+) (%|[A-Za-z]{1,12})(?!\w)", re.ASCII
)
_COMMAND = re.compile(
    r"(?:^|[`$>;(]|&&|\|\|) {0,2}((?:" + "|".join(sorted(map(re.escape, PROGRAMS), key=len, reverse=True))
    + r")(?: +(?:[a-z][\w:.-]{0,40}(?![\w=/])|-m(?= ))){1,3})",
    re.ASCII,
)  # fmt: skip
_ERROR_LINE = re.compile(
    r"(?:[Ee]rror|ERROR|fatal|panic|FAIL|[Ff]ailed)(?:\[\w+\])?: +(\S.{5,100})"
)


def url_entity(address: str) -> Entity:
    """An address without the marks that end a sentence, a last slash, or capitals in its host."""
    address = address.rstrip(".,;:!?*'\"_")
    scheme, _, location = address.partition("://")
    host, slash, path = location.partition("/")
    return Entity("url", f"{scheme}://{host.lower()}{slash}{path}".rstrip("/"))


def windows_paths(line: str, cwd: str = "") -> list[Entity]:
    """Paths that begin with a drive's letter."""
    entities: list[Entity] = []
    for raw_path in _WINDOWS_PATH.findall(line):
        path = normal_path(raw_path, cwd)
        if path:
            entities.append(Entity("path", path))
    return entities


def quotes(line: str) -> list[Entity]:
    """Two words and more, ten to 120 characters, between double quotation marks, in lower case."""
    texts = line.split('"')[1:-1:2]
    if "“" in line:
        for part in line.split("“")[1:]:
            text, mark, _ = part.partition("”")
            if mark:
                texts.append(text)
    entities: list[Entity] = []
    for text in texts:
        if 10 <= len(text) <= 120 and _PHRASE.fullmatch(text):
            entities.append(Entity("quote", plain(text)))
    return entities


def line_entities(line: str, signals: Collection[str]) -> list[Entity]:
    """Commands, error messages and numbers with units, in a span with these `SIGNALS`."""
    entities: list[Entity] = []
    if not _LINE_UNITS.isdisjoint(signals):
        for value, unit in _VALUE.findall(line):
            if unit.lower() in UNIT and unit != "k":
                entities += _number(value.replace(",", ""), unit)
    if not PROGRAMS.isdisjoint(signals):
        for command in _COMMAND.findall(line):
            entities += _command(command)
    if not ERROR_WORDS.isdisjoint(signals):
        message = _ERROR_LINE.search(line)
        if message:
            entities.append(Entity("error", plain(message.group(1))))
    return entities


def _command(text: str) -> list[Entity]:
    """The program with its sub-commands, up to the first word of prose."""
    program, *arguments = text.split()
    if program == "go" and arguments[0] not in GO_WORDS:
        return []
    parts = [program]
    for word in arguments:
        if word in PROSE or "." in word:
            break
        parts.append(word)
    if parts == [program]:
        return []
    return [Entity("command", " ".join(parts))]


def plain(text: str) -> str:
    """A text for comparison: lower case, single blanks, no mark at its end."""
    return " ".join(text.lower().split()).rstrip(".,;:!?\"'`")
