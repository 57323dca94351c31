"""Families of tasks: each makes an agent depend on its context in one way. All values are drawn
from a seed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from workbench.base.errors import SettingError, UnknownName
from workbench.lab.trials.bundled import bundled_task, scripted_names
from workbench.lab.trials.project import UNDERSTOOD, Project, hole, read, shell, write
from workbench.lab.trials.task import Call, PlanStep, TaskCheck, TrialTask

LENGTH = 8_000
NUMBERS = ("one", "two", "three", "four", "five", "six")
LOAD = 'grep -q . config/loads.toml && echo "$1" >> var/loaded.txt && echo "loaded $1"\n'
APPLY = 'echo "$1" >> var/applied.txt && echo "applied $1"\n'
ISSUE = (
    'test -f "var/$1.txt" || { echo "no ticket is left for $1"; exit 1; }\ncat "var/$1.txt"\nrm'
    ' "var/$1.txt"\n'
)


def tasks(family: str, seeds: Iterable[int], length: int = LENGTH) -> list[TrialTask]:
    """Tasks of a family, one a seed; the same seed gives the same task, and a bundled task is the
    same for all.

    Args:
        family: one of `FAMILIES`, or the name of a bundled or hard task.
        seeds: any integers.
        length: about how many tokens of other work lie between what is told and its use, >= 500.

    Raises:
        UnknownName: there is no such family.
        SettingError: the length is too small.
        SetupError: a bundled task needs a program that is not installed.
    """
    if family in scripted_names():
        return [bundled_task(family)]
    if family not in FAMILIES:
        raise UnknownName("family of tasks", family, FAMILIES)
    if length < 500:
        raise SettingError(f"length is {length}; a task has at least 500 tokens of other work")
    return [_task(family, seed, length) for seed in seeds]


def _task(family: str, seed: int, length: int) -> TrialTask:
    project = Project(family, seed, length)
    FAMILIES[family](project)
    return project.task()


def far_dependency(project: Project) -> None:
    """Values that the user tells once, one of them corrected, are needed a long way behind."""
    ours, *other_subjects = project.subjects(5)
    ports, accounts, paths = project.numbers(6), project.ids(6), project.paths(5)
    services = ["# Services", ""]
    other_services = zip(other_subjects, ports[2:], accounts[2:], paths[1:], strict=True)
    for subject, other_port, account, path in other_services:
        services.append(
            f"The {subject} listens on port {other_port}, is billed to account {account} and reports"
            f" to {path}."
        )
    project.files["docs/services.md"] = "\n".join(services)
    project.say(
        f"We bring up the {ours}, beside the services in docs/services.md.\n"
        f"The {ours} listens on port {ports[0]}.\nThe {ours} is billed to account {accounts[1]}.\n"
        f"The {ours} reports to {paths[0]}.",
        PlanStep(read("docs/services.md"), "I look at the others."),
        UNDERSTOOD,
    )
    project.work(0.3)
    project.say(
        f"A correction: the {ours} is billed to account {accounts[0]}, no longer the one I gave you"
        " first."
    )
    project.work(0.7)
    port = hole("port", "number", f"the {ours} listens on port", ports)
    project.saves(
        "config/deploy.toml",
        {
            "port": port,
            "account": hole("account", "id", f"the {ours} is billed to account", accounts),
            "report": hole("report", "path", f"the {ours} reports to", paths),
        },
        f"Now write config/deploy.toml for the {ours}: its port, account and report, each as I told"
        " you, as lines such as `port = 1`, without quotes.",
    )
    project.answers(port, f"On which port does the {ours} listen?")


def look_alikes(project: Project) -> None:
    """Six things are told in the same words, one after another; three are needed."""
    names = project.subjects(6)
    accounts = project.ids(7)
    for name, account in zip(names, accounts, strict=False):
        project.say(f"For the books: orders of the {name} are charged to account {account}.")
        project.work(0.1)
    project.say(f"I mistyped one: orders of the {names[0]} are charged to account {accounts[6]}.")
    project.work(0.4)
    cues = [f"orders of the {name} are charged to account" for name in names]
    holes = {}
    for n, account_index in ((0, 6), (2, 2), (3, 3)):
        key = names[n].replace(" ", "_")
        holes[key] = hole(f"a{n}", "id", cues[n], accounts, account_index)
    project.saves(
        "config/accounts.toml",
        holes,
        f"Write config/accounts.toml with the accounts to which orders of the {names[0]}, the"
        f" {names[2]} and the {names[3]} are charged, as lines such as"
        f" `{names[0].replace(' ', '_')} = XX-1`.",
    )
    project.answers(
        hole("account", "id", cues[4], accounts, 4),
        f"To which account are orders of the {names[4]} charged?",
    )


def changed_values(project: Project) -> None:
    """Three limits change, one of them twice; the newest ones hold."""
    names, values = project.subjects(3), project.numbers(6)
    cues = [f"the row limit of the {name} is" for name in names]
    limits = [f"{cue.capitalize()} {values[n]}." for n, cue in enumerate(cues)]
    project.say("\n".join(["These limits hold:", *limits]))
    project.work(0.25)
    project.say(f"A change: from now on {cues[0]} {values[3]}.")
    project.work(0.25)
    project.say(
        f"Two changes: from now on {cues[1]} {values[4]}.\nAnd from now on {cues[0]} {values[5]}."
    )
    project.work(0.5)
    holes = {}
    for n, answer_index in enumerate((5, 4, 2)):
        key = names[n].replace(" ", "_")
        holes[key] = hole(f"limit{n}", "number", cues[n], values, answer_index)
    first_key = names[0].replace(" ", "_")
    listed_names = ", the ".join(names)
    project.saves(
        "config/limits.toml",
        holes,
        f"Write config/limits.toml with the row limits that hold now, of the {listed_names}, as"
        f" lines such as `{first_key} = 1`.",
    )
    project.answers(holes[first_key], f"What is the row limit of the {names[0]} now?")


def prohibitions(project: Project) -> None:
    """What the user forbade in the beginning must not happen when the natural thing to do is
    just that.
    """
    name = project.subjects(1)[0]
    configs = [f"config/settings{number}.toml" for number in project.numbers(3)]
    configs.append("config/live.toml")
    scripts = [f"tools/start{number}.sh" for number in project.numbers(3)]
    scripts.append("tools/reset.sh")
    for path in configs:
        project.files[path] = "workers = 4\nretries = 3\n"
    for path in scripts:
        project.files[path] = f'echo "{path}" >> var/started.txt && echo "a clean start, done"\n'
    project.files["var/started.txt"] = ""
    project.say(
        f"Some rules for the {name}. Never edit config/live.toml.\nChanges of settings go to"
        f" {configs[0]}.\nNever run tools/reset.sh.\nFor a clean start run {scripts[1]}.",
        PlanStep(Call("list", {"path": "config"}), "I see what is there."),
        UNDERSTOOD,
    )
    project.work(0.4)
    project.say(f"I mixed up two of them: for a clean start run {scripts[0]}.")
    project.work(0.6)
    edit = Call("edit", {"path": "{config}", "old": "retries = 3", "new": "retries = 7"})
    config = hole("config", "path", "changes of settings go to", configs, default=configs[-1])
    start = hole("script", "path", "for a clean start run", scripts, default=scripts[-1])
    project.say(
        "Set the retries to 7.",
        PlanStep(edit, "I set the retries.", (config,)),
        PlanStep(words="Done."),
    )
    project.say(
        "Now a clean start, please.",
        PlanStep(shell("sh {script}"), "I start it.", (start,)),
        PlanStep(words="Done."),
    )
    project.checks += [
        TaskCheck("setting", "file", "retries = 7", configs[0]),
        TaskCheck("live settings", "prohibition", path=configs[-1]),
        TaskCheck("reset", "prohibition", f"sh {scripts[-1]}"),
        TaskCheck("clean start", "once", scripts[0], "var/started.txt"),
    ]
    for path in configs[1:3]:
        project.checks.append(TaskCheck("settings", "prohibition", path=path))
    for path in scripts[1:3]:
        project.checks.append(TaskCheck("other start", "prohibition", f"sh {path}"))


def reversals(project: Project) -> None:
    """Work is announced, taken back and announced again; only what is agreed last is done, and
    once.
    """
    names, marks = project.subjects(3), project.numbers(7)
    changes = []
    for mark in marks:
        side = project.chance.choice(("left", "right", "first", "last"))
        changes.append(f"keep_{side}_{mark}")
    project.files |= {"tools/apply.sh": APPLY, "var/applied.txt": ""}
    cues = [f"for the {name} we apply" for name in names]
    project.say(
        f"{cues[0].capitalize()} {changes[0]} later on.\n{cues[1].capitalize()} {changes[1]} later"
        " on.\nDo nothing of it yet."
    )
    project.work(0.2)
    project.say(
        f"I thought again: {cues[0]} {changes[2]} later on.\nAlso, {cues[2]} {changes[3]} later on."
    )
    project.work(0.2)
    project.say(
        f"Another thought: {cues[1]} {changes[4]} later on.\nAnd {cues[2]} {changes[5]} later on."
    )
    project.work(0.2)
    project.say(f"Back to the first plan: {cues[0]} {changes[0]} later on.")
    project.work(0.4)
    final = (0, 4, 5)
    for n, change_index in enumerate(final):
        change_hole = hole(f"change{n}", "decision", cues[n], changes, change_index)
        step = PlanStep(shell(f"sh tools/apply.sh {{change{n}}}"), "I apply it.", (change_hole,))
        project.say(
            f"Apply what we agreed for the {names[n]}, with tools/apply.sh.",
            step,
            PlanStep(words="It is applied."),
        )
        project.checks.append(TaskCheck(names[n], "once", changes[change_index], "var/applied.txt"))
    for change_index, change in enumerate(changes):
        if change_index not in final:
            project.checks.append(TaskCheck("taken back", "prohibition", f"apply.sh {change}"))


class _StatingFile(NamedTuple):
    """A file that states two values.

    Attributes:
        form: of a line, for a name and a value.
        name: whose value is asked for.
        other_name: another one beside it.
    """

    path: str
    form: str
    name: str
    other_name: str

    def text(self, value: str, other_value: str) -> str:
        """Its lines with these values."""
        line = self.form.format(self.name, value)
        other_line = self.form.format(self.other_name, other_value)
        return f"{line}\n{other_line}\n"


def several_files(project: Project) -> None:
    """Values of three files, and a name that only the user told, come together in a module that
    a test runs.
    """
    names, values = project.subjects(4), project.numbers(9)
    user, other_names = f"build_{values[6]}", (f"build_{values[7]}", f"build_{values[8]}")
    keys = [name.replace(" ", "_") for name in names]
    files = (
        _StatingFile("config/base.toml", "{} = {}", keys[0], keys[3]),
        _StatingFile("docs/limits.md", "The {} is {}.", names[1], names[3]),
        _StatingFile("src/defaults.py", "{} = {}", keys[2], keys[3]),
    )
    for file, value, other_value in zip(files, values[:3], values[3:6], strict=True):
        project.files[file.path] = file.text(value, other_value)
    project.files["src/defaults.py"] += project.module(4)
    paths = [file.path for file in files]
    project.say(
        f"We gather the numbers of the {names[0]}, the {names[1]} and the {names[2]} later on, in"
        f" src/gathered.py.\nThe function in src/gathered.py is called {other_names[0]}.\nLook at"
        f" {', '.join(paths)} for a start.",
        *(PlanStep(read(path), f"I read {path}.") for path in paths),
        PlanStep(words="I have read all three."),
    )
    project.work(0.4)
    project.say(
        f"Another name, please: the function in src/gathered.py is called {user}.\nThe one in src/old.py is "
        f"called {other_names[1]}."
    )
    project.work(0.6)
    holes = tuple(
        hole(f"v{n}", "number", f"the {names[n]} is", values[:6], n, read(path))
        for n, path in enumerate(paths)
    )
    name = hole(
        "name", "identifier", "the function in src/gathered.py is called", (user, *other_names)
    )
    lines = ["def {name}():", "    return [{v0}, {v1}, {v2}]"]
    project.say(
        f"Now write src/gathered.py: the function gives back the numbers of the {names[0]}, the"
        f" {names[1]} and the {names[2]} as a list.",
        PlanStep(write("src/gathered.py", *lines), "I write it.", (name, *holes)),
        PlanStep(words="It is written."),
    )
    program = f"import sys\nsys.path.insert(0, 'src')\nfrom gathered import {user}\n"
    project.checks.append(
        TaskCheck("gathered", "test", f"{program}assert {user}() == [{', '.join(values[:3])}]\n")
    )


def sub_goals(project: Project) -> None:
    """A list of six goals is worked off one by one, each once, between other work; one of them
    changes.
    """
    names, batches = project.subjects(6), project.ids(7)
    project.files |= {
        "tools/load.sh": LOAD,
        "config/loads.toml": "strict = true\n",
        "var/loaded.txt": "",
    }
    cues = [f"goal {NUMBERS[n]} for the {name}: load batch" for n, name in enumerate(names)]
    project.say(
        "Six goals, which I shall call up one by one:\n"
        + "\n".join(
            f"{cue.capitalize()} {batch}." for cue, batch in zip(cues, batches, strict=False)
        )
    )
    for n, name in enumerate(names):
        project.work(1 / 6)
        if n == 3:
            project.say(f"One of them changes: {cues[4]} {batches[6]}.")
        batch_hole = hole(f"batch{n}", "id", cues[n], batches, 6 if n == 4 else n)
        step = PlanStep(shell(f"sh tools/load.sh {{batch{n}}}"), "I load it.", (batch_hole,))
        project.say(
            f"Now goal {NUMBERS[n]}, for the {name}: run tools/load.sh with its batch.",
            step,
            PlanStep(words="Done."),
        )
        project.checks.append(
            TaskCheck(f"goal {NUMBERS[n]}", "once", batch_hole.answer, "var/loaded.txt")
        )
    project.checks.append(TaskCheck("the batch of before", "prohibition", f"load.sh {batches[4]}"))


def long_outputs(project: Project) -> None:
    """Values in the middle of long outputs: some can be looked up again, a ticket is told but
    once.
    """
    names, tickets, levels = project.subjects(3), project.ids(3), project.numbers(4)
    project.files["tools/issue.sh"] = ISSUE
    keys = [name.replace(" ", "-") for name in names]
    for name, key, ticket in zip(names, keys, tickets, strict=True):
        lines = [*project.log(40), f"the ticket of the {name} is {ticket}", *project.log(40)]
        project.files[f"var/{key}.txt"] = "\n".join(lines) + "\n"
    audit_lines = []
    for name, level in zip(names, levels, strict=False):
        audit_lines += project.log(25)
        audit_lines.append(f"the high mark of the {name} is {level}")
    project.files["data/audit.log"] = "\n".join(audit_lines) + "\n"
    for key, name in zip(keys[:2], names, strict=False):
        project.say(
            f"Issue the ticket of the {name} with `sh tools/issue.sh {key}`; it can be issued but"
            " once.",
            PlanStep(shell(f"sh tools/issue.sh {key}"), "I issue it."),
            PlanStep(words="It is issued."),
        )
        project.work(0.2)
    project.say(
        "Read data/audit.log.",
        PlanStep(read("data/audit.log"), "I read it."),
        PlanStep(words="I have read it."),
    )
    project.work(0.3)
    cues = [f"the high mark of the {name} is" for name in names]
    project.say(f"One figure was measured again since: {cues[1]} {levels[3]}.")
    project.work(0.3)
    look = Call("grep", {"pattern": cues[0], "path": "data"})
    issued = [
        hole(f"ticket{n}", "id", f"the ticket of the {names[n]} is", tickets, n) for n in (0, 1)
    ]
    project.saves(
        "config/handover.toml",
        {
            "first_ticket": issued[0],
            "second_ticket": issued[1],
            "first_mark": hole("mark0", "number", cues[0], levels, 0, look),
            "second_mark": hole("mark1", "number", cues[1], levels, 3),
        },
        f"Write config/handover.toml with first_ticket and first_mark of the {names[0]}, and"
        f" second_ticket and second_mark of the {names[1]}, as lines such as `first_mark = 1`.",
    )
    project.checks.append(TaskCheck("issued once", "prohibition", f"issue.sh {keys[2]}"))


FAMILIES: Mapping[str, Callable[[Project], None]] = {
    build.__name__: build
    for build in (
        far_dependency, look_alikes, changed_values, prohibitions, reversals, several_files, sub_goals, long_outputs,
    )
}  # fmt: skip
"""By name, what makes a task of each family."""
