"""Secrets that the rest of their line gives away: tokens drawn at random beside a telling word, further passwords.

Whoever writes of a secret names it near: in the label of a list, a comment, the name of a class. What is drawn at
random in such a line is the secret, whatever stands between.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.secret_values import is_random, is_sample, is_strong_password
from workbench.engine.transcript.words import lowered, words_of

_TOKEN = re.compile(
    r"(?<![\w+/.~@%$&?#-])(?=[\w+/.~|$-]{19})(?![\w+/.~|:$-]{0,24}://)(?=[\w+/.~|$-]{0,60}\d)(?=[\w+/.~|$-]{0,60}[a-z])"
    r"(?=[\w+/.~|$-]{0,60}[A-Z])[A-Za-z0-9][\w+/.~|$-]{18,400}={0,2}(?![\w+/(-])"
)
"""Letters of both cases and digits without a space between."""
_HEX = re.compile(r"(?<![\w+/.~@%$&?#-])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,128})(?![\w+/.(-])")
_TELLING = re.compile(
    r"(?:(?<![a-z])(?:pass(?:word|phrase|wd|code)|secret|token|credential|bearer|webhook|wallet|passwor[dt]"
    r"|(?:api|access|private|account|licen[cs]e|auth|signing|master|client|storage|app|recovery|encryption|stream"
    r"|write|subscription|service"
    r"|integration|deploy|ingest)[ _-]?key|key[ _-]?(?:file|material)|(?:log|sign)(?:ged)?[ -]?in|auth(?!or)"
    r"|contraseña|senha|wachtwoord|hasło|mot de passe|kennwort|clé|clave|chiave|schlüssel))",
    re.IGNORECASE,
)
"""Words that speak of what opens something."""
_HINTS = words_of("hints_of_lines")
_NAME_BEFORE = re.compile(r"(?i:(?<![a-z_.-])(?:key|token|secret)[\"']?(?:[ ]?[:=→][ ]?|[ ])[\"'`]?)\Z")
"""Directly before digits of sixteen that open something."""
_OF_THINGS = re.compile(
    r"(?i:cache|hash|sha|commit|dedup|idempot|index|sort|row|primary|public|fingerprint|entry|lock|page|next"
    r"|cursor|partition"
    r"|object|s3|message|group|foreign|unique|lookup|map|digest|merge|tree|blob|checksum|continuation|resume)"
)
"""What else a key is of."""
_SOMETHING_ELSE = re.compile(
    r"(?i:(?:sha\d*|md5|hash(?:es)?|checksum|digest|integrity|fingerprint|public|pub|signature|commit|etag"
    r"|cursor|page|next"
    r"|request|response|session|trace|span|message|event|uu?id|ids?|rev|ref|version|tree|blob|parent|file|path|url"
    r"|thought|thinking|continuation|page[ _]?token|next[ _]?token|sync[ _]?token|ssh-\w+|dnskey[\d ]+"
    r"|ecdsa-\S+)[\w ]{0,12}[\"'`)]{0,2}[ ]?[:=( -]{1,3}[\"'`]?)\Z"
)
"""What ends just before what was drawn but opens nothing."""
_PREFIX = re.compile(r"[a-z0-9]+(?=[_-])")
_PREFIXES_OF_NAMES = words_of("prefixes_of_names")
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
_LEAST, _LEAST_OF_ARGUMENT, _LONG = 20, 16, 32
_WORD = re.compile(r"(?<![^\s\"'`「«„“])[^\s\"'`<>{}\[\](),;:=«»„“”「」]{7,60}?(?=[.,;!?)」]?(?:[\s\"'`»“”]|\Z))")


def secrets_of_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where tokens stand in lines that speak of a secret, and in calls that make a client; half-open."""
    lower = lowered(text)
    if not any(hint in lower for hint in _HINTS):
        return
    for pattern in (_TOKEN, _HEX):
        for match in pattern.finditer(text):
            if _is_token(text, match):
                yield match.span()
    if any(hint in lower for hint in _OF_WALLETS):
        for match in _WORDS_OF_WALLET.finditer(text):
            if _is_wallet(text, match):
                yield match.span()
    for call in _CALL.finditer(text):
        for argument in _ARGUMENT.finditer(text, *call.span("arguments")):
            if is_random(argument["value"], _LEAST_OF_ARGUMENT) and not is_sample(argument["value"]):
                yield argument.span("value")


def _is_wallet(text: str, match: re.Match[str]) -> bool:
    """Whether words without any of a sentence stand where the words of a wallet could."""
    words = match.group().split()
    if len(words) % 3 or not _PROSE.isdisjoint(words) or len(set(words)) < len(words) - 2:
        return False
    near = text[max(0, match.start() - 2 * _BEFORE) : match.end() + _BEFORE].lower()
    return any(hint in near for hint in _OF_WALLETS)


def _is_token(text: str, match: re.Match[str]) -> bool:
    value = match.group()
    if value.startswith("sha") or "..." in value or text.startswith(("...", "…"), match.end()):
        return False
    if _CIPHER.search(text, max(0, match.start() - _REACH_OF_CIPHER), match.start()):
        return False
    prefix = _PREFIX.match(value)
    if not is_random(value, _LEAST) or is_sample(value) or (prefix and prefix.group() in _PREFIXES_OF_NAMES):
        return False
    line = text.rfind("\n", 0, match.start()) + 1
    before = text[max(line, match.start() - _BEFORE) : match.start()]
    if _SOMETHING_ELSE.search(before):
        return False
    if match.re is _HEX:
        return _NAME_BEFORE.search(before) is not None and _OF_THINGS.search(before) is None
    if len(value) >= _LONG and _NAME_BEFORE.search(before) and not _OF_THINGS.search(before):
        return True
    stop = text.find("\n", match.end())
    behind = text[match.end() : min(len(text) if stop < 0 else stop, match.end() + _BEHIND)]
    return _TELLING.search(before) is not None or _TELLING.search(behind) is not None


def further_passwords(text: str, start: int) -> Iterator[tuple[int, int]]:
    """What else looks like a password in the rest of the line that tells of a password before `start`; half-open."""
    stop = text.find("\n", start)
    for word in _WORD.finditer(text, start, len(text) if stop < 0 else stop):
        if is_strong_password(word.group()) and word.group()[0] not in "-$@#/":
            yield word.span()
