from workbench.base.palette import looks


def test_a_shipped_strategy_keeps_its_look_whatever_stands_beside_it() -> None:
    assert (
        looks(["zeta", "summarize", "alpha"])["summarize"]
        == looks(["summarize"])["summarize"]
        == ("#0072b2", "o")
    )


def test_two_strategies_never_look_the_same() -> None:
    names = ["truncate", "summarize", "pipeline", *(f"own_{i}" for i in range(8))]
    found = looks(names)
    assert len({(look.colour, look.mark) for look in found.values()}) == len(names)
