"""Made-up credentials and personal data, and harmless texts that look like them; values from a
seed.
"""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from workbench.engine.transcript.redaction import Redactor

Make: TypeAlias = Callable[[random.Random], str]

LETTERS, DIGITS, HEX = string.ascii_letters, string.digits, "0123456789abcdef"
BOTH = LETTERS + DIGITS
WORDS = (
    "sunset",
    "maple",
    "harbor",
    "violet",
    "copper",
    "meadow",
    "falcon",
    "timber",
    "orchid",
    "granite",
)


def of(alphabet: str, length: int, before: str = "", behind: str = "") -> Make:
    """Values of so many characters of an alphabet, between two texts."""
    return lambda chance: before + "".join(chance.choice(alphabet) for _ in range(length)) + behind


def password(chance: random.Random) -> str:
    """As people choose them: two words, words and digits, or random letters."""
    one, two = chance.sample(WORDS, 2)
    made = (
        one + two,
        f"{one}{chance.randrange(10, 999)}!",
        f"{one.title()}-{two}{chance.randrange(9)}",
        of(LETTERS, 12)(chance),
    )
    return chance.choice([*made, of(BOTH, 14)(chance)])


def _discord(chance: random.Random) -> str:
    number = base64.b64encode(str(chance.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{number}.{of(BOTH, 6)(chance)}.{of(BOTH, 38)(chance)}"


def _sas(chance: random.Random) -> str:
    return of(BOTH, 20)(chance) + "%2B" + of(BOTH, 20)(chance) + "%3D"


def _jwt(chance: random.Random) -> str:
    return f"ey{'J'}{of(BOTH, 30)(chance)}.ey{'J'}{of(BOTH, 60)(chance)}.{of(BOTH, 43)(chance)}"


# Put together from parts, so that no scanner takes this file for a leak.
SECRETS: Mapping[str, tuple[str, Make]] = {
    "AWS key id": ("aws_access_key_id = {}", of(string.ascii_uppercase + "234567", 16, "AK" + "IA")),
    "AWS secret": ("AWS_SECRET_ACCESS_KEY={}", of(BOTH + "+/", 40)),
    "AWS session": ("export AWS_SESSION_TOKEN={}", of(BOTH + "+/", 180)),
    "GitHub": ("git clone https://{}@github.com/a/b", of(BOTH, 36, "gh" + "p_")),
    "GitHub, fine-grained": ("GH_TOKEN={}", of(BOTH, 82, "github" + "_pat_")),
    "GitLab": ("PRIVATE-TOKEN: {}", of(BOTH, 20, "gl" + "pat-")),
    "Anthropic": ("{}", of(BOTH + "-", 93, "sk-" + "ant-api03-", "AA")),
    "OpenAI project": ("OPENAI_API_KEY={}", of(BOTH, 80, "sk-" + "proj-")),
    "OpenAI": ("key {} works", of(BOTH, 48, "sk" + "-")),
    "Hugging Face": ("{}", of(LETTERS, 34, "h" + "f_")),
    "Google": ("https://maps.example.com/x?key={}", of(BOTH + "_-", 35, "AI" + "za")),
    "Google OAuth": ("{}", of(BOTH + "_-", 28, "GOC" + "SPX-")),
    "Groq": ("{}", of(BOTH, 52, "gs" + "k_")),
    "Replicate": ("{}", of(BOTH, 37, "r" + "8_")),
    "Slack": ("{}", of(BOTH, 24, "xo" + "xb-123456789012-123456789012-")),
    "Slack webhook": ("https://hooks.slack.com/services/{}", of(BOTH, 24, "T00000000/B00000000/")),
    "Discord": ('client.run("{}")', _discord),
    "Discord webhook": ("https://discord.com/api/webhooks/{}", of(BOTH, 68, "123456789012345678/")),
    "Telegram": ("TELEGRAM={}", of(BOTH + "_-", 33, "123456789" + ":AA")),
    "Telegram address": ("https://api.telegram.org/bot{}/getMe", of(BOTH + "_-", 33, "987654321" + ":AA")),
    "Stripe": ("{}", of(BOTH, 24, "sk_" + "live_")),
    "Twilio": ("{}", of(HEX, 32, "S" + "K")),
    "SendGrid": ("{}", lambda chance: f"S{'G'}.{of(BOTH, 22)(chance)}.{of(BOTH, 43)(chance)}"),
    "Mailgun": ("{}", of(HEX, 32, "ke" + "y-")),
    "npm": ("{}", of(BOTH, 36, "np" + "m_")),
    "npm, old": ("//registry.example.org/:_authToken={}", lambda chance: str(uuid.UUID(int=chance.getrandbits(128)))),
    "npm, basic": ("//registry.example.org/:_auth={}", of(BOTH, 30, "", "==")),
    "PyPI": ("{}", of(BOTH + "_-", 80, "py" + "pi-AgEIcHlwaS5vcmc")),
    "Docker Hub": ("{}", of(BOTH + "_-", 27, "dck" + "r_pat_")),
    "DigitalOcean": ("{}", of(HEX, 64, "do" + "p_v1_")),
    "Databricks": ("{}", of(HEX, 32, "da" + "pi")),
    "Grafana": ("{}", lambda chance: f"gl{'sa'}_{of(BOTH, 32)(chance)}_{of(HEX, 8)(chance)}"),
    "Tailscale": ("tailscale up --authkey {}", of(BOTH, 32, "ts" + "key-auth-kA1b2C3d4E5fCNTRL-")),
    "Vault": ("{}", of(BOTH + "_-", 90, "hv" + "s.")),
    "Azure storage": ("AccountName=x;AccountKey={};EndpointSuffix=y", of(BOTH + "+/", 86, "", "==")),
    "Azure signature": ("https://x.blob.core.windows.net/c/b?sv=2022-11-02&sp=rl&sig={}", _sas),
    "Azure shared key": ("SharedAccessKeyName=Root;SharedAccessKey={}", of(BOTH + "+/", 43, "", "=")),
    "JWT": ("Cookie: jwt={}", _jwt),
    "bearer": ("Authorization: Bearer {}", of(BOTH, 40)),
    "token header": ("Authorization: Token {}", of(HEX, 40)),
    "key header": ("-H 'X-Api-Key: {}'", of(HEX, 32)),
    "session cookie": ("Cookie: sessionid={}; theme=dark", of(BOTH, 32)),
    "key of hexadecimal digits": ("WEATHER_API_KEY={}", of(HEX, 32)),
    "key in JSON": ('{{"apiKey": "{}"}}', of(HEX, 32)),
    "token in an address": ("GET /me?access_token={} HTTP/1.1", of(BOTH, 40)),
    "password, environment": ("DB_PASS={}", password),
    "password, export": ("export SMTP_PASSWORD='{}'", password),
    "password, YAML": ("db:\n  user: app\n  password: {}\n  port: 5432", password),
    "password, JSON": ('{{"user": "app", "password": "{}"}}', password),
    "password, SQL Server": ("Server=db;User Id=sa;Password={};Encrypt=true", password),
    "password, Postgres": ("host=db user=app password={} dbname=x", password),
    "password, JDBC": ("jdbc:mysql://h/x?user=a&password={}", password),
    "password, address": ("postgresql://app:{}@db:5432/x", of(BOTH, 12)),
    "password, redis address": ("redis://:{}@cache:6379/0", of(BOTH, 12)),
    "password, .netrc": ("machine api.example.org\n  login bob\n  password {}", password),
    "password, mysql": ("mysql -u root -p{} shop", password),
    "password, sshpass": ("sshpass -p {} ssh root@h", password),
    "password, redis-cli": ("redis-cli -h h -a {} ping", password),
    "password, docker login": ("docker login -u bob -p {} registry.example.org", password),
    "password, curl": ("curl -u bob:{} https://x.example.org", password),
}  # fmt: skip
"""By kind, a text around the value, and how the value is made."""


def _name(chance: random.Random) -> str:
    return "_".join(chance.sample(WORDS, 2))


HARMLESS: Mapping[str, tuple[str, Make]] = {
    "commit": ("commit {}", of(HEX, 40)),
    "short commit": ("* {} fix", of(HEX, 9)),
    "digest": ("image@sha256:{}", of(HEX, 64)),
    "integrity": ('"integrity": "sha512-{}"', of(BOTH + "+/", 86, "", "==")),
    "UUID": ("request id {}", lambda chance: str(uuid.UUID(int=chance.getrandbits(128)))),
    "picture": ("data:image/png;base64,{}", of(BOTH + "+/", 120)),
    "cache key": ("cache-key: linux-node-{}", of(HEX, 20)),
    "ETag": ('ETag: "{}"', of(HEX, 32)),
    "trace": ("traceparent: 00-{}-00f067aa0ba902b7-01", of(HEX, 32)),
    "public key": ("ssh-ed25519 {} bob", of(BOTH + "+/", 68)),
    "hash in a file name": ("dist/main.{}.js", of(HEX, 16)),
    "serial number": ("serial: {}", of(DIGITS, 20)),
    "variable": ("password = {}", _name),
    "argument": ("login(user=name, password={})", _name),
    "argument, alone": ("connect(password={}, timeout=3)", lambda chance: chance.choice(WORDS)),
    "attribute": ("password=self.{}", _name),
    "call": ("token = make_{}(user)", _name),
    "lookup": ("token = tokens[{}]", of(DIGITS, 1)),
    "type": ("password: {}", lambda chance: chance.choice(("string;", "str", "Optional[str]", "SecretStr = Field()"))),
    "class": ("password: {}Field", lambda chance: chance.choice(WORDS).title()),
    "environment lookup": ('password = os.environ["{}"]', lambda chance: _name(chance).upper()),
    "shell variable": ("mysql -p${} shop", lambda chance: _name(chance).upper()),
    "braces": ("password: ${{{}}}", lambda chance: _name(chance).upper()),
    "template": ("password: {{{{ {} }}}}", _name),
    "placeholder": ("API_KEY=your-{}-key", _name),
    "stars": ("password={}", of("*", 8)),
    "angle brackets": ("Authorization: Bearer <{}>", _name),
    "shell in header": ('-H "Authorization: Bearer ${}"', lambda chance: _name(chance).upper()),
    "redacted": ("token=[redacted] {}", _name),
    "comparison": ("if password == {}:", _name),
    "sentence": ("the password is {} and stored", lambda chance: chance.choice(("required", "wrong", "hashed"))),
    "prose": ("A token is sent to the {} service", lambda chance: chance.choice(WORDS)),
    "length": ("PASSWORD_MIN_LENGTH={}", of(DIGITS, 2)),
    "tokens": ("max_tokens={}", of(DIGITS, 6)),
    "token count": ('"total_tokens": {}', of(DIGITS, 7)),
    "primary key": ("primary_key={}", lambda chance: chance.choice(("True", "False", "user_id"))),
    "sort key": ("sort(key={})", _name),
    "key in YAML": ("key: {}", _name),
    "key name": ("secretKeyRef: {{name: {}}}", _name),
    "file of secrets": ("open('{}/credentials.json')", lambda chance: chance.choice(WORDS)),
    "page": ("templates/{}/password_reset.html", lambda chance: chance.choice(WORDS)),
    "test name": ("--- PASS: Test{}Credentials401 (0.00s)", lambda chance: chance.choice(WORDS).title()),
    "ternary": ("ok ? 'pass' : '{}'", lambda chance: chance.choice(WORDS)),
    "compass": ("compass={}", _name),
    "bypass": ("bypass={}", _name),
    "passed": ("passed={}", of(DIGITS, 4)),
    "mkdir": ("mkdir -p {}", _name),
    "port": ("docker run -p {}:80 nginx", of("12345678", 4)),
    "ssh port": ("ssh -p {} bob", of("12345678", 4)),
    "mysql port": ("mysql -P {} -h db", of("12345678", 4)),
    "mysql asks": ("mysql -u root -p {}", _name),
    "login page": ("az login --tenant {}", _name),
    "basic auth": ("basic {} devcontainer", _name),
    "address": ("https://example.org:8443/{}", _name),
    "clone over ssh": ("git clone git@github.com:{}/x.git", _name),
    "cookie": ("Cookie: theme={}; lang=en", lambda chance: chance.choice(WORDS)),
    "folder": ("PWD=/srv/{}", _name),
    "import": ("from {}.token import Token", _name),
    "signature": ("def sign(key: bytes, sig={}): ...", _name),
    "version": ("token-lib=={}", lambda chance: ".".join(str(chance.randrange(30)) for _ in range(3))),
}  # fmt: skip
"""By kind, a text around a value that is no secret, and how the value is made."""


def _grouped(digits: str, *sizes: int, sign: str = " ") -> str:
    parts: list[str] = []
    for size in sizes:
        parts, digits = [*parts, digits[:size]], digits[size:]
    return sign.join([*parts, digits] if digits else parts)


def _luhn(begins: str, length: int, chance: random.Random) -> str:
    """A number with a check digit, worked out from right to left as the standard says."""
    digits = begins + of(DIGITS, length - len(begins) - 1)(chance)
    doubled = [
        int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits))
    ]
    return digits + str(-sum(one - 9 if one > 9 else one for one in doubled) % 10)


