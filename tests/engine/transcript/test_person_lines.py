"""In a line with a person's data, names, numbers, dates of birth and towns need no cue of their
own.
"""

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor().mask(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12;Boysen, Anke;Krumme Reihe 8;24944 Flensburg", "24944 Flensburg"),
        ("12;Boysen, Anke;Krumme Reihe 8;24944 Flensburg", "Krumme Reihe 8"),
        ("Gruppe Igel: Anna Berger (*12.11.2014, Nussallergie)", "12.11.2014"),
        ("| Anna Berger | 1977-04-02 |", "1977-04-02"),
        ("KB-772201: Anna Berger, Einzug am Montag", "772201"),
        ("('Naledi', 'Khumo', '+27 82 991 4406')", "Khumo"),
        ("Fenna Hoek (@fhoek-nl), maintainer", "@fhoek-nl"),
        ("Zählernummer 1EMH0007508152 bei Achtermann", "Achtermann"),
        ("Vertragskonto 210044855561 (Achtermann)", "Achtermann"),
        ("IBAN DE89370400440532013000 – H. Achtermann", "H. Achtermann"),
        ("call Anna Berger, 19 Pendle Close", "19 Pendle Close"),
        ("Ich bin Anna Berger aus Mühldorf, geboren 1949", "Mühldorf"),
        ("Fokko Reents\nAm Siel 4, 26427 Esens", "Fokko Reents"),
        ('{"fn": "Ottilie", "ln": "Ramacher", "phone": "+49 431 8872041"}', "Ramacher"),
    ],
)
def test_what_stands_beside_a_person_is_masked(text: str, value: str) -> None:
    assert value not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "REDACTED-name-1 paid 1204.50 on 2024-05-11T10:44:24 for version 10.2.1.4",
        "commit 2201441 touches 26427 Lines and 1,204 Files",
        "| Anna | 2024-04-02 |",
        "the plan for Berlin is 19 View Close",
    ],
)
def test_other_numbers_and_dates_stay(text: str) -> None:
    assert masked(text) == text
