"""Names, numbers and places of people are masked in many languages and notations."""

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor("").mask(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Podpisała Halina Modrzewska-Kruk wczoraj.", "Halina Modrzewska-Kruk"),
        ("Попросите у Тамары Белобородовой копию", "Тамары Белобородовой"),
        ("Viktor Drahokoupilovou nezná, ale Ludmila Křepelková ano", "Ludmila Křepelková"),
        ("المريض سامي الحداد لديه موعد", "سامي الحداد"),
        ("שלום, מדברת תמר גולדשטיין בקשר להזמנה", "תמר גולדשטיין"),
        ("ผู้แจ้ง: มานะ ศรีสุข", "มานะ ศรีสุข"),
        ("ग्राहक सुरेश पाटिल ने शिकायत की", "सुरेश पाटिल"),
        ("请联系唐文博处理退款", "唐文博"),
        ("担当: 長谷川 拓 (内線11)", "長谷川 拓"),
        ("담당자는 문하린 님이고", "문하린"),
        ("<jmeno>Radka</jmeno><prijmeni>Holubcová</prijmeni>", "Holubcová"),
        ('{"bsn":"1","achternaam":"van Wessem"}', "van Wessem"),
        ("0 @I7@ INDI\n1 NAME Theobald /Rauschenbach/", "Theobald /Rauschenbach/"),
        ("1:1 with Thaddeus Okonjo-Bright (his home)", "Thaddeus Okonjo-Bright"),
        (
            "INSERT INTO u VALUES (3,'Ferdinand','Quellmalz','fq@posthorn.de','1981-05-02');",
            "Quellmalz",
        ),
        ("@@ -3 +3 @@\n-Radomir Vuković,+381645550173\n+", "Radomir Vuković"),
    ],
)
def test_a_name_is_masked(text: str, name: str) -> None:
    assert name not in masked(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Pt Walter Hempstead, 74 y/o, came in", "74 y/o"),
        ("Mein Sohn Konrad (9 Jahre) liest", "9 Jahre"),
        ("rodné č. 835407/1129 pojištěnec", "835407/1129"),
        ("ITIN on the form: 947-81-3350", "947-81-3350"),
        ("เลขบัตรประชาชน 3-5507-28164-03-7", "3-5507-28164-03-7"),
        ("BDAY;VALUE=date:19690317", "19690317"),
        ("生年月日：昭和49年2月8日", "昭和49年2月8日"),
        ('"FaceId":"5d1be7a0-3f62-4c9e-8a17-90c4b2e6d751"', "5d1be7a0-3f62-4c9e-8a17-90c4b2e6d751"),
        ("home_geohash=u33dc0q7k", "u33dc0q7k"),
        ("plus code 8FVC9G8F+6X", "8FVC9G8F+6X"),
        ("Treffpunkt: ///birne.laterne.ufer", "birne.laterne.ufer"),
        ('{"latitudeE7":477312905}', "477312905"),
        ("discord: igelfreund#2093", "igelfreund#2093"),
        ("KONTOR\\bnissen logged on (type 10)", "bnissen"),
        ("reach me: k.rehbein (at) postkarte (dot) de", "k.rehbein"),
        ("@@ -3 +3 @@\n-Radomir Vuković,+381645550173\n+", "+381645550173"),
    ],
)
def test_what_a_person_has_is_masked(text: str, value: str) -> None:
    assert value not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "the build is 3 years old and 12 years of logs are kept",
        "see docs/2024/01 and 20/12 of them",
        "Rescue Mode and Task Queue are done",
        'C:\\Temp\\build logged to file and "NT\\System32"',
        "plus code review, what a discord: none",
        "Zażółć Gęślą: the test string of encodings",
    ],
)
def test_what_is_of_no_person_stays(text: str) -> None:
    assert masked(text) == text
