"""Kinds of secrets as other programs' documents and test lists write them; the values are made up
from a seed.

Each kind names its source, whose notation it restates with a value of ours. Kinds enter in rounds;
`strangers.toml` says how those of each came about.
"""

from __future__ import annotations

import base64
import random
import string
import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.transcript.planted import BOTH, DIGITS, HEX, WORDS, Make, of, password

from workbench.engine.transcript.redaction import Redactor

if TYPE_CHECKING:
    from faker import Faker


@dataclass(frozen=True)
class Kind:
    """How a source writes one kind of secret.

    Attributes:
        round: of which round of writing new kinds it is.
        source: whose document or test list has this notation.
        text: a text; `{}` is where the value stands.
        make: makes a value.
    """

    round: int
    source: str
    text: str
    make: Make

    def planted(self, name: str, count: int) -> Iterator[tuple[str, str]]:
        """So many texts of this kind, each with the value in it; the same ones each time."""
        chance = random.Random(name)
        for _ in range(count):
            value = self.make(chance)
            yield self.text.replace("{}", value), value


BASE64 = BOTH + "+/"
SYMBOLS = BOTH + "!@#%^*()_-+=.,?"
BODY = of(BASE64, 64)
token = of(BOTH, 40)


def phrase(chance: random.Random) -> str:
    """Four words with hyphens."""
    return "-".join(chance.sample(WORDS, 4))


def encoded(make: Make) -> Make:
    """The same in base64."""
    return lambda chance: base64.b64encode(make(chance).encode()).decode()


def login(chance: random.Random) -> str:
    return f"bob:{password(chance)}"


def of_groups(alphabet: str, *sizes: int, sign: str = "-") -> Make:
    """Groups of characters of an alphabet."""
    return lambda chance: sign.join(of(alphabet, size)(chance) for size in sizes)


def a_uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128)))


def seed_phrase(chance: random.Random) -> str:
    words = [
        "abandon",
        "ability",
        "army",
        "bracket",
        "candy",
        "donor",
        "eagle",
        "fabric",
        "gadget",
        "hazard",
        "insect",
        "junior",
        "kidney",
        "ladder",
    ]
    return " ".join(chance.choice(words) for _ in range(12))


@cache
def _faker(locale: str) -> Faker:
    from faker import Faker  # the tables that need none of its values are made without it

    return Faker(locale)


def faked(provider: str, locale: str = "en_US") -> Make:
    """What the library Faker makes."""

    def make(chance: random.Random) -> str:
        maker = _faker(locale)
        maker.seed_instance(chance.getrandbits(32))
        return str(getattr(maker, provider)()).replace("\n", ", ")

    return make


UPPER = string.ascii_uppercase
NONZERO = "123456789"


def luhn(begins: str, length: int) -> Make:
    """Digits with a check digit after Luhn."""

    def make(chance: random.Random) -> str:
        digits = begins + of(DIGITS, length - len(begins) - 1)(chance)
        total = 0
        for place, digit in enumerate(reversed(digits)):
            doubled = int(digit) * (2 if place % 2 == 0 else 1)
            total += doubled - 9 if doubled > 9 else doubled
        return digits + str(-total % 10)

    return make


def weighted(weights: tuple[int, ...], modulus: int, begins: str = "") -> Make:
    """Digits, the check digit last, whose weighted sum has no remainder."""

    def make(chance: random.Random) -> str:
        while True:
            digits = begins + of(DIGITS, len(weights) - len(begins))(chance)
            if (
                sum(weight * int(digit) for weight, digit in zip(weights, digits, strict=True))
                % modulus
                == 0
            ):
                return digits

    return make


def of_words(*lists: tuple[str, ...], sign: str = " ") -> Make:
    """A word of each list, with capitals."""
    return lambda chance: sign.join(chance.choice(words).title() for words in lists)


