"""Secrets that the rest of their line gives away: tokens drawn at random beside a telling word,
further passwords.

Whoever writes of a secret names it near: in the label of a list, a comment, the name of a class.
What is drawn at random in such a line is the secret, whatever stands between.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_values import is_random, is_sample, is_strong_password
from workbench.engine.transcript.spans import Span, line_end, line_start, search_before
from workbench.engine.transcript.words import lowered, words_of

_HEX = re.compile(
    r"(?<![\w+/.~@%$&?#-])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,128}|[0-9A-F]{32,128})"
    r"(?![\w+/.(-])"
)
_TELLING = re.compile(
    r"(?:(?<![a-z])(?:pass(?:word|phrase|wd|code)|secret|token|credential|bearer|webhook|wallet|passwor[dt]"
    r"|(?:api|access|private|account|licen[cs]e|auth|signing|master|client|storage|app|recovery|encryption|stream"
    r"|write|subscription|service"
    r"|integration|deploy|ingest)[ _-]?key|key[ _-]?(?:file|material)|(?:log|sign)(?:ged)?["
    r" -]?in|auth(?!or)"
    r"|contraseña|senha|wachtwoord|hasło|mot de passe|kennwort|clé|clave|chiave|schlüssel))",
    re.IGNORECASE,
)
"""Words that speak of what opens something."""
_HINTS = words_of("hints_of_lines")
_NAME_BEFORE = re.compile(
    r"(?i:(?<![a-z_.-])(?:(?:app|nwk|nwks|apps|network|session|auth|enc)?key|token|secret)[\"']?"
    r"(?:[ ]?[:=→][ ]?|[ ])[\"'`]?)\Z"
)
"""Directly before digits of sixteen that open something."""
_OF_THINGS = re.compile(
    r"(?i:rsa|dsa|gpg|pgp|cache|hash|sha|commit|dedup|idempot|index|sort|row|primary|public|fingerprint|entry|lock|page|next"
    r"|cursor|partition"
    r"|object|s3|message|group|foreign|unique|lookup|map|digest|merge|tree|blob|checksum|continuation|resume)"
)
"""What else a key is of."""
_SOMETHING_ELSE = re.compile(
    r"(?:(?<![^\W_])(?:[xyenpq]|iv|tag|mac|data)|(?:(?<![^\W_])|(?<=[a-z]))(?i:sha\d*|md5|h\d|hash(?:es)?|checksum|digest|integrity|fingerprint|public|pub"
    r"|signature|commit|etag|cursor|page|next|request|response|session|trace|span|message|event|uu?id|ids?|rev|ref"
    r"|version|tree|blob|parent|file|path|url|thought|thinking|continuation|(?:page|next|sync)["
    r" _]?token|ssh-\w+"
    r"|dnskey[\d"
    r" ]+|ecdsa-\S+|recipient|peer|boundary|nonce|ray|build|zone|distribution|video|cluster|verification"
    r"|websocket-(?:key|accept)|id-\d|content|font|src|image|layer|sri|cid|node|channel|document|folder|tx|block"
    r"|contract|address|symbol|none-match|token[ _]?type)[\w ]{0,12})"
    r"[\"'`)\]]{0,3}[ \t]?[:=(, -]{1,3}[ \t\"'`]{0,3}(?:W/\")?\Z"
)
"""What ends just before what was drawn but opens nothing."""
_CIPHER = re.compile(r"ncrypted_?[dD]ata\b[^{}]*\Z|ENC\[[^\]\n]*\Z")
_REACH_OF_CIPHER = 300
"""What follows is readable by nobody without a key that stands elsewhere."""
_PROSE = words_of("prose")
_OF_WALLETS = ("seed", "wallet", "phrase", "mnemonic", "ledger", "metamask", "trezor")
_WORDS_OF_WALLET = re.compile(r"(?<![\w-])(?:[a-z]{3,8}[ \n]){11,23}[a-z]{3,8}(?![\w-]|[ \n][a-z])")
_BEFORE, _BEHIND = 60, 40
"""Characters of a line that are looked at on either side."""
_CALL = re.compile(
    r"(?:Auth\d?\w{0,20}|Handler|Client|A[pP][iI]|Session|Device|Credentials?|Signer|Wallet)(?:\.new)?\("
    r"(?P<arguments>[^()\n]{12,600})\)"
)
"""What makes the client of a service."""
_ARGUMENT = re.compile(r"[\"'](?=[^\"'\n-]{0,40}\d)(?P<value>[\w$+/=.-]{16,300})[\"']")
_LEAST, _LEAST_OF_ARGUMENT = 20, 16
_WORD = re.compile(
    r"(?<![^\s\"'`「«„“])[^\s\"'`<>{}\[\](),;:=«»„“”「」]{7,60}?(?=[.,;!?)」]?(?:[\s\"'`»“”]|\Z))"
)


def secrets_of_lines(text: str) -> Iterator[Span]:
    """Where digits of sixteen stand behind a telling word, and drawn texts in calls that make a
    client; half-open.
    """
    lower = lowered(text)
    if not any(hint in lower for hint in _HINTS):
        return
    for match in _HEX.finditer(text):
        if _is_drawn(match.group(), _LEAST) and _is_named(text, match.start()):
            yield match.span()
    if any(hint in lower for hint in _OF_WALLETS):
        for match in _WORDS_OF_WALLET.finditer(text):
            if _is_wallet(text, match):
                yield match.span()
    for call in _CALL.finditer(text):
        for argument in _ARGUMENT.finditer(text, *call.span("arguments")):
            if _is_drawn(argument["value"], _LEAST_OF_ARGUMENT):
                yield argument.span("value")


def _is_drawn(value: str, least_length: int) -> bool:
    return is_random(value, least_length) and not is_sample(value)


def _is_wallet(text: str, match: re.Match[str]) -> bool:
    """Whether words without any of a sentence stand where the words of a wallet could."""
    words = match.group().split()
    repeated_count = len(words) - len(set(words))
    if len(words) % 3 or repeated_count > 2 or not _PROSE.isdisjoint(words):
        return False
    start = max(0, match.start() - 2 * _BEFORE)
    surroundings = text[start : match.end() + _BEFORE].lower()
    return any(hint in surroundings for hint in _OF_WALLETS)


def _is_named(text: str, start: int) -> bool:
    """Whether a word for a secret stands directly before digits of sixteen."""
    text_before = text[_line_start(text, start) : start]
    return _NAME_BEFORE.search(text_before) is not None and _OF_THINGS.search(text_before) is None


def is_something_else(text: str, start: int) -> bool:
    """Whether what stands before says that what was drawn opens nothing."""
    if _SOMETHING_ELSE.search(text[_line_start(text, start) : start]):
        return True
    return search_before(_CIPHER, text, start, _REACH_OF_CIPHER) is not None


def is_in_telling_line(text: str, start: int, stop: int) -> bool:
    """Whether the rest of a line speaks of what opens something."""
    text_before = text[_line_start(text, start) : start]
    text_behind = text[stop : min(line_end(text, stop), stop + _BEHIND)]
    return _TELLING.search(text_before) is not None or _TELLING.search(text_behind) is not None


def _line_start(text: str, start: int) -> int:
    """Where what is looked at of the line begins."""
    return max(line_start(text, start), start - _BEFORE)


def further_passwords(text: str, start: int) -> Iterator[Span]:
    """What else looks like a password in the rest of the line that tells of a password before
    `start`; half-open.
    """
    for word in _WORD.finditer(text, start, line_end(text, start)):
        if is_strong_password(word.group()) and word.group()[0] not in "-$@#/":
            yield word.span()
