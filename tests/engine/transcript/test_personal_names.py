"""Personal data behind a telling name is masked in whatever notation the two are paired."""

import subprocess
import sys

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor().mask(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("DOB ............ 17 Aug 1961", "17 Aug 1961"),
        ("<Vorname>Tamsyn</Vorname><Name>Quillmoor</Name>", "Tamsyn"),
        ('"passport": {"number": "K4F7H2NB1", "country": "DE"}', "K4F7H2NB1"),
        ("CIE CA41902KX", "CA41902KX"),
        ("EHIC 80276004411093386214", "80276004411093386214"),
        ("https://forms.example.org/p?fname=Tamsyn&lname=Quillmoor", "Quillmoor"),
        ("<td>Geburtsdatum</td><td>17.08.1961</td>", "17.08.1961"),
        ("WARN rejected field=passport_no value=K4F7H2NB1 request=77", "K4F7H2NB1"),
        ("Nachname:\nQuillmoor\n", "Quillmoor"),
        ("id  passport_no\n7   K4F7H2NB1\n", "K4F7H2NB1"),
        ("SELECT id, passport_no FROM guests;\n7|K4F7H2NB1\n", "K4F7H2NB1"),
        ('<dlnum state="FL">Q418-552-61</dlnum>', "Q418-552-61"),
        ('{aba: "071000288"}', "071000288"),
        ("osobni identifikacijski broj: 44675569714", "44675569714"),
        ("基礎年金番号：1234-567890", "1234-567890"),
        ("номер машины: А123ВС77", "А123ВС77"),
        ("Kreditkarte 4929 0000 0000 6784", "4929 0000 0000 6784"),
        ("PNR QZKWRT for two", "QZKWRT"),
        ('"instagram": "tamsyn.q"', "tamsyn.q"),
        ("el móvil de mi madre es 611 204 885", "611 204 885"),
        ('{"name": "Tamsyn Quillmoor", "passport_no": "K4F7H2NB1", "age": 63}', "63"),
    ],
)
def test_a_value_behind_its_name_is_masked(text: str, value: str) -> None:
    assert value not in masked(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ssn=536-90-4399&lastName=quillmoor", "quillmoor"),
        ("POST /p?lastName=quillmoor&zip=1", "quillmoor"),
        ("street=17+Old+Mill+Rd&zip=83709", "17+Old+Mill+Rd"),
        ("last_name=Qu%C3%ADllmoor&x=1", "Qu%C3%ADllmoor"),
    ],
)
def test_what_people_type_into_a_form_is_masked(text: str, value: str) -> None:
    assert value not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "last_name=last_name, first_name=given",
        "age: 4 days\nname: build",
        "sum = a+b&mask",
        "github: owner/repository",
        "sn = 12 and sin(0.5) = 0.479425538604203",
        "console.log(account)\n42",
        "-rw-r--r--  1 root  staff  208941056 Jun 19 08:46 sessions.db",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert masked(text) == text


def test_the_patterns_of_thousands_of_names_are_made_when_a_text_needs_them() -> None:
    code = (
        "import re, sys\n"
        "compiled = []\n"
        "compile_pattern = re._compiler.compile\n"
        "re._compiler.compile = lambda *a: compiled.append(a) or compile_pattern(*a)\n"
        "import workbench.engine.transcript.personal_names\n"
        "sys.exit(len(compiled) > 1_000)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