RARE_NAMES = (
    "tamsyn",
    "obadja",
    "ikaiko",
    "zsófi",
    "ottilie",
    "sibu",
    "thibaud",
    "gesina",
    "leocadio",
    "bartosz",
)
RARE_SURNAMES = (
    "quillmoor",
    "renshaw",
    "thornecliff",
    "kielbowicz",
    "harkenroth",
    "granvel",
    "mbathe",
    "drummard",
)
TOWNS = (
    "szekszárd",
    "paimpol",
    "mondoñedo",
    "ventspils",
    "ludlow",
    "muttenz",
    "calatayud",
    "crémieu",
)


def swedish_number(chance: random.Random) -> str:
    """With a check digit after Luhn."""
    born = f"{chance.randrange(40, 99)}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}"
    digits = luhn(born, 10)(chance)
    return f"{digits[:6]}-{digits[6:]}"


def south_african_number(chance: random.Random) -> str:
    born = f"{chance.randrange(40, 99)}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}"
    return luhn(born + of(DIGITS, 4)(chance) + "08", 13)(chance)


def chilean_number(chance: random.Random) -> str:
    digits = of(NONZERO, 8)(chance)
    total = sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(digits)))
    return f"{digits}-{'0123456789K0'[11 - total % 11]}"


def malaysian_number(chance: random.Random) -> str:
    born = f"{chance.randrange(40, 99)}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}"
    return f"{born}-{of(DIGITS, 2)(chance)}-{of(DIGITS, 4)(chance)}"


def foot_of_a_passport(chance: random.Random) -> str:
    first, surname = (
        chance.choice(("TAMSYN", "GESINA", "SIBU")),
        chance.choice(RARE_SURNAMES).upper(),
    )
    return f"P<UTO{surname}<<{first}".ljust(44, "<")


def date(chance: random.Random) -> str:
    return (
        f"{chance.randrange(1940, 2009)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
    )


