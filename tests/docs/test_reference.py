"""The reference is what the docstrings say now."""

import importlib.util
from pathlib import Path

import workbench as wb

MAKER = Path(__file__).parents[2] / "docs" / "make_reference.py"


def test_it_is_current() -> None:
    spec = importlib.util.spec_from_file_location("make_reference", MAKER)
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    written = maker.PAGE.read_text(encoding="utf-8")
    assert maker.page() == written, "docstrings have changed: run `python docs/make_reference.py`"
    assert all(f"\n## {name}\n" in written for name in wb.__all__ if name != "__version__")
