"""Secrets in commands, calls and tokens with the sign of a service are masked."""

import pytest

from workbench.engine.transcript.redaction import Redactor

DRAWN = "k8Zt2vQ0xLr7Wb4nYc9pJd3s"


def masked(text: str) -> str:
    return Redactor("", frozenset()).mask(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f'headers = {{"x-meter-team": "qmtik_{DRAWN}"}}', DRAWN),
        (f"$ pkgtool login {DRAWN}\nsaved\n", DRAWN),
        (f'api = photos.OAuth2Client("shop-web", "{DRAWN}")', DRAWN),
        ("signer = hmac.new(b'Lotse-41-Hafen', body, sha256)", "Lotse-41-Hafen"),
        ("echo 'Wind.4.Rad' > ops/.vault_pass", "Wind.4.Rad"),
        ("cloudtool secrets create db --secret-string 'Rad.5.Wind'", "Rad.5.Wind"),
        ("openssl aes-256-cbc -d -K 00ff13aa77cc2211889955ee44bb6622 -iv 00", "13aa77cc2211"),
        ("snmpget -v3 -u probe -A 'Esche.41.Ast' -X 'Ulme.52.Laub' sw1", "Ulme.52.Laub"),
        ("admin / Kiesel!Stein9", "Kiesel!Stein9"),
        ("radtest eva 'Mirabellen77' 10.0.0.5 0 r4dius_Kranz", "Mirabellen77"),
        ("radtest eva 'Mirabellen77' 10.0.0.5 0 r4dius_Kranz", "r4dius_Kranz"),
        ("snmp-server user mon grp v3 auth sha t8h8y1wxocbk priv aes 128 x", "t8h8y1wxocbk"),
        ("dbshell -u eva -h db1 -p Moor_Huhn12 list", "Moor_Huhn12"),
        ("CLIENT_RANDOM " + "ab12" * 16 + " " + "cd34" * 24, "cd34" * 24),
        (
            "https://calendar.example.org/ical/eva/private-a48073f30588b18da5381d8be7259150/basic.ics",
            "a48073f305",
        ),
        ("xh --auth=kiosk:'7Qa.tischler' get https://shop.int", "7Qa.tischler"),
        ("lftp -u web12,'krug.Perle7' ftp.example.org", "krug.Perle7"),
        ("rocommunity hören4Dach 10.2.0.0/24", "hören4Dach"),
        (
            'echo -n "vier rote Ziegel am Dach" | cryptsetup luksOpen /dev/sdc1 data -',
            "vier rote Ziegel am Dach",
        ),
        ("echo 'Stern.taler5brot' | kinit ab@EXAMPLE.ORG", "Stern.taler5brot"),
        ("SQL> CONNECT crm/Linden_Hof7@CRMP", "Linden_Hof7"),
        (
            'AES.new(bytes.fromhex("9d41c07be2f85a36b0d7e94c13fa628d"), AES.MODE_GCM)',
            "9d41c07be2f85a36b0d7e94c13fa628d",
        ),
        ("logged in as tove with Nebel.Horn77 and saw it", "Nebel.Horn77"),
        ("mosquitto_sub -u sensor -P Lampe.im.OG -t x", "Lampe.im.OG"),
        ("net use \\\\files\\scan /user:LAN\\scan Kalk.Stein31", "Kalk.Stein31"),
        ("SSID Nest, key KuckucksUhr12", "KuckucksUhr12"),
        ("passphrase: apfel birne traube nuss", "apfel birne"),
        ("licence key: 4F7K2-9QW3E-RT5YU-8IO1P-ZX6CV", "9QW3E-RT5YU"),
        ("I changed it to Hummel_Flug.4 yesterday", "Hummel_Flug.4"),
        ('t.expect("Password:")\nt.sendline("Efeu?Wand6")', "Efeu?Wand6"),
    ],
)
def test_a_secret_is_masked(text: str, secret: str) -> None:
    assert secret not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        f'{{"id": "toolu_{DRAWN}", "type": "tool_use"}}',
        f"session ses_{DRAWN} of msg_{DRAWN}",
        f"pk_live_{DRAWN}{DRAWN}",
        "root:/usr/bin/python3.11/Lib2",
        "New test: `TestClientRetriesOn403Once`",
        "passphrase: the words of the file for you",
        "I changed it to node_modules yesterday",
        "echo 'ssh-ed25519 AAAA' > id_key.pub",
    ],
)
def test_the_name_of_a_thing_stays(text: str) -> None:
    assert masked(text) == text
