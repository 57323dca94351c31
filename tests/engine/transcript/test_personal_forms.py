"""Personal data in records, links and lines whose form says what stands where."""

import pytest

from workbench.engine.transcript.redaction import Redactor


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P<UTOQUILLMOOR<<TAMSYN<ODE<<<<<<<<<<<<<<<<<<", "QUILLMOOR"),
        ("smart-id: PNOEE-38001085718 session COMPLETE", "38001085718"),
        ("паспорт серия 47 21 номер 552801", "552801"),
        ("| HKID |\n|---|\n| K482913(7) |", "K482913(7)"),
        ("N:Quillmoor;Tamsyn;;;\nBDAY:19770203", "Quillmoor"),
        ("passenger: Quillmoor/Tamsyn, seat 4C", "Quillmoor/Tamsyn"),
        ("Tamsyn Quillmoor, 48 years old, asks", "Tamsyn Quillmoor"),
        ("* 7f3a91c Tamsyn Quillmoor: fix the sum", "Tamsyn Quillmoor"),
        ("%B4929000000006785^QUILLMOOR/TAMSYN^2809201?", "4929000000006785"),
        ("<tamsyn_q> my number changed", "tamsyn_q"),
        ("last login: tquill from 10.0.0.7", "tquill"),
        (":59:/CH3808888123456789012\nURSINA", "CH3808888123456789012"),
        ('[["Tamsyn Quillmoor","tamsyn.q@post.example.net"]]', "Tamsyn Quillmoor"),
        ("N:Quillmoor;Tamsyn;;Dr.;\nADR;TYPE=home:;;Rosenweg 5;Coburg", "Quillmoor"),
        (f"4{'k9PbgAfLQaqkdt7w' * 6}"[:95] + " is my address", "k9PbgAfLQaqkdt7w"),
        ("SSR DOCS BA HK1/P/UTO/718203344/UTO/02FEB77/F/11NOV31/QUILLMOOR/TAMSYN", "718203344"),
        ("NM1*QC*1*QUILLMOOR*TAMSYN****MI*4QX7000212~", "QUILLMOOR"),
        ('"name": [{"family": "Quillmoor", "given": ["Tamsyn"]}]', "Quillmoor"),
        ("dn: cn=Tamsyn Quillmoor,ou=staff,dc=example,dc=org", "Tamsyn Quillmoor"),
        ('ATTENDEE;CN="Tamsyn Quillmoor":mailto:x@example.org', "Tamsyn"),
        ("my page is instagram.com/tamsyn.quillmoor", "tamsyn.quillmoor"),
        ("pay to tamsynq@ybl please", "tamsynq@ybl"),
        ("connected: Tamsyns-iPhone", "Tamsyns-iPhone"),
        ("j'habite à Paimpol depuis mai", "Paimpol"),
        ("[09:14] Tamsyn Quillmoor: done", "Tamsyn Quillmoor"),
        ("/Volumes/Backup/Users/tquill/notes.txt", "tquill"),
    ],
)
def test_a_value_that_its_form_gives_away_is_masked(text: str, value: str) -> None:
    assert value not in Redactor().mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "git diff <<<<<<< HEAD",
        "follow us at instagram.com/explore and t.me/share",
        "CN=GTS CA 1C3, O=Google Trust Services LLC",
        "Booking service v2: started",
    ],
)
def test_what_is_nobodys_stays(text: str) -> None:
    assert Redactor().mask(text) == text
