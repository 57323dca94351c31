"""A small generated project with its user: the ground on which the families plant what must be
remembered.
"""

import random
from collections.abc import Mapping, Sequence

from workbench.lab.trials.task import Call, Hole, HoleKind, PlanStep, TaskCheck, TrialTask, Turn
from workbench.recordings.datasets.generator import VOCABULARY

WORDS = VOCABULARY["coding"]
CHARACTERS = 4
"""Of a token, about."""
SYSTEM = (
    "You work on a small project with the tools that you have. Do what the user asks and no more;"
    " keep to what was agreed earlier in the conversation. Where the user asks for an answer, end"
    " with a line `answer: ...`."
)
CHECK = (
    'for file in src/*.py; do echo "$file $(grep -c "" "$file") lines, $(grep -c "^def" "$file")'
    ' functions, ok"; done\n'
)
UNDERSTOOD = PlanStep(words="Understood, I keep to that.")
_FUNCTION = '''def {a}_{n}({b}, rest=()):
    """Take the {a} before the {b}; see item {n}."""
    if {b} is None:
        return {m}
    found = [{a} for {a} in rest if {a} != {b}]
    return found[:{n}] or {b}

'''
_ASKS = (
    "Next, go through {path} and tell me whether the {a} can be tidied.",
    "Have a look at {path}, the {a} seems slow to me.",
    "Before we go on: what does {path} do with the {a}?",
)
_REPORTS = (
    "I read it whole: the {a} is handled in one place, and nothing has to change there.",
    "It does little: it takes the {a} apart and gives back what is left.",
    "Nothing unusual; I would leave the {a} as it is.",
)


def read(path: str) -> Call:
    """Look at a file."""
    return Call("read", {"path": path})


def shell(command: str) -> Call:
    """Run a command."""
    return Call("bash", {"command": command})


def write(path: str, *lines: str) -> Call:
    """Write a file."""
    return Call("write", {"path": path, "content": "".join(f"{line}\n" for line in lines)})


class Project:
    """A task in the making: files, turns and checks so far, and values that nothing else in it has.

    Args:
        length: about how many tokens of other work lie between what is told and its use.
    """

    def __init__(self, family: str, seed: int, length: int) -> None:
        self.family, self.seed, self.length = family, seed, length
        self.chance = random.Random(f"{family}:{seed}")
        self.files: dict[str, str] = {"tools/check.sh": CHECK}
        self.turns: list[Turn] = []
        self.checks: list[TaskCheck] = []
        self._numbers = iter(self.chance.sample(range(2_000, 9_900), 400))
        places = self.chance.sample(WORDS.places, len(WORDS.places))
        self._places = iter(places)

    def subjects(self, count: int) -> list[str]:
        """Names of things, such as `harbour ledger`; none shares a word with another one."""
        return [
            f"{next(self._places)} {thing}"
            for thing in self.chance.sample(
                [word for word in WORDS.things if word != "session"], count
            )
        ]

    def numbers(self, count: int) -> list[str]:
        """Numbers of four digits."""
        return [str(next(self._numbers)) for _ in range(count)]

    def ids(self, count: int) -> list[str]:
        """Reference numbers of one kind, such as `KV-48213`."""
        letters = f"{self.chance.choice('KQXZ')}{self.chance.choice('WVJY')}"
        return [f"{letters}-{number}{self.chance.randrange(10)}" for number in self.numbers(count)]

    def paths(self, count: int) -> list[str]:
        """Files of one kind."""
        return [
            f"out/{self.chance.choice(WORDS.aspects)}{number}.csv" for number in self.numbers(count)
        ]

    def say(self, user: str, *steps: PlanStep) -> None:
        """A turn."""
        self.turns.append(Turn(user, steps or (UNDERSTOOD,)))

    def work(self, share: float) -> None:
        """Turns of other work, with a share of `length`: modules are read, searched and checked."""
        characters_left = share * self.length * CHARACTERS
        while characters_left > 0:
            a = self.chance.choice(WORDS.things)
            path, text = f"src/{a}_{self.chance.randrange(100, 999)}.py", self.module(12)
            self.files[path] = text
            steps = [PlanStep(read(path), f"I read {path} first.")]
            if self.chance.random() < 0.3:
                steps.append(
                    PlanStep(
                        Call("grep", {"pattern": f"def {a}", "path": "src"}), "Who else defines it?"
                    )
                )
                characters_left -= 300
            if self.chance.random() < 0.3:
                steps.append(PlanStep(shell("sh tools/check.sh"), "I run the checks."))
                characters_left -= 400
            steps.append(PlanStep(words=self.chance.choice(_REPORTS).format(a=a)))
            self.say(self.chance.choice(_ASKS).format(a=a, path=path), *steps)
            characters_left -= len(text) + 12 * 7 * 6 + 300

    def module(self, functions: int) -> str:
        """Python that nothing in the task needs; its numbers have three digits."""
        return "".join(
            _FUNCTION.format(
                a=self.chance.choice(WORDS.things),
                b=self.chance.choice(WORDS.aspects),
                n=self.chance.randrange(100, 999),
                m=self.chance.randrange(100, 999),
            )
            for _ in range(functions)
        )

    def log(self, lines: int) -> list[str]:
        """Lines of output of which the task needs none."""
        places = WORDS.places
        return [
            f"12:{self.chance.randrange(60):02} {self.chance.choice(places)}"
            f" {self.chance.choice(places)} took {self.chance.randrange(100, 999)} ms, nothing"
            " to do"
            for _ in range(lines)
        ]

    def saves(self, path: str, values: Mapping[str, Hole], ask: str) -> None:
        """A turn that writes a file of settings, and a check for each."""
        call = write(path, *(f"{key} = {{{hole.name}}}" for key, hole in values.items()))
        self.say(
            ask,
            PlanStep(call, f"I write {path}.", tuple(values.values())),
            PlanStep(words="It is written."),
        )
        self.checks += [
            TaskCheck(key, "file", f"{key} = {hole.answer}", path) for key, hole in values.items()
        ]

    def answers(self, hole: Hole, ask: str) -> None:
        """A turn that answers a question, and its check."""
        self.checks.append(TaskCheck("answer", "answer", hole.answer, turn=len(self.turns)))
        self.say(
            f"{ask} End with a line `answer: ...`.",
            PlanStep(words=f"answer: {{{hole.name}}}", holes=(hole,)),
        )

    def task(self) -> TrialTask:
        """What was made so far."""
        return TrialTask(
            f"{self.family}-{self.seed}",
            self.family,
            self.seed,
            SYSTEM,
            self.files,
            tuple(self.turns),
            tuple(self.checks),
        )


def hole(
    name: str,
    kind: HoleKind,
    cue: str,
    values: Sequence[str],
    answer: int = 0,
    look_up: Call | None = None,
    default: str = "",
) -> Hole:
    """The hole to which one of some values of a kind is the answer, and the others are
    look-alikes.
    """
    look_alikes = tuple(value for number, value in enumerate(values) if number != answer)
    return Hole(name, kind, cue, values[answer], look_alikes, look_up, default)