def _iban(country: str, account: Make) -> Make:
    def make(chance: random.Random) -> str:
        rest = account(chance)
        number = int("".join(str(int(char, 36)) for char in rest + country + "00"))
        return f"{country}{98 - number % 97:02}{rest}"

    return make


def _spaced(make: Make, *sizes: int, sign: str = " ") -> Make:
    return lambda chance: _grouped(make(chance), *sizes, sign=sign)


def _card(begins: str, length: int = 16) -> Make:
    return lambda chance: _luhn(begins, length, chance)


def _host(chance: random.Random) -> str:
    return (
        f"{chance.choice(WORDS)}@{chance.choice(WORDS)}-{chance.choice(('laptop', 'build', 'pi'))}"
    )


def _ip4(chance: random.Random) -> str:
    first = chance.choice([*range(1, 127), *range(128, 224)])  # beyond these no machine has one
    return ".".join(map(str, (first, *(chance.randrange(1, 255) for _ in range(3)))))


def _ip6(chance: random.Random) -> str:
    return "2001:db" + ":".join(["8", *(f"{chance.randrange(1, 65536):x}" for _ in range(6))])


def _date(chance: random.Random) -> str:
    return (
        f"{chance.randrange(1940, 2009)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
    )


def _cpf(chance: random.Random) -> str:
    """A Brazilian tax number: nine digits and two check digits."""
    digits = of(DIGITS, 9)(chance)
    for _ in range(2):
        weights = range(len(digits) + 1, 1, -1)
        total = sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))
        digits += str(total * 10 % 11 % 10)
    return f"{digits[:3]}.{digits[3:6]}.{digits[6:9]}-{digits[9:]}"


