"""A strategy with a prompt of one's own: a variant for each file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import SettingError
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.compaction.variant import variant
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.evaluation.experiment.filler import is_asked

ASKS = "asks"
"""The setting that takes a prompt's text."""


@dataclass(frozen=True, slots=True)
class PromptVariants:
    """A strategy under the prompt in use and under new ones.

    Attributes:
        baseline: with the prompt in use.
        candidates: with each new one.
    """

    baseline: Preset
    candidates: tuple[Preset, ...]

    @classmethod
    def of(cls, strategy: str, prompts: Sequence[Path], in_use: Path | None) -> "PromptVariants":
        """The variants of a strategy.

        Args:
            strategy: its name.
            prompts: files with new prompts.
            in_use: a file with the one in use; None for the strategy's own.

        Raises:
            SettingError: a file is empty or cannot be read, two have the same name, or the strategy
                asks no model.
        """
        files = list(prompts)
        if in_use is not None:
            files.append(in_use)
        names = [file.stem for file in files]
        for name in names:
            if names.count(name) > 1:
                raise SettingError(f"two prompts are named {name}; rename one of the files")
        baseline = preset(strategy)
        if in_use is not None:
            baseline = with_prompt(strategy, in_use)
        return cls(baseline, tuple([with_prompt(strategy, file) for file in prompts]))

    @property
    def pairing(self) -> dict[str, str]:
        """The baseline's name for each candidate's."""
        return {candidate.name: self.baseline.name for candidate in self.candidates}


def with_prompt(strategy: str, file: Path) -> Preset:
    """The strategy with the prompt of a file, under a name that says so."""
    text = _prompt_of(file)
    return variant(preset(strategy), {ASKS: text}, f"{strategy} prompt={file.stem}")


def _prompt_of(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise SettingError(f"the prompt {file} cannot be read: {error}") from None
    if not text:
        raise SettingError(f"the prompt {file} is empty")
    return text


def check_reads_prompts(models: Sequence[str | Model]) -> None:
    """Refuse models that read no prompt.

    Raises:
        SettingError: there is not exactly one model, or it is none that is asked.
    """
    if len(models) != 1 or not is_asked(find_model(models[0])):
        raise SettingError(
            "prompts are compared with one model that reads them; name it with --model, such as"
            " litellm:NAME or 'command:claude -p'"
        )
