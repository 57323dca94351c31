"""The engine inside an agent's loop, where a model may be given by its name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from workbench.compaction.live.compactor import AS_IT_IS, NO_HOOKS, WINDOW
from workbench.compaction.live.compactor import Compactor as Engine
from workbench.compaction.live.events import Event
from workbench.compaction.live.hooks import Hooks
from workbench.compaction.live.reading import Shape
from workbench.compaction.live.settings import Settings
from workbench.compaction.strategy import Preset
from workbench.models import find_model
from workbench.models.model import Model
from workbench.transcript.message import Json
from workbench.transcript.tokens import TokenCounter


class Compactor(Engine):
    """Keeps an agent's context within its window, over plain messages in OpenAI's chat or Anthropic's shape.

    The agent hands over its whole list of messages before each request and sends what comes back. Its list is never
    changed and is kept whole here: `original` gives it back, and going back in it undoes what was compacted since. The
    list should grow by appending, with dicts that are not changed once they were handed over.

    Attributes:
        preset: how to compact.
        events: all that happened, in order.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        model: Model | str | None = None,
        window: int = WINDOW,
        settings: Settings | Callable[[], Settings] = AS_IT_IS,
        hooks: Hooks = NO_HOOKS,
        on_event: Callable[[Event], None] | None = None,
        count: TokenCounter | None = None,
        format: Shape | None = None,
        pins: Callable[[Mapping[str, Json]], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A compactor for one conversation.

        Args:
            preset: how to compact, or the name of it.
            model: who writes summaries, or the name of it, such as `extractive` or `litellm:gpt-4o-mini`; a preset
                that asks none needs none.
            window: tokens.
            settings: fixed, or a function that is called at each decision.
            hooks: where the host steps in.
            on_event: called with each event as it happens.
            count: tokens of a message; the preset's own counter goes before it.
            format: of the messages; found from them where it is not given.
            pins: says of a message whether it must stay as it is.
            clock: seconds, for learned limits to expire.

        Raises:
            UnknownName: there is no preset, or no model, of that name.
            SettingError: `litellm` without a model's name.
        """
        super().__init__(
            preset,
            model=find_model(model) if isinstance(model, str) else model,
            window=window,
            settings=settings,
            hooks=hooks,
            on_event=on_event,
            count=count,
            format=format,
            pins=pins,
            clock=clock,
        )