def _area(chance: random.Random) -> str:
    return f"{chance.randrange(201, 990)}{chance.randrange(201, 990)}{chance.randrange(10000):04}"


PERSONAL: Mapping[str, tuple[str, Make]] = {
    "phone, international": ("call {} today", _spaced(of("123456789", 11, "+49"), 3, 3, 4)),
    "phone, no spaces": ("from: {}", of(DIGITS, 10, "+44")),
    "phone, North America": ("reach me at {}.", _spaced(_area, 3, 3, sign="-")),
    "phone, with brackets": ("({}", lambda chance: f"{(n := _area(chance))[:3]}) {n[3:6]}-{n[6:]}"),
    "phone, by its name": ("Phone: {}", _spaced(of("123456789", 9, "0"), 3, 3)),
    "phone, JSON": ('{{"mobile": "{}"}}', of(DIGITS, 10, "06")),
    "IBAN, Germany": ("IBAN {}", _iban("DE", of(DIGITS, 18))),
    "IBAN, spaced": ("pay to {} AND then stop", _spaced(_iban("DE", of(DIGITS, 18)), 4, 4, 4, 4, 4)),
    "IBAN, France": ("iban={}", _iban("FR", of(DIGITS, 23))),
    "IBAN, Britain": ("account {}, please", _iban("GB", of(DIGITS, 14, "NWBK"))),
    "card, Visa": ("card {} exp 09/31", _card("4")),
    "card, spaced": ("{}", _spaced(_card("51"), 4, 4, 4)),
    "card, hyphens": ('"pan": "{}"', _spaced(_card("6011"), 4, 4, 4, sign="-")),
    "card, Amex": ("amex {}", _spaced(_card("37", 15), 4, 6)),
    "social security number": ("SSN {}", _spaced(of("1234578", 9), 3, 2, sign="-")),
    "IPv4": ("connect to {} port 22", _ip4),
    "IPv4, address": ("http://{}:8080/health", _ip4),
    "IPv4, log": ('{} - - [25/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 512', _ip4),
    "IPv6": ("listening on [{}]:443", _ip6),
    "IPv6, short": ("inet6 {}/64 scope global", _spaced(of("123456789abcdef", 8, "2a02"), 4, 4, 0, sign=":")),
    "user at host, ssh": ("ssh -p 22 {}", _host),
    "user at host, scp": ("scp a.txt {}:/srv", _host),
    "user at host, prompt": ("{}:~/work$ ls", _host),
    "e-mail": ("ask {} first", lambda chance: f"{'.'.join(chance.sample(WORDS, 2))}@{chance.choice(WORDS)}.org"),
    "e-mail, encoded": ("?to={}", lambda chance: f"{'.'.join(chance.sample(WORDS, 2))}%40{chance.choice(WORDS)}.org"),
    "device, MAC": ("ether {}", lambda chance: ":".join(f"{chance.randrange(256):02x}" for _ in range(6))),
    "device, IMEI": ("IMEI: {}", _card("35", 15)),
    "birth": ("date of birth: {}", _date),
    "birth, JSON": ('{{"birthDate": "{}"}}', _date),
    "bank, routing": ("routing number: {}", of(DIGITS, 9)),
    "bank, BIC": ("BIC {}", of("ABCDEFGHIKLMNOPRSTU", 8)),
    "id, passport": ("Passport No. {}", of(DIGITS, 8, "C")),
    "id, tax": ("tax id = {}", of(DIGITS, 10, "1")),
    "id, Brazil": ("{}", _cpf),
    "name, JSON": ('{{"last_name": "{}"}}', lambda chance: chance.choice(WORDS).title()),
    "name, commit": ("Author: {} <x@mail.invalid>", lambda chance: " ".join(chance.sample(WORDS, 2)).title()),
    "place, street": ("address: {}", lambda chance: f"{chance.randrange(1, 99)} {chance.choice(WORDS).title()} Road"),
    "place, coordinates": ('"latitude": {},', lambda chance: f"{chance.uniform(-80, 80):.6f}"),
    "home": ("/home/{}/work", lambda chance: "".join(chance.sample(WORDS, 2))),
    "home, Mac": ("/Users/{}/work", lambda chance: "".join(chance.sample(WORDS, 2))),
    "home, Windows": ("C:\\Users\\{}\\work", lambda chance: "".join(chance.sample(WORDS, 2))),
}  # fmt: skip
"""By kind, a text around personal data, and how the value is made."""


