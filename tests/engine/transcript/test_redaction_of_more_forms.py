"""Secrets and personal data in forms that strangers wrote and that earlier rules left."""

import pytest

from workbench.engine.transcript.redaction import Redactor


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Recovery codes\n71b2e-0c4fd\n48210-e17aa", "48210-e17aa"),
        ("Sicherheitscodes (je nur einmal): 3071 8846, 1190 5527", "1190 5527"),
        ("my rescue code for the bank is 4QX7-ROM2-9LTB", "4QX7-ROM2-9LTB"),
        ("G-481907 is your verification code.", "481907"),
        ("the code for the back door is 7306, then the hash key", "7306"),
        ("xh --auth=kiosk:'7Qa.tischler' get https://shop.int", "7Qa.tischler"),
        ("lftp -u web12,'krug.Perle7' ftp.example.org", "krug.Perle7"),
        ("export BACKUP_PASSWORD='stein.Krug_garten'", "stein.Krug_garten"),
        ("rocommunity hören4Dach 10.2.0.0/24", "hören4Dach"),
        ("Gib diesen Schlüssel ein: Q4S6 JCWO LTU4 CCWG", "Q4S6 JCWO LTU4 CCWG"),
        ("amber bridge candle desert engine forest\ngarden hollow island jungle kernel ladder\n(my wallet)", "hollow"),
        ('echo -n "vier rote Ziegel am Dach" | cryptsetup luksOpen /dev/sdc1 data -', "vier rote Ziegel am Dach"),
        ("echo 'Stern.taler5brot' | kinit ab@EXAMPLE.ORG", "Stern.taler5brot"),
        ("SQL> CONNECT crm/Linden_Hof7@CRMP", "Linden_Hof7"),
        ("Geo::Client.new('q7RvT2mX9bLpZ4sKd81N')", "q7RvT2mX9bLpZ4sKd81N"),
        (
            'AES.new(bytes.fromhex("9d41c07be2f85a36b0d7e94c13fa628d"), AES.MODE_GCM)',
            "9d41c07be2f85a36b0d7e94c13fa628d",
        ),
    ],
)
def test_a_secret_in_one_more_form_is_masked(text: str, secret: str) -> None:
    assert secret not in Redactor("", frozenset()).mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: z.string().min(12),",
        "PASS tests/password.spec.ts\n  rejects a short password",
        "the code for the retry is in line 4578 of retry.py",
        "community: 4 maintainers",
        "AES(key) and HMAC are in crypto.py",
        "connect app/db@latest",
    ],
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert Redactor("", frozenset()).mask(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("DOB ............ 17 Aug 1961", "17 Aug 1961"),
        ("<Vorname>Tamsyn</Vorname><Name>Quillmoor</Name>", "Tamsyn"),
        ("smart-id: PNOEE-38001085718 session COMPLETE", "38001085718"),
        ('"passport": {"number": "K4F7H2NB1", "country": "DE"}', "K4F7H2NB1"),
        (f"4{'k9PbgAfLQaqkdt7w' * 6}"[:95] + " is my address", "k9PbgAfLQaqkdt7w"),
        (":59:/CH3808888123456789012\nURSINA", "CH3808888123456789012"),
        ("CIE CA41902KX", "CA41902KX"),
        ("EHIC 80276004411093386214", "80276004411093386214"),
        ("https://forms.example.org/p?fname=Tamsyn&lname=Quillmoor", "Quillmoor"),
        ('[["Tamsyn Quillmoor","tamsyn.q@post.example.net"]]', "Tamsyn Quillmoor"),
        ("N:Quillmoor;Tamsyn;;Dr.;\nADR;TYPE=home:;;Rosenweg 5;Coburg", "Quillmoor"),
    ],
)
def test_personal_data_in_one_more_form_is_masked(text: str, value: str) -> None:
    assert value not in Redactor().mask(text)
