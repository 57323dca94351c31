"""What stands of the compactions when a host goes back."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.live.checkpoint import Checkpoint
from workbench.live.formats.shape import HostMessage, has_question
from workbench.live.formats.table import MessageFormat
from workbench.live.identity import Additions


@dataclass(frozen=True, slots=True)
class WayBack:
    """How a host goes back.

    Attributes:
        old_path: its messages until now.
        heard_count: how many of them are the same.
        new: what follows now.
        shorter: the first of these, where it is what was the newest message without what the host
            had added to it.
    """

    old_path: Sequence[HostMessage]
    heard_count: int
    new: Sequence[HostMessage]
    shorter: Sequence[HostMessage]

    @property
    def path(self) -> list[HostMessage]:
        """The messages that it goes back to."""
        same = self.old_path[: self.heard_count]
        return [*same, *self.shorter]

    def standing(self, checkpoints: Sequence[Checkpoint], additions: Additions) -> list[Checkpoint]:
        """The checkpoints that cover none of the later messages."""
        path = self.path
        covered = len(path)
        if self._loses_only_addition(additions):
            covered = len(self.old_path)
        standing: list[Checkpoint] = []
        for checkpoint in checkpoints:
            if checkpoint.covers <= covered:
                standing.append(checkpoint)
        is_at_end = len(self.new) == len(self.shorter)
        while is_at_end and standing[-1].hides_result_at_end(path):
            standing.pop()
        return standing

    def on_path(self, checkpoints: Sequence[Checkpoint], format: MessageFormat) -> list[Checkpoint]:
        """These checkpoints on the path that it goes back to."""
        path = self.path
        has_later_question = has_question(self.new)
        moved: list[Checkpoint] = []
        for checkpoint in checkpoints:
            moved_checkpoint = checkpoint.on(path, self.old_path, has_later_question, format)
            moved.append(moved_checkpoint)
        return moved

    def _loses_only_addition(self, additions: Additions) -> bool:
        """Whether nothing is gone but a message that the host had added behind the others."""
        if len(self.old_path) != self.heard_count + 1:
            return False
        if has_question(self.new[:1]):
            return False
        lost_message = self.old_path[self.heard_count]
        return additions.is_behind(lost_message.record)
