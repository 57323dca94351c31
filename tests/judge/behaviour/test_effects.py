import numpy as np
import pandas as pd
import pytest

from workbench.judge.behaviour.effects import compliances, equivalences


def obeyed(kept: float, sessions: int = 30, seed: int = 4) -> pd.DataFrame:
    """Demands whose effect is .6 of obedience, of which a strategy keeps a part."""
    rng = np.random.default_rng(seed)
    chances = {"whole": 0.9, "without": 0.3, "compacted": 0.3 + 0.6 * kept, "restated": 0.9}
    return pd.DataFrame(
        {
            "session": f"s{i}", "project": f"s{i}", "strategy": "one", "share": 0.1, "at": 10, "test": "compliance",
            "item": f"d{k}", "condition": condition, "obeyed": rng.binomial(2, chance) / 2,
        }
        for i in range(sessions) for k in range(6) for condition, chance in chances.items()
    )  # fmt: skip


def test_the_kept_part_of_an_effect_is_found_within_its_interval() -> None:
    for kept in (0.0, 0.5, 1.0):
        effect = compliances(obeyed(kept))[0].effect
        assert effect is not None and effect.low is not None and effect.high is not None
        assert effect.mean == pytest.approx(kept, abs=0.12) and effect.low <= kept <= effect.high


def test_a_demand_without_an_effect_gives_the_reason_and_no_ratio() -> None:
    table = obeyed(0.5)
    table.loc[table["condition"] == "restated", "obeyed"] = table.loc[
        table["condition"] == "without", "obeyed"
    ].to_numpy()[::-1]
    found = compliances(table)[0]
    assert found.effect is None and "too little" in found.why


def test_without_answers_there_is_nothing_to_say() -> None:
    empty = obeyed(0.5).iloc[:0]
    assert compliances(empty) == [] and equivalences(empty) == []
