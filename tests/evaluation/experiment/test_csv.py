"""Text of a recording stays text also in a spreadsheet."""

from io import StringIO

import pandas as pd

from workbench.evaluation.experiment.exports import csv_text


def test_what_a_spreadsheet_would_compute_gets_an_apostrophe_and_the_rest_stays() -> None:
    said = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "a = b", "", None]
    table = pd.DataFrame({"said": pd.array(said, dtype="string"), "saved": [-0.5] * len(said)})
    found = pd.read_csv(StringIO(csv_text(table)), keep_default_na=False)
    assert list(found["said"]) == [*(f"'{one}" for one in said[:5]), "a = b", "", ""]
    assert list(found["saved"]) == [-0.5] * len(said)


def test_what_would_steer_a_terminal_is_made_visible() -> None:
    hostile = "bad\x1b[31m\x1b]0;pwn\x07\x9b2J\u202e"
    table = pd.DataFrame(
        {"path": pd.array([hostile, "two\nlines"], dtype="string"), hostile: [1, 2]}
    )
    text = csv_text(table)
    assert (
        not set(text) & set("\x1b\x07\x9b\u202e")
        and text.count("pwn") == 2
        and '"two\nlines"' in text
    )
