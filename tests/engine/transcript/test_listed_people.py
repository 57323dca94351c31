"""Names of people are masked by lists of given names and surnames, and names of things stay."""

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor("", frozenset({"name"})).mask(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("we gave it to Torgeir Aasen on Friday", "Torgeir"),
        ("then Jarle Petrauskas called back", "Petrauskas"),
        ("the figures of K. Djurić are wrong", "Djurić"),
        ("cc M.-L. Sauerbier on this", "Sauerbier"),
        ("all of it, thanks, Bronwen", "Bronwen"),
        ("Zeuge Fokko Reents sah nichts", "Reents"),
        ("das Ehepaar Sulejmani zieht aus", "Sulejmani"),
        ("frag mal torben oder jule", "torben"),
        ("Mandy hat am Montag frei", "Mandy"),
        ("Meeting w/ Anneliese at noon", "Anneliese"),
        ("ring Ruaridh on 07911 842 336", "Ruaridh"),
        ("{first: 'Xolani', last: 'Mthembu'}", "Mthembu"),
        ("陈晓明 <chen@example.cn> wrote", "陈晓明"),
    ],
)
def test_a_name_is_masked(text: str, name: str) -> None:
    assert name not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Claude Code runs Visual Studio on Red Hat Linux",
        "Rebase Hooks and Edge Cases of Cloudflare Pages",
        "Fly to Los Angeles, then write Haskell",
        "Step A. Result of B. Options",
        "Reset Hooks, Executing Gates, Relevant Lines",
        "see Best Practices",
        "the call from A.B to B.A.f is lost, set to N. What could it be",
    ],
)
def test_the_name_of_a_thing_stays(text: str) -> None:
    assert masked(text) == text
