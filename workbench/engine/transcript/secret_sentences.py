"""Secrets in sentences, and in the lines that a program prints below a sentence or a command
that announces them.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_names import Name, Strength
from workbench.engine.transcript.secret_values import (
    is_call,
    is_commit,
    is_joined,
    is_no_name,
    is_no_value,
    is_password_like,
    is_path,
    is_random,
    is_strong_password,
)
from workbench.engine.transcript.spans import Span, character_before, line_start
from workbench.engine.transcript.words import words_of

_IS = (
    r"(?:is|are|was|be|to|lautet|ist|heißt|war|es|est|era|sera|è|é|är|var|er|jest|wynosi|on|je|becomes|equals|auf|a|à|en"
    r"|til|till|naar)(?: (?:now|set to|currently|jetzt|ahora|maintenant|adesso|agora))?"
)
_QUOTED = (
    r"(?:\*\*|[\"'`«„“‘「『*_])[ ]?`?(?P<quoted>[^\n\"'`«»„“”’」』*]{6,200}?)`?["
    r" ]?(?:\*\*|[\"'`»“”’」』*_])"
)
_BARE = (
    r"(?=[^\s]{0,60}\d|[^\W\d_]+(?:[._-][^\W\d_]+){2})(?P<bare>[^\s\"'`<>{}\[\],;«»\u2e80-\ud7ff，"
    r"]{6,200})"
)
_WORDS_BETWEEN = r"(?:[ ]{1,2}[\w'’@.:/()-]{1,24},?){0,8}?"
_SENTENCE = re.compile(
    rf"[\"'`*]{{0,2}}(?:{_WORDS_BETWEEN}(?:[ ]?[:=：]|[ ]{_IS}:?)[*]{{0,2}}[ ]{{1,2}}|["
    r" ]{1,2}(?=\*\*|[\"'`«„“])"
    rf"|[ ]?(?:は|是|为|는|은|가|이|:|：)[ ]?)(?:{_QUOTED}|{_BARE})"
)
"""From a telling word of a sentence to what it is said to be."""
_OF_PUBLIC = re.compile(r"\b(?:fingerprint|hash|id|digest|public)\b", re.IGNORECASE)
"""Between a name and what is no secret."""
_VERBS = words_of("verbs_of_values")
_LEAST_OF_MADE_UP = 8
_PREPOSITIONS = words_of("prepositions")
_GENITIVE = re.compile(r"['’]s (?P<word>[^\s\"'`<>{}\[\]«»„“”]{6,80})(?<![,;:!?.)])")
_CHOSEN = re.compile(r"(?=\w*\W*\w*\d)[^\W\d_]+(?:[._-][^\W_]+)+!?|[^\W\d_][^\W_]*\d[^\W_]*[!?]")
"""Words and digits with signs between, as people make up passwords."""
_SPOKEN = re.compile(
    r"[ ]{1,2}[\"'`«„“(]?(?P<word>(?:[^\s\"'`<>{}\[\]«»„“”]|(?<=\w)['’](?=\w)){1,80})(?<![,;:!?.)])"
)
"""A word of a sentence, without the signs around it."""
_ENGLISH = ("password", "passwords", "passphrase", "passcode", "passwd", "pass", "pwd", "pw")
_CAPITAL_BEHIND_SIGN = re.compile(r"[^\W\d_]+[.!#$%&+_][A-Z][^\W\d_]+")
_WORDS_BEFORE_VERB, _WORDS_BEHIND_VERB = 8, 4
_NAME_OF_PROSE = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,3}")
_PARTS = ("_", ".", "-", "/", "$", '"', "'", "<")
"""What stands before a word that is a part of something else than a sentence."""
_PROSE = words_of("prose")
_CUT = ("...", "…", "***")
"""What a value ends with of which only a part is shown."""
_LEAST_OF_SECRET = 16
_TELLING = (
    r"(?:pass(?:word|phrase|code|wd)?s?|pwd|secrets?|tokens?|credentials?|(?:api|access|private|master|secret|signing"
    r"|encryption|license|recovery|account|storage|ssh)["
    r" _-]?keys?|gen(?:erate)?_?key|keyring|keyvault|kennwort"
    r"|passwort|contraseña|mot de passe|PAT|psk|cookie)"
)
_COMMAND = re.compile(
    rf"^(?:[\w@:~./\[\] ()-]{{0,60}}[$#%❯]|PS [^\n>]{{1,60}}>|[A-Z]:[^\n>]{{0,60}}>) "
    rf"(?P<command>[^\n]{{0,300}}(?i:{_TELLING}|\bkey\b|rand|pwgen|\bapg\b|psk)[^\n]{{0,300}})\r?\n"
    r"(?P<value>[^\s\"'<>{}]{8,400})[ \t\r]*$",
    re.MULTILINE,
)
"""A command and all of the first line that it prints."""
_OTHER_COMMAND = re.compile(
    r"(?:sudo"
    r" )?(?:git|ls|ll|grep|rg|find|fd|wc|sha\d*sum|md5sum|shasum|which|basename|dirname|cd|mkdir|tree|npm|pnpm"
    r"|yarn|pytest|python -m pytest|cargo|go (?:test|build)|docker (?:ps|images|build|run)|gh"
    r" (?:pr|issue|run))\b"
)
_ANNOUNCEMENT = re.compile(
    rf"^(?P<sentence>[^\n]{{0,200}}\b(?i:{_TELLING}|key)\b[^\n]{{0,160}}?)[:.!]?[ \t\r]*\n"
    r"(?:[ \t\r]*\n|[ \t]*[-=`]{3,}\w{0,10}[ \t\r]*\n){0,2}"
    r"[ \t>|]{0,12}(?P<value>[^\s\"'<>{}]{12,400})[ \t\r|]*$",
    re.MULTILINE,
)
"""A sentence and all of the next line."""
_BELOW = re.compile(
    r"[^\n{};=]{0,60}[ \t\r]*\n(?:[ \t\r]*\n|[ \t]*[-=`]{3,}\w{0,10}[ \t\r]*\n){0,2}["
    r" \t>|*]{0,12}[\"'`]{0,2}"
    r"(?P<value>[^\s\"'`<>{}]{8,400})[\"'`]{0,2}[ \t\r|]*(?:\n|\Z)"
)
"""The rest of a line and all of the next line."""
_PROMPT = re.compile(
    r"(?:[\w@:~./\[\] ()-]{0,60}[$#%❯]|>{1,3}|PS [^\n>]{1,60}>|[A-Z]:[^\n>]{0,60}>) "
)
_OF_FILE = re.compile(r"psk|secret|cookie", re.IGNORECASE)
_NO_SECRET_OF_LINE = re.compile(
    r"sha\d|commit|hash|checksum|digest|fingerprint|public|rev-parse", re.IGNORECASE
)
_HEX = re.compile(r"[0-9a-fA-F]{32,128}")
_GROUPS = re.compile(
    r"[a-z]{4,8}(?:-[a-z]{4,8}){5,7}|[A-Z]{16,40}|[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,7}"
)
"""Groups of letters, as recovery keys have them, or capitals alone."""
_NEW = re.compile(
    r"\b(?:new|your|yours|copy|save|store|generated|created|following|below|here|this|keep|shown|won't"
    r"|cannot|once|reset|initial|temporary|hier|neue[sr]?|nuev[oa]|voici"
    r"|ecco|unten|folgende[srn]?|siguiente)\b",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"[(){}\[\];<>]")
_COMMAND_FOR_PASSWORDS = re.compile(r"pass|secret|pwd|psk", re.IGNORECASE)


def value_in_sentence(text: str, name: Name) -> Span | None:
    """Where the secret is, half-open, that a sentence names: `the password of bob is ...`, `das
    Passwort lautet ...`.

    Args:
        text: any.
        name: a telling name in it.
    """
    if character_before(text, name.start) in _PARTS:
        return None
    if not _NAME_OF_PROSE.fullmatch(text, name.start, name.stop):
        return None
    return _stated_secret(text, name) or _password_behind(text, name)


def _password_behind(text: str, name: Name) -> Span | None:
    """A password behind its name, or behind a verb and a few words: `Kennwort Abc-4`, `the
    password is still Abc-4`.
    """
    if name.strength is not Strength.PASSWORD:
        return None
    is_foreign = not text[name.start : name.stop].lower().endswith(_ENGLISH)
    genitive = _GENITIVE.match(text, name.stop)
    if genitive and _is_made_up(genitive["word"]):
        return genitive.span("word")
    start, verb, word = name.stop, 0, ""
    for number in range(1, _WORDS_BEFORE_VERB + _WORDS_BEHIND_VERB):
        match = _SPOKEN.match(text, start)
        if match is None or text.startswith(_CUT, match.end()):
            return None
        previous_word, word = word.lower(), match["word"]
        start = match.end()
        if word.lower() in _VERBS:
            verb = number
            continue
        if number == 1:
            is_value = _is_beside(word, text[name.start : name.stop])
        elif verb and _is_behind_verb(word, number - verb):
            is_value = True
        elif previous_word in _PREPOSITIONS or (is_foreign and number <= _WORDS_BEHIND_VERB):
            is_value = _is_made_up(word) or is_strong_password(word)
        else:
            is_value = _is_made_up(word) and is_strong_password(word)
        if is_value:
            return match.span("word")
        if verb and not word.isalpha():
            return None
    return None


def _is_behind_verb(word: str, number: int) -> bool:
    """Whether a word of this number behind a verb, which begins with 1, is a password."""
    if number == 1:
        return is_password_like(word, is_announced=True) or is_joined(word)
    return number <= _WORDS_BEHIND_VERB and is_password_like(word)


def _is_made_up(word: str) -> bool:
    """Whether a word is of letters, digits and signs in a way that no name of a thing is."""
    if len(word) < _LEAST_OF_MADE_UP or _CHOSEN.fullmatch(word) is None or word.isupper():
        return False
    return is_no_name(word) and not is_no_value(word)


def _is_beside(word: str, name: str) -> bool:
    """Whether a word directly behind a name is a password; in English, more often something is
    said of passwords.
    """
    if name.lower().endswith(_ENGLISH):
        return is_strong_password(word)
    if _CAPITAL_BEHIND_SIGN.fullmatch(word):
        return True
    return is_password_like(word, is_announced=True)


def _stated_secret(text: str, name: Name) -> Span | None:
    """A secret behind a sign or a verb, or in quotation marks."""
    match = _SENTENCE.match(text, name.stop)
    if match is None:
        return None
    group = match.lastgroup or "bare"
    start, stop = match.span(group)
    if name.strength is not Strength.PASSWORD and _OF_PUBLIC.search(text, name.stop, start):
        return None
    if text[start:stop].endswith(_CUT):
        return None
    while stop > start and text[stop - 1] in ".,!?)*_":
        stop -= 1
    if _is_stated_secret(text[start:stop], name.strength, quoted=group == "quoted"):
        return start, stop
    return None


def _is_stated_secret(value: str, strength: Strength, *, quoted: bool) -> bool:
    if strength is not Strength.PASSWORD:
        return " " not in value and _is_token(value)
    words = value.split(" ")
    if len(words) > 1:
        is_short = len(words) <= 5 and _PROSE.isdisjoint(words)
        return quoted and is_short and any(map(str.isdigit, value))
    if is_call(value):
        return False
    return is_password_like(value) or _is_made_up(value) or is_joined(value)


def _is_token(value: str) -> bool:
    """Whether it is drawn at random, and no part of a program."""
    is_drawn = is_random(value, _LEAST_OF_SECRET) and not is_no_value(value)
    return is_drawn and not is_path(value) and _PROGRAM.search(value) is None


def value_below(text: str, name: Name) -> Span | None:
    """Where a secret is alone in the line below its name, half-open: below a label, a question or a
    command.

    Args:
        text: any.
        name: a telling name in it.
    """
    match = _BELOW.match(text, name.stop)
    if match is None:
        return None
    start = line_start(text, name.start)
    line = text[start : text.index("\n", name.stop)].rstrip()
    command = _PROMPT.match(line)
    if command and _OTHER_COMMAND.match(line, command.end()):
        return None
    is_announced = command is not None or line.endswith((":", "：", "?", "？", "*", ")"))
    if _is_secret_below(match["value"], name.strength, line, is_announced=is_announced):
        return match.span("value")
    return None


def _is_secret_below(value: str, strength: Strength, line: str, *, is_announced: bool) -> bool:
    if _is_token(value) or _is_hex_of_secret(value, line):
        return _NO_SECRET_OF_LINE.search(line) is None
    if strength is not Strength.PASSWORD:
        return is_announced and _GROUPS.fullmatch(value) is not None
    return is_announced and (is_password_like(value, is_announced=True) or is_joined(value))


def printed_secrets(text: str) -> Iterator[tuple[int, int, Strength]]:
    """Where a program prints a secret in a line of its own: half-open, and what it looks like."""
    if "\n" not in text:
        return
    for match in _COMMAND.finditer(text):
        if not _OTHER_COMMAND.match(match["command"]):
            yield from _printed_secret(match)
    for match in _ANNOUNCEMENT.finditer(text):
        if _NEW.search(match["sentence"]):
            yield from _printed_secret(match)


def _is_hex_of_secret(value: str, line: str) -> bool:
    """Whether digits of sixteen are as no commit or hash has them, or below a line that tells of
    a file for a secret.
    """
    if _HEX.fullmatch(value) is None:
        return False
    return not is_commit(value) or _OF_FILE.search(line) is not None


def _printed_secret(match: re.Match[str]) -> Iterator[tuple[int, int, Strength]]:
    """What is printed below a command, or below a sentence, which is no command."""
    start, stop = match.span("value")
    value = match["value"]
    command = match["command"] if "command" in match.re.groupindex else ""
    if _is_token(value) or _is_hex_of_secret(value, command):
        yield start, stop, Strength.SECRET
    elif is_password_like(value) and _COMMAND_FOR_PASSWORDS.search(command):
        yield start, stop, Strength.PASSWORD
