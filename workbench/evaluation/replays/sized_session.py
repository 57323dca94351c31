"""A session as an evaluation reads it: counted, without reports that cannot be true, on its
provider's scale.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.errors import SettingError
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sizing import Sizing


@dataclass(frozen=True, slots=True)
class SizedSession:
    """A session with its sizes.

    Attributes:
        session: without reports that cannot be true.
        left_out: these, a sentence each.
        sizing: the sizes of its messages.
    """

    session: Session
    left_out: tuple[str, ...]
    sizing: Sizing

    @classmethod
    def of(cls, session: Session) -> SizedSession:
        """Count a session, check what it reports, and calibrate it.

        Raises:
            SettingError: it is no session.
        """
        if not isinstance(session, Session):
            raise SettingError(
                f"session is {session!r:.80}; a session, such as wb.load gives, would be accepted"
            )
        counter = TiktokenCounter()
        sizes = counter.sizes(session.messages)
        checked = checked_reports(session, sizes, counter)
        sizing = Sizing.of(checked.session, sizes, counter)
        return cls(checked.session, tuple(checked.left_out), sizing)
