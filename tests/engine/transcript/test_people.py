"""A name of a person is masked where something says that it is one, and titles of other things
stay.
"""

import pytest

from workbench.engine.transcript.redaction import Redactor

NAME = "Tamsyn Quillmoor"


@pytest.mark.parametrize(
    "text",
    [
        f"my name is {NAME} and I lost my phone",
        f"Ich heiße {NAME}.",
        f"je m'appelle {NAME}, bonjour",
        f"меня зовут {NAME}",
        f"please ask Mrs. {NAME} first",
        f"Sehr geehrte Frau {NAME},\n",
        f"Dear {NAME},\nit works",
        f"it works\n\nBest regards,\n{NAME}\n",
        f"> Viele Grüße\n> {NAME}\n",
        f"I spoke with {NAME} today",
        f"a letter to {NAME}, please",
        f"Assigned to: {NAME}\n",
        f'{{"name": "{NAME}", "email": "t@shop.invalid"}}',
        f"full_name,plan\n{NAME},free\n",
        f"@author {NAME}\n",
        f"1f2e3d4c ({NAME} 2024-05-17 14:20:11 +0200 7) x",
        "patient: 王小明",
    ],
)
def test_a_person_is_masked(text: str) -> None:
    masked = Redactor().mask(text)
    assert NAME not in masked and "王小明" not in masked


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Build Project", "command": "make"}',
        '{"name": "Forest Guardian", "health": 20}',
        "the report from Claude Code is ready",
        "reviewed by GitHub Copilot and merged",
        "Thanks,\nThe export works now",
        "Hello World, this is a test",
        "Author: Open Source Team",
        "this is React Native",
    ],
)
def test_what_only_looks_like_a_person_stays(text: str) -> None:
    assert Redactor().mask(text) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("notes of the call\nthen Siobhan Quillmoor explained it", "Siobhan Quillmoor"),
        ("can you remind Anneliese about Sunday?", "Anneliese"),
        ("my wife Ottla is away", "Ottla"),
        ("Ikaiko Thornecliff, IBAN DE89 3704 0044 0532 0130 00", "Ikaiko Thornecliff"),
        ("meine Tochter Gesina kommt", "Gesina"),
    ],
)
def test_a_given_name_or_what_stands_beside_gives_a_person_away(text: str, name: str) -> None:
    assert name not in Redactor().mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "Claude Code, Ruby Gem and Jenkins Pipeline",
        "Maria DB and Victor Mono, from Spring Boot to Phoenix Adapter",
        "Trace Evaluation for Rich Tapestry with Max Tokens",
        "Home Affairs and Forest Guardian wait",
    ],
)
def test_names_of_products_stay(text: str) -> None:
    assert Redactor().mask(text) == text