_KINDS = {
    "phone": "phone", "IBAN": "iban", "card": "card", "social": "ssn", "IPv4": "ip", "IPv6": "ip", "user": "login",
    "e-mail": "email", "home": "home", "device": "device", "birth": "birth", "bank": "bank", "id": "id", "name": "name",
    "place": "place",
}  # fmt: skip


KINDS = frozenset(_KINDS.values())
"""The kinds of personal data."""


def personal_of(kind: str) -> dict[str, tuple[str, Make]]:
    """What is planted of a kind of personal data, as `workbench.engine.transcript.personal`
    calls it.
    """
    return {
        name: how
        for name, how in PERSONAL.items()
        if _KINDS[name.replace(",", " ").split()[0]] == kind
    }


def _unlucky(make: Make) -> Make:
    """A number whose check digit is wrong."""
    return lambda chance: (
        (value := make(chance))[:-1] + str((int(value[-1]) + 1 + chance.randrange(8)) % 10)
    )


IMPERSONAL: Mapping[str, tuple[str, Make]] = {
    "date": ("on {}", _spaced(of("12", 6, "20"), 4, 2, sign="-")),
    "time": ("at {}", lambda chance: ":".join(str(chance.randrange(10, 60)) for _ in range(3))),
    "zone": ("2026-11-25T{}+02:00", lambda chance: ":".join(str(chance.randrange(10, 24)) for _ in range(3))),
    "seconds": ("took {} s", lambda chance: f"{chance.randrange(999)}.{chance.randrange(10**6)}"),
    "epoch": ("ts={}", of(DIGITS, 12, "1")),
    "nanoseconds": ("ts={}", of(DIGITS, 18, "1")),
    "wrong card": ("order {}", _unlucky(_card("4"))),
    "wrong account": ("id {}", _unlucky(_iban("DE", of(DIGITS, 18)))),
    "snowflake": ("message {}", of(DIGITS, 17, "10")),
    "version, four parts": ("v{}", lambda chance: ".".join(str(chance.randrange(30)) for _ in range(4))),
    "version, pinned": ("pkg=={}", lambda chance: ".".join(str(chance.randrange(30)) for _ in range(4))),
    "version, three parts": ("Python {}", lambda chance: ".".join(str(chance.randrange(30)) for _ in range(3))),
    "loopback": ("http://{}:8000", lambda chance: f"127.0.0.{chance.randrange(1, 9)}"),
    "any address": ("bind {}", lambda chance: chance.choice(("0.0.0.0", "255.255.255.0", "10.0.0.0"))),
    "diff": ("@@ -{} @@", lambda chance: f"{chance.randrange(999)},7 +{chance.randrange(999)},9"),
    "sum": ("x = y +{}", of("123456789", 5)),
    "exponent": ("1e+{}", of("123456789", 9)),
    "ticket": ("see ABC-{}", of("123456789", 7)),
    "ranges": ("lines {}", lambda chance: f"{chance.randrange(100, 999)}-{chance.randrange(10, 99)}"),
    "UUID, digits": ("{}", lambda chance: "-".join(of(DIGITS, size)(chance) for size in (8, 4, 4, 4, 12))),
    "hash": ("{}", of(HEX, 40)),
    "namespace": ("std::{}::new()", lambda chance: chance.choice(WORDS)),
    "scope": ("use a::{}", lambda chance: chance.choice(("b", "fade", "cafe"))),
    "package": ("npm i @{}/core", lambda chance: chance.choice(WORDS)),
    "pinned package": ("react@{}", lambda chance: ".".join(str(chance.randrange(30)) for _ in range(3))),
    "action": ("uses: actions/{}@v4", lambda chance: chance.choice(WORDS)),
    "decorator": ("@{}.fixture", lambda chance: chance.choice(WORDS)),
    "container's prompt": ("root@{}:/app# ls", of(HEX, 12)),
    "clone": ("git@{}:a/b.git", lambda chance: f"{chance.choice(WORDS)}-host"),
    "table of numbers": ("{}", lambda chance: "  ".join(str(chance.randrange(10**6)) for _ in range(5))),
    "bytes": ("total {} bytes", of("123456789", 10)),
    "coverage": ("{} passed", of("123456789", 4)),
    "coordinates": ("path d='M{}'", lambda chance: " ".join(f"{chance.randrange(999)}.5" for _ in range(4))),
}  # fmt: skip
"""By kind, a text around a value that is no personal data, and how the value is made."""


def recall_and_precision(kind: str, count: int) -> tuple[float, float]:
    """Of a kind of personal data, how much planted is masked, and how much of what is masked was
    planted.

    Any other text that is changed where this kind alone is masked counts against the precision.
    """
    own = personal_of(kind)
    masks = [[_changed(kind, *one) for one in planted(own, name, count)] for name in own]
    others = {**IMPERSONAL, **HARMLESS}
    wrong = sum(_changed(kind, *one) for name in others for one in planted(others, name, count))
    found = sum(map(sum, masks))
    return found / sum(map(len, masks)), found / max(1, found + wrong)


def _changed(kind: str, text: str, value: str) -> bool:
    return value not in Redactor("test", frozenset({kind})).mask(text)


def planted(
    kinds: Mapping[str, tuple[str, Make]], kind: str, count: int
) -> Iterator[tuple[str, str]]:
    """So many texts of a kind, each with the value in it; the same ones each time."""
    text, make = kinds[kind]
    chance = random.Random(kind)
    for _ in range(count):
        value = make(chance)
        yield f"before\n{text.format(value)}\nbehind", value
