"""Of credentials and personal data nearly all are masked, and of texts that look like them
nearly none.
"""

import pytest
from engine.transcript import by_faker
from engine.transcript.planted import (
    HARMLESS,
    IMPERSONAL,
    KINDS,
    PERSONAL,
    SECRETS,
    personal_of,
    planted,
    recall_and_precision,
)

import workbench as wb
from profiles import examples
from workbench import SettingError
from workbench.engine.transcript.redaction import Redactor

COUNT = examples(200)


def masked(text: str, value: str) -> bool:
    return value not in Redactor("test").mask(text)


@pytest.mark.parametrize("kind", SECRETS)
def test_a_planted_credential_is_masked(kind: str) -> None:
    found = [masked(*one) for one in planted(SECRETS, kind, COUNT)]
    assert sum(found) >= 0.98 * COUNT, f"{found.count(False)} of {COUNT} are left"


@pytest.mark.parametrize("kind", HARMLESS)
def test_a_harmless_text_stays(kind: str) -> None:
    found = [masked(*one) for one in planted(HARMLESS, kind, COUNT)]
    assert sum(found) <= 0.05 * COUNT, f"{found.count(True)} of {COUNT} are masked"


def test_the_kinds_of_personal_data_are_those_that_a_user_may_leave_unmasked() -> None:
    known = ", ".join(sorted(KINDS))
    with pytest.raises(SettingError, match=rf"there is no kind 'hat'; there are {known}\.?$"):
        wb.compare(unmasked=("hat",))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_personal_data_is_masked_and_what_looks_like_it_stays(kind: str) -> None:
    recall, precision = recall_and_precision(kind, COUNT)
    assert recall >= 0.98 and precision >= 0.95


LEAST = {"card": 0.9, "phone": 0.6}
"""Of what faker makes: cards of no issuer, and national telephone numbers that nothing names."""


@pytest.mark.parametrize("kind", by_faker.PERSONAL)
def test_personal_data_that_another_program_makes_is_masked_too(kind: str) -> None:
    unnamed, named = by_faker.recalls(kind, 5 * COUNT)
    assert unnamed >= LEAST.get(kind, 0.98) and named >= (0.9 if kind == "card" else 0.98)
    assert by_faker.wrongly(kind, COUNT) <= 0.01


@pytest.mark.parametrize("kind", IMPERSONAL)
def test_what_only_looks_personal_stays(kind: str) -> None:
    assert not any(masked(*one) for one in planted(IMPERSONAL, kind, COUNT))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_that_is_switched_off_stays(kind: str) -> None:
    for name in personal_of(kind):
        for text, value in planted(PERSONAL, name, 3):
            assert value in Redactor("test", KINDS - {kind}).mask(text)


def test_a_decorator_behind_a_line_is_no_address() -> None:
    assert Redactor().mask("import pytest\n@pytest.fixture") == "import pytest\n@pytest.fixture"