_LISTS = tomllib.loads(Path(__file__).with_name("strangers.toml").read_text("utf-8"))
MAKERS: dict[str, Make] = {
    "Bedrock key": of(BASE64, 128, "ABSK"),
    "Cloudflare origin key": lambda chance: f"v1.0-{of(HEX, 24)(chance)}-{of(HEX, 146)(chance)}",
    "Salesforce session": lambda chance: f"00D{of(BOTH, 12)(chance)}!{of(BOTH + '._', 96)(chance)}",
    "Yandex OAuth": of(BOTH + "_-", 55, "y0_"),
    "OneSignal key": of("abcdefghijklmnopqrstuvwxyz234567", 103, "os_v2_app_"),
    "service account in base64": encoded(
        lambda chance: (
            f'{{\n  "type": "service_account",\n  "private_key_id": "{of(HEX, 40)(chance)}"}}'
        )
    ),
    "Discord login call": lambda chance: (
        f"M{of(BOTH, 25)(chance)}.{of(BOTH, 6)(chance)}.{of(BOTH, 38)(chance)}"
    ),
    "setup key": of_groups("abcdefghijklmnopqrstuvwxyz", 4, 4, 4, 4, sign=" "),
    "a_uuid": a_uuid,
    "Mattermost hook": of("abcdefghijkmnopqrstuwxyz13456789", 26),
    "routing key": of(UPPER + DIGITS, 32),
    "listed name": of_words(
        ("torben", "siobhan", "capucine", "ferdinand", "raimundo"), RARE_SURNAMES
    ),
    "given name": of_words(RARE_NAMES),
    "given name small": lambda chance: chance.choice(RARE_NAMES),
    "surname alone": of_words(RARE_SURNAMES),
    "foot of a passport": foot_of_a_passport,
    "file number": of_groups(DIGITS, 2, 6, 3),
    "long digits": of(NONZERO, 11),
    "KTN": of(NONZERO, 9),
    "hyphened digits": of_groups(NONZERO, 3, 3, 4),
    "Swedish number": swedish_number,
    "South African number": south_african_number,
    "Chilean number": chilean_number,
    "Malaysian number": malaysian_number,
    "UPI address": lambda chance: f"{chance.choice(RARE_SURNAMES)}{of(DIGITS, 2)(chance)}@okaxis",
    "phone with an owner": lambda chance: f"{chance.choice(RARE_SURNAMES).title()}s-iPhone",
    "Japanese address": lambda chance: (
        f"{of(DIGITS, 3)(chance)}-{of(DIGITS, 4)(chance)} 奈良市北山町{of(NONZERO, 2)(chance)}-3"
    ),
    "CVV": of(DIGITS, 3),
    "expiry": lambda chance: f"{chance.randrange(1, 13):02}/{chance.randrange(26, 39)}",
    "house number": of(NONZERO, 3),
    "town": of_words(TOWNS),
    "two words name": of_words(RARE_NAMES, RARE_SURNAMES),
    "login.name": lambda chance: f"{chance.choice(RARE_NAMES[:3])}.{chance.choice(RARE_SURNAMES)}",
    "French street": lambda chance: (
        f"{chance.randrange(1, 99)} rue des {chance.choice(RARE_SURNAMES).title()}s"
    ),
    "dotted password": lambda chance: (
        f"{of_words(WORDS, WORDS, sign='.')(chance)}{chance.randrange(10, 99)}"
    ),
    "Word-1234": lambda chance: (
        f"{of_words(WORDS, WORDS, sign='-')(chance)}{chance.randrange(10, 9999)}"
    ),
    "words": lambda chance: " ".join(chance.sample(WORDS, 3)),
    "BASE64 40": of(BASE64, 40),
    "HEX 40": of(HEX, 40),
    "HEX 32": of(HEX, 32),
    "BOTH 32": of(BOTH, 32),
    "faked last_name": faked("last_name"),
    "faked phone": faked("phone_number"),
    "faked passport_number": faked("passport_number"),
    "mrz": of(UPPER + DIGITS, 9, "L"),
    "faked ipv6": faked("ipv6"),
    "faked iban lower": lambda chance: faked("iban", "de_DE")(chance).lower(),
    "faked card": faked("credit_card_number"),
    "faked mac": faked("mac_address"),
    "serial": of("0123456789ABCDEF", 16),
    "faked name": faked("name"),
    "faked user_name": faked("user_name"),
    "ABN": lambda chance: "51 824 753 556",
    "ACN": lambda chance: " ".join(of(DIGITS, 3)(chance) for _ in range(3)),
    "AWS console CSV": of(BASE64, 40),
    "Aadhaar": faked("aadhaar_id", "en_IN"),
    "Adafruit": of(BOTH, 28),
    "Airflow URI": of(BOTH, 14),
    "Android string": of(BOTH, 39),
    "Austrian SVNR": faked("ssn", "de_AT"),
    "BIC": lambda chance: f"{of(UPPER, 4)(chance)}DEFF{chance.choice(('', 'XXX'))}",
    "BODY": BODY,
    "BSN": faked("ssn", "nl_NL"),
    "Backblaze": of(BOTH, 31, "K001"),
    "Belgian id": faked("ssn", "nl_BE"),
    "CPF": faked("cpf", "pt_BR"),
    "CPR": lambda chance: (
        f"{chance.randrange(1, 29):02}{chance.randrange(1, 13):02}85-{of(DIGITS, 4)(chance)}"
    ),
    "CUIT": lambda chance: f"20-{of(DIGITS, 8)(chance)}-{of(DIGITS, 1)(chance)}",
    "CURP": faked("curp", "es_MX"),
    "Clojars": of(string.ascii_lowercase + DIGITS, 60),
    "Cloudflare": of(HEX, 37),
    "Czech id": faked("birth_number", "cs_CZ"),
    "Django": of(BOTH + "!@#$%^&*(-_=+)", 50),
    "Doppler URL": of(BOTH, 16),
    "EIN": lambda chance: f"12-{of(NONZERO, 7)(chance)}",
    "EasyPost": of(BOTH, 54),
    "Ethereum": of(HEX, 64),
    "Fernet": of(BOTH + "_-", 43, "", "="),
    "Filebeat": of(BOTH + "_-", 22),
    "Firebase": of(BOTH + "_-", 40, "1//0"),
    "Flask": of(SYMBOLS, 24),
    "Flutterwave": of("abcdef" + DIGITS, 32),
    "Frame.io": of(BOTH + "_-", 64),
    "GPS EXIF": lambda chance: f"{chance.randrange(90)} deg {chance.randrange(60)}' 24.12\"",
    "GSTIN": lambda chance: (
        f"29{of(UPPER, 5)(chance)}{of(DIGITS, 4)(chance)}{of(UPPER, 1)(chance)}1Z5"
    ),
    "German street": lambda chance: (
        f"{chance.choice(('Linden', 'Garten', 'Berg', 'Schiller'))}straße {chance.randrange(1, 99)}"
    ),
    "GitHub Actions env": of(BOTH, 36),
    "Hungarian id": faked("ssn", "hu_HU"),
    "IMEI": luhn("35", 15),
    "IN passport": of(NONZERO, 7, "J"),
    "IN vehicle": lambda chance: (
        f"KA{of(DIGITS, 2)(chance)}{of(UPPER, 2)(chance)}{of(DIGITS, 4)(chance)}"
    ),
    "IN voter": lambda chance: of(UPPER, 3)(chance) + of(DIGITS, 7)(chance),
    "INN": of(DIGITS, 12),
    "IT VAT": of(DIGITS, 11),
    "IT driver licence": of(DIGITS, 7, "U1", "X"),
    "IT identity card": of(DIGITS, 5, "CA", "AB"),
    "IT passport": of(DIGITS, 7, "YA"),
    "ITIN": lambda chance: (
        f"9{of(DIGITS, 2)(chance)}-7{chance.randrange(10)}-{of(DIGITS, 4)(chance)}"
    ),
    "Intercom": of(BOTH, 54, "", "="),
    "Irish PPS": lambda chance: of(DIGITS, 7)(chance) + of(UPPER, 2)(chance),
    "JWK": of(BOTH + "_-", 43),
    "Jenkins CLI": of(HEX, 34),
    "KR BRN": lambda chance: "-".join(of(DIGITS, size)(chance) for size in (3, 2, 5)),
    "KR driver": lambda chance: "-".join(of(DIGITS, size)(chance) for size in (2, 2, 6, 2)),
    "KR passport": of(DIGITS, 8, "M"),
    "MAC": faked("mac_address"),
    "MAC, hyphens": of_groups("0123456789ABCDEF", 2, 2, 2, 2, 2, 2),
    "MY NRIC": lambda chance: (
        f"85{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}-14-{of(DIGITS, 4)(chance)}"
    ),
    "Mapbox": of(BOTH, 80, "eyJ1Ijoi", ".abcdEFGH12345678ijklMN"),
    "Medicare": lambda chance: (
        f"2{of(DIGITS, 3)(chance)} {of(DIGITS, 5)(chance)} {of(DIGITS, 1)(chance)}"
    ),
    "NHS": weighted((10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 11, "4"),
    "NIF": lambda chance: (
        f"{(number := chance.randrange(10**7, 10**8))}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"
    ),
    "NINO": lambda chance: (
        f"AB {of(DIGITS, 2)(chance)} {of(DIGITS, 2)(chance)} {of(DIGITS, 2)(chance)} C"
    ),
    "NIR": faked("ssn", "fr_FR"),
    "NRIC": lambda chance: "S1234567D",
    "Norwegian id": faked("ssn", "no_NO"),
    "OAuth code": of(BOTH + "_-", 40),
    "Octopus": of(string.ascii_uppercase + DIGITS, 28),
    "PAN": lambda chance: (
        f"{of(UPPER, 3)(chance)}P{of(UPPER, 1)(chance)}{of(DIGITS, 4)(chance)}{of(UPPER, 1)(chance)}"
    ),
    "PESEL": faked("pesel", "pl_PL"),
    "PIN": of(DIGITS, 6),
    "Phoenix": of(BASE64, 64),
    "Portuguese NIF": of(DIGITS, 8, "2"),
    "Prefect": of(string.ascii_lowercase + DIGITS, 36),
    "RRN": faked("ssn", "ko_KR"),
    "RU passport": lambda chance: f"45{of(DIGITS, 2)(chance)} {of(DIGITS, 6)(chance)}",
    "RUT": faked("person_rut", "es_CL"),
    "ReadMe": of(string.ascii_lowercase + DIGITS, 70),
    "Romanian CNP": faked("ssn", "ro_RO"),
    "SG UEN": of(DIGITS, 9, "", "K"),
    "SIN": faked("ssn", "en_CA"),
    "SNILS": lambda chance: (
        f"{'-'.join(of(DIGITS, 3)(chance) for _ in range(3))} {of(DIGITS, 2)(chance)}"
    ),
    "Sanity": of(BOTH, 170),
    "Scalingo": of(BOTH + "_-", 48),
    "Set-Cookie": of(BOTH, 40),
    "Solana": lambda chance: ",".join(str(chance.randrange(256)) for _ in range(64)),
    "SonarQube": of(HEX, 40, "squ_"),
    "Steuer-ID": of(DIGITS, 10, "6"),
    "Swiss AHV": faked("ssn", "de_CH"),
    "TCKN": faked("ssn", "tr_TR"),
    "TFN": weighted((1, 4, 3, 7, 5, 8, 6, 9, 10), 11),
    "TH id": of(DIGITS, 12, "1"),
    "TOTP": of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32),
    "Typeform": of(BOTH + "_-", 59),
    "UK postcode": faked("postcode", "en_GB"),
    "VAT": of(DIGITS, 9, "DE"),
    "VIN": faked("vin"),
    "WireGuard": of(BASE64, 43, "", "="),
    "WordPress salt": of(BOTH + "!@#$%^&*()-_ []{}<>~`+=,.;:/?|", 64),
    "ZA id": lambda chance: (
        f"85{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}{of(DIGITS, 7)(chance)}"
    ),
    "account": of(DIGITS, 10, "4"),
    "address": faked("address"),
    "az cli TSV": of(BASE64, 86, "", "=="),
    "bcrypt": of(BOTH + "./", 53),
    "bitcoin": of("023456789acdefghjklmnpqrstuvwxyz", 38, "bc1q"),
    "cloudflared": of(BOTH, 140, "eyJhIjoi"),
    "codice fiscale": faked("ssn", "it_IT"),
    "cookie jar": of(BOTH, 64),
    "coordinates": lambda chance: f"{chance.uniform(-80, 80):.6f}",
    "coordinates, pair": lambda chance: (
        f"{chance.uniform(-80, 80):.5f},{chance.uniform(-170, 170):.5f}"
    ),
    "curl cookie": of("abcdefghijklmnopqrstuv" + DIGITS, 26),
    "date": date,
    "date of birth, prose": faked("date_of_birth"),
    "devise": of(HEX, 128),
    "docker auth": encoded(login),
    "docker build-arg": of(BOTH, 30),
    "driver's licence": of(DIGITS, 7, "D"),
    "e-mail, in words": lambda chance: ".".join(chance.sample(WORDS, 2)),
    "elastic reset": of(SYMBOLS, 20),
    "fragment": of(BOTH + "_-", 80),
    "full name": faked("name", "de_DE"),
    "git author": faked("name"),
    "hetu": faked("ssn", "fi_FI"),
    "hex in JSON": of(HEX, 40),
    "home, space": faked("last_name"),
    "k8s secret data": encoded(password),
    "k8s secret, other key": encoded(of(BOTH, 30, "conn: ")),
    "k8s stringData": of(BOTH, 24),
    "kubeconfig key data": of(BASE64, 200, "LS0tLS1CRUdJTi"),
    "machineKey": of("0123456789ABCDEF", 64),
    "map link": lambda chance: f"{chance.uniform(-80, 80):.5f}",
    "medical licence": of(DIGITS, 7, "AB"),
    "medical record": of(NONZERO, 8),
    "minisign": of(BASE64, 100, "RWRTY0Iy"),
    "name in JSON": faked("first_name"),
    "ngrok": of(BOTH, 49),
    "oc login": of(BOTH, 43),
    "passport": of(DIGITS, 8, "C"),
    "passport, German": of("CFGHJKLMNPRTVWXYZ" + DIGITS, 8, "C"),
    "password": password,
    "personnummer": faked("ssn", "sv_SE"),
    "phone, Australia": of(DIGITS, 3),
    "phone, Brazil": of(NONZERO, 4),
    "phone, France": lambda chance: f"{of(DIGITS, 2)(chance)} {of(DIGITS, 2)(chance)}",
    "phone, Germany": of(DIGITS, 8),
    "phone, Italy": of(NONZERO, 7),
    "phone, Russia": of(NONZERO, 3),
    "phone, UK landline": of(DIGITS, 4),
    "phone, ext": lambda chance: f"{chance.randrange(201, 990)}",
    "phone, wa.me": of(DIGITS, 10, "44"),
    "phrase": phrase,
    "pip index": of(BOTH, 20),
    "plate": faked("license_plate"),
    "prompt": faked("user_name"),
    "prose, slash": of(BOTH, 10),
    "query, apikey": of(HEX, 32),
    "rclone": of(BOTH + "_-", 30),
    "recovery codes": of_groups(HEX, 5, 5),
    "resident id": faked("ssn", "zh_CN"),
    "routing": weighted((3, 7, 1, 3, 7, 1, 3, 7, 1), 10, "0"),
    "salutation": lambda chance: faked("last_name")(chance) + "^" + faked("first_name")(chance),
    "seed_phrase": seed_phrase,
    "shadow": of(BOTH + "./", 86),
    "short bearer": of(BOTH, 12),
    "signed off": faked("name", "fr_FR"),
    "sort code": lambda chance: "-".join(of(DIGITS, 2)(chance) for _ in range(3)),
    "street": faked("street_address"),
    "surname": faked("last_name", "es_ES"),
    "systemd": of(BOTH, 32),
    "tel link": of(NONZERO, 10, "1"),
    "token": token,
    "twine": of(BOTH, 60),
    "vault login": of(BOTH, 24, "s."),
    "xprv": of("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107, "x" + "prv"),
}
"""What makes values: by its own name, or by that of the first kind that has such values."""


class Round(NamedTuple):
    """Of which share a round's values were masked when the rules were first tried on them."""

    number: int
    secrets: float
    personal: float


def rounds() -> list[Round]:
    return [Round(**item) for item in _LISTS["rounds"]]


def recall(kind: Kind, name: str, count: int) -> float:
    """The share of a kind's values that are masked."""
    texts = list(kind.planted(name, count))
    return sum(value not in Redactor("strangers").mask(text) for text, value in texts) / count


def _kinds(topic: str) -> dict[str, Kind]:
    kinds = {}
    for item in _LISTS[topic]:
        kinds[item["name"]] = Kind(
            item["round"], item["source"], item["text"], MAKERS[item["value"]]
        )
    return kinds


SECRETS = _kinds("secrets")
PERSONAL = _kinds("personal")
