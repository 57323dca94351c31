"""Codes that open a telephone, a door, a login or an account are masked where something says so."""

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor("", frozenset()).mask(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("the gate code is 40917, ring twice", "40917"),
        ("Recovery codes\n71b2e-0c4fd\n48210-e17aa", "48210-e17aa"),
        ("Sicherheitscodes (je nur einmal): 3071 8846, 1190 5527", "1190 5527"),
        ("my rescue code for the bank is 4QX7-ROM2-9LTB", "4QX7-ROM2-9LTB"),
        ("G-481907 is your verification code.", "481907"),
        ('panel: {arm_code: "660139"}', "660139"),
        ("Host key: 733405", "733405"),
        ("Lizenzschlüssel: CF7F-633J-0EQ0-W6PB", "633J-0EQ0"),
        ("PLUGIN_LICENSE=F7E0698C-FCA7BF02-16F9659F-1D91E014", "FCA7BF02"),
        ("the code for the back door is 7306, then the hash key", "7306"),
        ("Gib diesen Schlüssel ein: Q4S6 JCWO LTU4 CCWG", "Q4S6 JCWO LTU4 CCWG"),
        ('{"door_code": "551902", "floor": 3}', "551902"),
        ("PUK 2: 77120934", "77120934"),
        ("Der Türcode lautet 3381 bis Freitag", "3381"),
        ("Votre code de vérification est : 920 144", "920 144"),
        ("su código de acceso es 66120", "66120"),
        ("您的验证码是 481207，请勿告诉他人", "481207"),
        ("Key safe behind the bin, turn to 9042", "9042"),
        ("the sms code, it says QR7-TKD", "QR7-TKD"),
        ("TERMINAL_PIN=70418833", "70418833"),
        ("unlock with PIN: 'Moos-4-Farn'", "Moos-4-Farn"),
        ("Kody zapasowe:\n7d1f-22ab\n90ce-1b44\n", "90ce-1b44"),
        ('"backup_codes": ["k3v9-p0qa", "m2x7-zz81"]', "m2x7-zz81"),
        ("key: 104829-553017-220914-771205-018842-665310-229047-901336", "553017-220914"),
    ],
)
def test_a_code_that_opens_something_is_masked(text: str, code: str) -> None:
    assert code not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "the process ended with exit code 1374",
        "the code for the retry is in line 4578 of retry.py",
        "LED_PIN = 13",
        "the status code is 2040 and the error code is 50012",
        "enter the verification code 123456 of the test account",
        "a standard of 20480 tokens",
        "def recovery_codes(count: int = 10) -> list[str]:\n    return []\n",
        "the safe maximum is 8192 bytes",
    ],
)
def test_another_number_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Recovery key:\n410382-557190-208846-331957-604418-779203-115586-930274", "410382-557190"),
        ("Ihr Code lautet 551938. Geben Sie ihn nicht weiter.", "551938"),
        ("On m'écrit : 620447 est votre code de validation", "620447"),
        ("Die PIN der EC-Karte ist 6093, bitte merken", "6093"),
        ("Ticket: code portail 3814B, la clé est dessous", "3814B"),
        ("Seriennummer: Q7XK-3MPD-88ZT-V2LA", "Q7XK-3MPD-88ZT-V2LA"),
        ("HomeKit-Code der Lampe: 318-05-927", "318-05-927"),
    ],
)
def test_codes_are_told_in_many_ways(text: str, code: str) -> None:
    assert code not in Redactor("", frozenset()).mask(text)
