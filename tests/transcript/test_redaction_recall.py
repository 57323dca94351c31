"""Of credentials of sixty kinds nearly all are masked, and of sixty kinds of texts that look like them nearly none."""

import pytest
from transcript.planted import HARMLESS, SECRETS, planted

from profiles import examples
from workbench.transcript.redaction import Redactor

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
