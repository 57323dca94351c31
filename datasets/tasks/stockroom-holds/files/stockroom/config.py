"""Settings, from defaults and an optional JSON file."""

import json
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Config:
    hold_minutes: int = 45
    sweep_batch: int = 200
    warehouses: tuple = ("graz", "linz", "ulm")
    low_stock: int = 12
    vat_percent: int = 20
    free_shipping_cents: int = 7500


def load(path=None):
    if path is None or not Path(path).exists():
        return Config()
    known = {f.name for f in fields(Config)}
    given = json.loads(Path(path).read_text("utf-8"))
    unknown = set(given) - known
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    if "warehouses" in given:
        given["warehouses"] = tuple(given["warehouses"])
    return Config(**given)
