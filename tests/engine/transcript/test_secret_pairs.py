"""The value of a telling name is masked in whatever notation the two are paired."""

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor("", frozenset()).mask(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('["MAIL_USER=post", "MAIL_PASSWORD=ufer&Mole", "TZ=UTC"]', "ufer&Mole"),
        ("Driver=x;Server=y;Pwd={Steg;9mole}", "Steg;9mole"),
        ('db.Open("Host=h;Password=Fels.Kante;Timeout=4")', "Fels.Kante"),
        ("token = cfg['API_TOKEN'] ?? '77aa88bb99cc'", "77aa88bb99cc"),
        ("ALTER LOGIN app WITH PASSWORD = N'Kork#Eiche7'", "Kork#Eiche7"),
        ("set snmp view all user probe auth-password Fichte_Ast41", "Fichte_Ast41"),
        ('<ns:Password Kind="plain text of v1">Moor.Huhn12</ns:Password>', "Moor.Huhn12"),
        ("wpa3-pre-shared-key=ginster-tal-busch", "ginster-tal-busch"),
        ("guest_wifi_password: 'Drei Nasse Enten 7'", "Drei Nasse Enten 7"),
        ("zigbee_key: 17, 201, 90, 4, 55, 61, 128, 9, 77, 3", "201, 90, 4"),
        ("passwordsaltsite = 'Qk3vZt81LmXw0Rb5'", "Qk3vZt81LmXw0Rb5"),
        ("hasło: Topola.nad.rzeka5", "Topola.nad.rzeka5"),
        ("<password><![CDATA[Heu&Stroh5]]></password>", "Heu&Stroh5"),
        ("| user | pass |\n|---|---|\n| ina | Salz.Brot6 |", "Salz.Brot6"),
        ("PASS=Igel1234 ./run.sh", "Igel1234"),
        ("UPDATE t SET pass='Mohn&Kuchen3' WHERE id=3", "Mohn&Kuchen3"),
        ("auth: {type: basic, user: x, secret: Kork.Zieher9}", "Kork.Zieher9"),
        ("mdp: Pomme2Terre", "Pomme2Terre"),
        ("pass: ljms-hsre-wwxv-orvk", "ljms-hsre-wwxv-orvk"),
        ("app.password = blauer-vogel-singt-laut", "blauer-vogel-singt-laut"),
        ("erl -setcookie OHRXRCABOSYBUCUJZYPK", "OHRXRCABOSYBUCUJZYPK"),
        ("Datenbankpasswort=Kreide7Fels", "Kreide7Fels"),
        ("export BACKUP_PASSWORD='stein.Krug_garten'", "stein.Krug_garten"),
        ("meter key - 77b09d41c07be2f85a36b0d7e94c13fa", "77b09d41c07be2f8"),
        ("host  password\ndb1   Kreide7Fels\n", "Kreide7Fels"),
        ('name = "/stage/imap/password"\n  value = "Erle-4" -> "Birke-5"', "Birke-5"),
    ],
)
def test_a_value_is_masked(text: str, secret: str) -> None:
    assert secret not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: [REDACTED]",
        "secret=<hidden>",
        (
            "kind: SealedSecret\nspec:\n  encryptedData:\n    password:"
            " AgBX81hmQ0zP5rT7uW9yB2dF4gH6jK8m\n"
        ),
        "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
        'resource "random_password" "main" {',
        "games:*:19110:0:99999:7:::",
        "password_hint: 'Use 8 or more characters'",
        'random.seed("Experiment2024Run")',
    ],
)
def test_what_holds_no_secret_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (
            "MAPTILER_TOKEN   0f3c91be77a245d8b1c6e0d294ab73f5   (prod)",
            "0f3c91be77a245d8b1c6e0d294ab73f5",
        ),
        ("LicenceKey 8QpXz03_LmWvT19RkBdE2nYcHsUa", "8QpXz03_LmWvT19RkBdE2nYcHsUa"),
        ("crypt --passphrase 'Drei Hasen im Klee' -d a.gpg", "Drei Hasen im Klee"),
        ('crypt --passphrase "Vier.Wolken.am.Berg" -d a.gpg', "Vier.Wolken.am.Berg"),
        (
            '"securityKeys": {"S2_A": "3C9AE07715BD42F86D10A9C4E2B75F38"}',
            "3C9AE07715BD42F86D10A9C4E2B75F38",
        ),
        (
            'const aesKey = []byte("Wq3nLx71RtYz08KvBdHs5mPcJg2fAeUo")',
            "Wq3nLx71RtYz08KvBdHs5mPcJg2fAeUo",
        ),
        ("PROXY_SECRET: kdrtplwqzmne4t7", "kdrtplwqzmne4t7"),
    ],
)
def test_names_of_any_strength_and_notation_have_values(text: str, secret: str) -> None:
    assert secret not in masked(text)
