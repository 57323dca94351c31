"""Generates sessions of any size with planted facts whose later uses are known: for validity
tests and for scale.
"""

import heapq
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal, Self, TypeAlias, get_args

from workbench.base.errors import SettingError
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    counted_text,
)
from workbench.engine.transcript.session import Session
from workbench.recordings.datasets.fact_forms import FORMS, KINDS, FactKind
from workbench.recordings.importers.blocks import text_block

Profile: TypeAlias = Literal["coding", "support", "research"]
Speaker: TypeAlias = Literal["user", "tool", "assistant"]

SAMPLE = 200
"""Messages that are counted in tokens; from them on the size is taken from the characters."""
NEAR = (3, 12)
"""How many messages at least, and less than how many, lie between a fact and its use."""
FAR = (20, 70)
ALL_BUT_LOST = (120, 400)
START = 1_767_225_600.0


_PATH = Path(__file__).with_name("vocabulary.toml")
_FILE = tomllib.loads(_PATH.read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Fact:
    """One planted fact: what it is about, what it says, where it was said, and every later message
    that uses it.

    Attributes:
        about: the words that name it; no two facts of a session share them, but for those that
            replace one another.
        entity: the one piece of information.
        line: the line of the message that says it.
        uses: ids of assistant messages, in order; nothing else in the session mentions the entity.
        replaces: the entity that it makes out of date, or None.
    """

    kind: FactKind
    about: str
    entity: str
    speaker: Speaker
    message: str
    line: str
    uses: tuple[str, ...] = ()
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Generated:
    """A session, and apart from it what was planted in it."""

    session: Session
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How one kind of work sounds; texts hold places to fill, such as `{about}`.

    Attributes:
        tool, argument: the tool that is used, and its one argument.
        place: what the tool is used on.
        places, things, aspects: words that together name a fact.
        says: what the agent says.
        line: what a tool tells.
        asks: what the user asks for.
    """

    tool: str
    argument: str
    place: str
    places: Sequence[str]
    things: Sequence[str]
    aspects: Sequence[str]
    says: Sequence[str]
    line: Sequence[str]
    asks: Sequence[str]

    @classmethod
    def of(cls, profile: Profile) -> Self:
        """The words of one kind of work, see `vocabulary.toml`."""
        return cls(places=_FILE["places"], says=_FILE["says"], **_FILE[profile])


VOCABULARY: Mapping[Profile, Vocabulary] = {
    profile: Vocabulary.of(profile) for profile in get_args(Profile)
}
"""How each kind of work sounds."""


def generate(tokens: int, seed: int = 0, profile: Profile = "coding") -> Generated:
    """A session of about that many tokens; the same arguments give the same session, byte for byte.

    A fact is said once, by the user, in a tool result, or as a decision of the agent. It is used 0
    to 3 times, some messages or some hundreds later, in the agent's words or in an argument. One in
    eight is replaced by a newer value, and then only the newer one is used. All other text holds no
    piece of information that the agent takes up later.

    Args:
        tokens: of o200k_base, >= 1,000; met within some percent.
        seed: any integer.
        profile: how the work sounds, and which tool is used.

    Raises:
        SettingError: too few tokens.
    """
    if tokens < 1_000:
        raise SettingError(f"a generated session has at least 1000 tokens, not {tokens}")
    chance = Random(f"{profile}:{seed}")
    words = VOCABULARY[profile]
    writing = _Writing(chance, words)
    while not writing.reaches(tokens):
        writing.turn()
    session = Session.of(
        writing.messages,
        id=f"generated-{profile}-{tokens}-{seed}",
        title=f"Generated: {profile}, about {tokens} tokens, seed {seed}",
        model="generated",
        project=f"generated-{profile}-{seed}",
    )
    facts: list[Fact] = []
    for fact in writing.planted:
        uses = writing.uses.get(fact.entity, [])
        fact_with_uses = replace(fact, uses=tuple(uses))
        facts.append(fact_with_uses)
    return Generated(session, tuple(facts))


class _Writing:
    """The messages so far, what is planted in them, and which uses are still to come."""

    def __init__(self, chance: Random, words: Vocabulary) -> None:
        self.messages: list[Message] = []
        self.planted: list[Fact] = []
        self.stale: set[int] = set()
        self.uses: dict[str, list[str]] = {}
        self._chance = chance
        self._words = words
        self._due_uses: list[tuple[int, int]] = []
        self._number = 10_000
        self._calls = 0
        self._chars = 0
        self._counted_messages = 0
        self._tokens = 0
        self._per_char = 0.0
        self._count = TiktokenCounter()
        self._subjects: set[str] = set()
        system = (
            "You help with the work at hand. Look before you change something, and keep to what was"
            " agreed."
        )
        self._say(SystemMessage, Text(system))

    def reaches(self, tokens: int) -> bool:
        """Whether that many tokens have been written."""
        uncounted = self.messages[self._counted_messages : SAMPLE]
        for message in uncounted:
            text = counted_text(message)
            self._tokens += self._count.count_text(text)
        if uncounted:
            self._counted_messages += len(uncounted)
            self._per_char = self._tokens / max(1, self._chars)
        return self._chars * self._per_char >= tokens

    def _happens(self, probability: float) -> bool:
        """Whether something of this probability happens now."""
        return self._chance.random() < probability

    def turn(self) -> None:
        """A request of the user, some looks, and an answer."""
        self._user()
        for _ in range(self._chance.randrange(3, 9)):
            self._look()
        self._answer()

    def _user(self) -> None:
        a, b = self._chance.sample(self._words.places, 2)
        request = self._chance.choice(self._words.asks)
        lines = [request.format(a=a, b=b)]
        if self._happens(0.7):
            rule = self._plant("user", "Mind you, {about} is {entity}.")
            lines.append(rule)
        if self._happens(0.25):
            line = self._replacement()
            if line:
                lines.append(line)
        text = Text("\n".join(lines))
        self._say(UserMessage, text)

    def _look(self) -> None:
        call = self._call()
        uses = self._used()
        sentences: list[str] = []
        if self._happens(0.4) or uses:
            saying = self._chance.choice(self._words.says)
            sentences.append(saying)
        if uses and self._happens(0.3):
            arguments = dict(call.arguments)
            arguments["note"] = " ".join(uses)
            call = replace(call, arguments=arguments)
        else:
            sentences += uses
        words = text_block(" ".join(sentences))
        self._say(AssistantMessage, *words, call, model="generated", stop="tool_use")
        output = self._output()
        self._say(ToolResult, output, call_id=call.id, name=call.name)

    def _call(self) -> ToolCall:
        """A call of the tool."""
        place = self._words.place.format(n=self._next())
        call_id = f"c{self._calls}"
        self._calls += 1
        arguments = {self._words.argument: place}
        return ToolCall(call_id, self._words.tool, arguments)

    def _output(self) -> Text:
        """What the tool gives: lines that nobody needs, and sometimes a fact."""
        line_count = self._chance.randrange(6, 60)
        lines = [self._filler() for _ in range(line_count)]
        if self._happens(0.2):
            index = self._chance.randrange(len(lines))
            line = self._plant("tool", "here {about} stands as {entity}")
            lines.insert(index, line)
        return Text("\n".join(lines))

    def _answer(self) -> None:
        saying = self._chance.choice(self._words.says)
        lines = [saying, *self._used()]
        if self._happens(0.2):
            decision = self._plant("assistant", "I decide that {about} becomes {entity}.")
            lines.append(decision)
        words = Text("\n".join(lines))
        self._say(AssistantMessage, words, model="generated", stop="end_turn")

    def _plant(
        self, speaker: Speaker, form: str, about: str = "", kind: FactKind | None = None
    ) -> str:
        """Plant a fact, and return the line that says it."""
        fact_kind = self._chance.choice(KINDS) if kind is None else kind
        if not about:
            about = self._subject()
        form_of_entity = FORMS[fact_kind]
        entity = form_of_entity(self._chance, self._next())
        line = form.format(about=f"the {about}", entity=entity)
        fact = Fact(fact_kind, about, entity, speaker, self._id(), line)
        self._plan_uses(len(self.planted))
        self.planted.append(fact)
        return line

    def _plan_uses(self, fact_index: int) -> None:
        """Plan the messages that use a fact."""
        use_count = self._chance.choice((0, 1, 1, 1, 2, 3))
        for _ in range(use_count):
            reach = self._chance.choice((NEAR, FAR, FAR, ALL_BUT_LOST))
            distance = self._chance.randrange(*reach)
            use = (len(self.messages) + distance, fact_index)
            heapq.heappush(self._due_uses, use)

    def _replacement(self) -> str:
        """A newer value for one of the last facts that are still good; empty where there is
        none.
        """
        first_index = max(0, len(self.planted) - 40)
        indices = range(first_index, len(self.planted) - 2)
        recent = [index for index in indices if index not in self.stale]
        if not recent:
            return ""
        index = self._chance.choice(recent)
        self.stale.add(index)
        old = self.planted[index]
        form = "Change of plan: from now on {about} is {entity}."
        line = self._plant("user", form, old.about, old.kind)
        newest = self.planted[-1]
        self.planted[-1] = replace(newest, replaces=old.entity)
        return line

    def _used(self) -> list[str]:
        """Sentences that use what is due; the message that is written next holds them."""
        sentences: list[str] = []
        message_id = self._id()
        while self._due_uses and len(sentences) < 2:
            message_index, fact_index = self._due_uses[0]
            if message_index > len(self.messages):
                break
            heapq.heappop(self._due_uses)
            if fact_index in self.stale:
                continue
            fact = self.planted[fact_index]
            uses = self.uses.get(fact.entity, [])
            if message_id == fact.message or message_id in uses:
                continue
            self.uses[fact.entity] = [*uses, message_id]
            sentences.append(f"For the {fact.about} I take {fact.entity} here.")
        return sentences

    def _subject(self) -> str:
        """Words that name a fact, and no other fact so far."""
        words = self._words
        combinations = len(words.places) * len(words.things) * len(words.aspects)
        choice = self._chance.choice
        while True:
            place = choice(words.places)
            thing = choice(words.things)
            aspect = choice(words.aspects)
            about = f"{place} {thing} {aspect}"
            if len(self._subjects) >= combinations // 2:
                about += f" {choice(words.places)} {choice(words.places)}"
            if about not in self._subjects:
                self._subjects.add(about)
                return about

    def _filler(self) -> str:
        """A line that no later message needs."""
        a = self._drawn(self._words.places)
        b = self._drawn(self._words.places)
        form = self._drawn(self._words.line)
        number = 100 + int(self._chance.random() * 900)
        return form.format(a=a, b=b, n=number)

    def _drawn(self, texts: Sequence[str]) -> str:
        """One of these texts; quicker than `choice`."""
        index = int(self._chance.random() * len(texts))
        return texts[index]

    def _next(self) -> int:
        """A number that nothing else in the session holds."""
        self._number += self._chance.randrange(1, 8)
        return self._number

    def _say(self, kind: Callable[..., Message], *blocks: AnswerBlock, **fields: str) -> None:
        time = START + 7.0 * len(self.messages)
        message = kind(id=self._id(), blocks=blocks, time=time, **fields)
        self.messages.append(message)
        text = counted_text(message)
        self._chars += len(text)

    def _id(self) -> str:
        return f"m{len(self.messages)}"
