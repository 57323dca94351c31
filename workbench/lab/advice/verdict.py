"""What a search comes to, in words: use another strategy, stay, or that it makes no difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from workbench.base.formats import joined, missing, some
from workbench.evaluation.analysis.paired import FEWEST, Estimate
from workbench.evaluation.analysis.summary_writers import WITHOUT_A_MODEL
from workbench.evaluation.analysis.trade import Choice
from workbench.evaluation.metrics import NAMES, WORK
from workbench.lab.advice.advice import TODAY, UNCOMPACTED, Bill, Outcome
from workbench.lab.advice.measured import Measurements
from workbench.lab.advice.search import Finals, Outside

BY_NAMES = (
    "What is kept is judged by names: exact things, such as paths and numbers, that the agent used"
    " again later. Questions about its work would say more:"
)
BY_WORK = "What is kept is judged by questions about the work:"
MODE = "natural"
"""Candidates are compared on their own triggers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to use.

    Attributes:
        outcome: in a word or two.
        advised: the name of the candidate to use.
        sentence: the verdict in words.
    """

    outcome: Outcome
    advised: str
    sentence: str


@dataclass(frozen=True, slots=True)
class DefaultComparison:
    """The choice of a search against the candidate that is in use.

    Attributes:
        default: the name of the candidate that is in use.
        margin: points below which nobody would notice a difference.
        saved: by candidate the share of the bill that it saves.
        is_in_use: whether the default is in use; else it is only what the others are compared
            with.
        unit: what the choice is tried on unseen: `project`, or `session` where all are of one
            project.
        bill: that savings are shares of.
    """

    default: str
    margin: float
    saved: Mapping[str, float]
    is_in_use: bool = True
    unit: str = "project"
    bill: Bill = UNCOMPACTED

    def verdict(
        self,
        measured: Measurements,
        finals: Finals,
        outside: Outside,
    ) -> Verdict:
        """The verdict on the last round and on what its choice gained on projects that it had
        not seen.
        """
        picked = finals.choice
        if picked is None:
            sentence = f"Stay with {self.default}: {_no_figure(measured)}"
            return Verdict("no figure", self.default, sentence)
        project_count = finals.points.shape[0]
        no_winner = self._no_winner(measured, picked, [self.default], project_count)
        if no_winner:
            return Verdict("no winner", self.default, f"{no_winner} Stay with {self.default}.")
        if picked.use == self.default:
            return self._stay(picked)
        verdict = self._against_default(picked, outside)
        other_names = [name for name in picked.others if name != self.default]
        rivals_note = self._no_winner(measured, picked, other_names, project_count)
        if rivals_note:
            return replace(verdict, sentence=f"{verdict.sentence} {rivals_note}")
        return verdict

    def _no_winner(
        self,
        measured: Measurements,
        picked: Choice,
        names: Sequence[str],
        project_count: int,
    ) -> str:
        """Why nothing can be said between the choice and some candidates; empty where something
        can.
        """
        rivals = []
        for name in names:
            lead_points = picked.means[picked.use] - picked.means[name]
            lead = lead_points / 100
            if measured.writers.may_be_bias(
                lead, picked.use, name, measured.half, project_count, MODE
            ):
                rivals.append(name)
        level_names = [picked.use, *rivals]
        return measured.writers.no_winner(level_names, measured.half, MODE, project_count)

    def _stay(self, picked: Choice) -> Verdict:
        level = [name for name in picked.level if name != self.default]
        if not level:
            sentence = f"Stay with {self.default}: no candidate came out ahead of it."
            return Verdict("stay", self.default, sentence)
        sentence = self._no_difference([self.default, *level], self.default)
        return Verdict("no difference", self.default, sentence)

    def _against_default(self, picked: Choice, outside: Outside) -> Verdict:
        gain = outside.gain
        if gain is None:
            return self._without_gain(picked)
        measured = gain_words(gain, self.unit)
        if gain.mean <= -self.margin:
            sentence = f"Stay with {self.default}: {measured} with {picked.use}."
            return Verdict("stay", self.default, sentence)
        if gain.mean < self.margin:
            cheapest = self.default
            if gain.mean >= 0:
                cheapest = self._cheapest(picked.use)
            lead = picked.means[picked.use] - picked.means[self.default]
            if lead >= self.margin and not self._is_within_margin(gain):
                return self._not_confirmed(picked.use, lead, cheapest, measured)
            words = self._no_difference([picked.use, self.default], cheapest)
            return Verdict("no difference", cheapest, f"{words[:-1]}; {measured}.")
        doubt = doubt_words(gain, self.unit)
        verb = "Use"
        if doubt:
            verb = "Try"
        sentence = f"{verb} {picked.use} in place of {self.default}: {measured}{doubt}."
        return Verdict("use", picked.use, sentence)

    def _is_within_margin(self, gain: Estimate) -> bool:
        """Whether it is known that a gain is none that anybody would notice."""
        if gain.low is None or gain.high is None:
            return False
        return -self.margin < gain.low and gain.high < self.margin

    def _not_confirmed(
        self,
        candidate: str,
        lead: float,
        cheapest: str,
        measured: str,
    ) -> Verdict:
        """The verdict on a choice whose lead was found again nowhere else.

        Args:
            candidate: that was chosen.
            lead: points over the default on the sessions that the choice was made on.
            cheapest: of the two.
            measured: what the choice gained elsewhere, in words.
        """
        lead_words = (
            f"{candidate} leads by {lead:.1f} points on the sessions that it was chosen on,"
            f" but {measured}"
        )
        if cheapest == self.default:
            sentence = f"Stay with {self.default}: {lead_words}."
            return Verdict("stay", self.default, sentence)
        change = self.bill.change(self.saved[candidate])
        sentence = f"Try {candidate} in place of {self.default}, since it {change}: {lead_words}."
        return Verdict("use", candidate, sentence)

    def _without_gain(self, picked: Choice) -> Verdict:
        """Whether to change where one session alone has a figure: only where nothing is in use."""
        if self.is_in_use:
            sentence = (
                f"Stay with {self.default}: {picked.use} came out ahead, but in one session alone,"
                " so that nothing says what it gains in another."
            )
            return Verdict("stay", self.default, sentence)
        sentence = (
            f"Use {picked.use}: it came out ahead of {self.default}, but in one session alone, so"
            " that nothing says what it gains in another."
        )
        return Verdict("use", picked.use, sentence)

    def _cheapest(self, candidate: str) -> str:
        """The cheaper of the default and another candidate; the default where nothing is priced."""
        default_share = self.saved.get(self.default)
        candidate_share = self.saved.get(candidate)
        if default_share is None or candidate_share is None:
            return self.default
        if missing(default_share) or missing(candidate_share):
            return self.default
        if candidate_share > default_share:
            return candidate
        return self.default

    def _no_difference(self, names: Sequence[str], cheapest: str) -> str:
        """That nobody would notice which of these is used, and which one to take."""
        shares = []
        for name in names:
            is_today = self.bill is TODAY and name == self.default
            if name in self.saved and not is_today:
                shares.append(f"{name} {self.bill.change(self.saved[name])}")
        bill = ""
        if shares:
            bill = f" ({', '.join(shares)})"
        take = f"take the cheapest, {cheapest}"
        if cheapest == self.default:
            take = f"stay with {cheapest}"
        return (
            f"It makes no difference that you would notice between {joined(names)} (less than"
            f" {self.margin:g} points): {take}{bill}."
        )


def gain_words(gain: Estimate, unit: str) -> str:
    """What choosing gained where the choice had not seen it.

    Args:
        gain: points over the default.
        unit: what the gain is a mean of, `project` or `session`.
    """
    verb = "lost" if gain.mean < 0 else "gained"
    points = f"{abs(gain.mean):.1f} points"
    words = f"on {unit}s that the choice had not seen it {verb} {points}"
    if gain.low is not None:
        words += f" (95 % interval {gain.low:+.1f} to {gain.high:+.1f})"
    return words


def doubt_words(gain: Estimate, unit: str) -> str:
    """Why a gain may be none, to be said behind `gain_words`; empty where it is clear of chance."""
    if gain.low is None:
        return f"; with {some(gain.projects, unit)} there is no interval, {FEWEST} would do"
    if gain.low <= 0:
        return "; that may be chance"
    return ""


def _no_figure(measured: Measurements) -> str:
    if measured.pending:
        return "nothing is known before its model has answered."
    is_natural = measured.compactions["mode"] == MODE
    if not is_natural.any():
        return (
            f"no session has a figure, since none fills its window ({measured.window:,} tokens in"
            " most), so that nothing is compacted. Longer sessions would show a difference, or a"
            " smaller --window."
        )
    return (
        "no session has a figure, since too little of what compactions took out is used again."
        " Sessions that go on longer behind a compaction would show a difference."
    )


def opening(measured: Measurements, rows: pd.DataFrame) -> str:
    """What must be said before the verdict: who wrote the summaries, and that only names decide;
    empty if nothing.
    """
    sentences = []
    candidates = rows["candidate"].unique()
    kinds = {measured.writers.text_kind(str(name), MODE) for name in candidates}
    kinds.discard("cut")
    if kinds == {"rule"} and rows["candidate"].nunique() > 1:
        sentences.append(WITHOUT_A_MODEL)
    sessions = rows["session"].nunique()
    has_work = rows[WORK].notna()
    with_work = rows.loc[has_work, "session"].nunique()
    question_counts = (
        f"{with_work} of {some(sessions, 'session')} have some behind the first request that fills"
        " the window"
    )
    command = "`workbench lab exam write SESSIONS --model ...` has a model write them"
    if measured.half == NAMES and rows[NAMES].notna().any():
        sentences.insert(0, f"{BY_NAMES} {question_counts}; {command}.")
    elif measured.half == WORK and with_work < sessions:
        sentences.append(f"{BY_WORK} {question_counts}; {command}.")
    return " ".join(sentences)
