"""Every command: its name, its line of help, its function, and the heading below which the help
lists it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LOOK, COMPARE, DECIDE, LIVE, LABORATORY = "Look", "Compare", "Decide", "Live", "Laboratory"
EXPERIMENTS, METRICS, MATERIAL = "Experiments", "Metrics", "Material"
COMMON = "Commands"
HELP_FLAGS = ("-h", "--help")


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        path: the words that call it, such as `lab judge exam`.
        help: its line in the help of its group.
        place: its module below `workbench.cli` and its function, such as `judge:exam`.
        panel: the heading below which the help lists it.
    """

    path: str
    help: str
    place: str
    panel: str = COMMON


@dataclass(frozen=True, slots=True)
class Group:
    """A group of commands.

    Attributes:
        path, help, panel: as those of a command.
        default: its command that is meant where the line names none.
        takes_names: whether the default is also meant where a word follows that is no command of
            the group.
    """

    path: str
    help: str
    panel: str = COMMON
    default: str = ""
    takes_names: bool = False


GROUPS = (
    Group("runs", "List, name, compare, render, pass on and delete runs.", COMPARE, "list"),
    Group("agent", "Connect a running agent: hooks of Claude Code, an MCP server.", LIVE),
    Group(
        "lab", "The course, experiments, checks of the metrics, data sets.", LABORATORY, "course"
    ),
    Group(
        "lab validate",
        "Check that the metrics measure what they claim.",
        METRICS,
        "metrics",
        takes_names=True,
    ),
    Group("lab judge", "Let models read contexts and answer questions.", METRICS),
    Group("lab exam", "Write and show exams of the work.", METRICS),
    Group("lab dataset", "List, fetch, generate and record sessions.", MATERIAL),
)

COMMANDS = (
    Command("inspect", "Show what recordings contain.", "inspect:inspect", LOOK),
    Command("replay", "Look closely at one session under one strategy.", "replay:replay", LOOK),
    Command("view", "Browse runs and every context on a local page.", "view:view", LOOK),
    Command("list", "List strategies, stages, metrics, formats or models.", "catalogue:show", LOOK),
    Command("doctor", "Check this machine's set-up.", "doctor:doctor", LOOK),
    Command(
        "compare", "Compare strategies on sessions; write a report.", "compare:compare", COMPARE
    ),
    Command(
        "advise", "Find the strategy and settings that fit your sessions.", "advise:advise", DECIDE
    ),
    Command("gate", "Stop a build when a strategy became worse.", "gate:gate", DECIDE),
    Command("watch", "Follow a session while its agent writes it.", "watch:watch", LIVE),
    Command("runs list", "List the runs of a folder.", "runs:show"),
    Command("runs name", "Give a run a name.", "runs:rename"),
    Command("runs tag", "Add tags to a run, or take them away.", "runs:retag"),
    Command("runs note", "Write a note to a run.", "runs:annotate"),
    Command("runs delete", "Delete runs, after a question.", "runs:delete"),
    Command("runs report", "Render the report of a finished run again.", "compare:report"),
    Command("runs diff", "Show what changed from one run to another.", "gate:diff"),
    Command("runs share", "Export a run without any session text.", "compare:share"),
    Command(
        "runs export", "Write a run for Inspect, spreadsheets or OpenTelemetry.", "compare:export"
    ),
    Command("agent hook", "Answer the hooks of Claude Code around a compaction.", "hook:hook"),
    Command("agent mcp", "Give an agent back what its compactions took.", "mcp:mcp"),
    Command("lab sweep", "Replay sessions under a grid of settings.", "sweep:sweep", EXPERIMENTS),
    Command(
        "lab ablate", "Measure each stage's contribution (ablation).", "sweep:ablate", EXPERIMENTS
    ),
    Command(
        "lab prompts",
        "Stop a build when a compaction prompt became worse.",
        "prompts:prompts",
        EXPERIMENTS,
    ),
    Command(
        "lab simulate", "Count what an agent would look up again.", "simulate:simulate", EXPERIMENTS
    ),
    Command("lab trial", "Let an agent work on tasks that run.", "trial:trial", EXPERIMENTS),
    Command("lab learn", "Learn which lines are needed later.", "learn:learn", EXPERIMENTS),
    Command("lab experiment", "Run the experiment notebook.", "notebooks:experiment", EXPERIMENTS),
    Command("lab course", "Open JupyterLab at the course.", "notebooks:lab", MATERIAL),
    Command("lab serve", "Serve a small real model on this machine.", "serve:serve", MATERIAL),
    Command("lab validate metrics", "All checks and sides in one table.", "validate:validate"),
    Command("lab validate readers", "Metrics beside real readers.", "validate:readers"),
    Command("lab validate wordings", "The same facts in other words.", "validate:wordings"),
    Command("lab validate answers", "Metrics beside graded answers of others.", "validate:answers"),
    Command("lab validate gamers", "Contexts that please the fitted reader.", "validate:gamers"),
    Command(
        "lab validate behaviour", "Metrics beside what was fetched again.", "validate:behaviour"
    ),
    Command("lab validate trials", "Metrics and judges beside success on tasks.", "orders:trials"),
    Command(
        "lab validate detours", "Metrics and judges beside simulated detours.", "orders:detours"
    ),
    Command(
        "lab validate models", "Models that read the exam, beside each other.", "validate:models"
    ),
    Command(
        "lab validate errors",
        "Errors planted in summaries, and which are found.",
        "validate:errors",
    ),
    Command("lab validate needs", "Items of the exam that readers call needed.", "validate:needs"),
    Command("lab judge exam", "Let a model sit the exam from each context.", "judge:exam"),
    Command("lab judge work", "Let models answer questions about the work.", "judge:work"),
    Command(
        "lab judge losses", "Let a model mark losses that were no need.", "judge_losses:losses"
    ),
    Command("lab judge fit", "Fit a reader that asks no model.", "judge:fit_to_answers"),
    Command("lab exam write", "Have a model write the exams of sessions.", "exam:write"),
    Command("lab exam show", "Show the written exams of sessions.", "exam:show"),
    Command("lab dataset list", "List bundled and public sessions.", "dataset:show"),
    Command("lab dataset fetch", "Fetch public recordings over HTTPS.", "dataset:fetch"),
    Command("lab dataset generate", "Write a session with planted facts.", "dataset:generate"),
    Command("lab dataset record", "Play a scripted task, and write the session.", "dataset:record"),
)

PATHS = {entry.path: entry for entry in (*GROUPS, *COMMANDS)}
MOVED = {
    "runs": ("report", "diff", "share", "export"),
    "agent": ("hook", "mcp"),
    "lab": (
        "sweep",
        "ablate",
        "simulate",
        "trial",
        "learn",
        "experiment",
        "serve",
        "validate",
        "judge",
        "exam",
        "dataset",
    ),
}
"""Commands that stood at the top once, by the group in which they are today. The earlier
spelling goes on working.
"""


def moved_to(words: Sequence[str]) -> str:
    """The group in which the command of these words is today, where they spell it as it was
    once; else empty.
    """
    for group, names in MOVED.items():
        if words and words[0] in names:
            return group
    return ""


def command_called(words: Sequence[str]) -> str:
    """The path of the command or group that these words call; empty where they call none."""
    path = ""
    for word in words:
        longer = f"{path} {word}".strip()
        if longer not in PATHS:
            break
        path = longer
    return path


def with_default(words: Sequence[str]) -> list[str]:
    """The words, with the default command of their group where they call a group and no command
    of it.
    """
    path = command_called(words)
    group = PATHS.get(path)
    if not isinstance(group, Group) or not group.default:
        return list(words)
    group_words = path.split()
    arguments = words[len(group_words) :]
    if arguments:
        asks_for_help = arguments[0] in HELP_FLAGS
        is_option = arguments[0].startswith("-")
        if asks_for_help or not (is_option or group.takes_names):
            return list(words)
    return [*group_words, group.default, *arguments]


WAITING = frozenset(
    {
        "view",
        "watch",
        "agent hook",
        "agent mcp",
        "lab course",
        "lab serve",
        "runs delete",
    }
)
"""Commands that wait for somebody, or whose every word another program reads."""
SILENCING = frozenset({"--quiet", "-q", "--json"})


def shows_its_pulse(words: Sequence[str]) -> bool:
    """Whether a command shows that it is at work while it says nothing."""
    if not words:
        return True  # sessions are looked for
    group = moved_to(words)
    path = command_called([group, *words] if group else words)
    return bool(path) and path not in WAITING and SILENCING.isdisjoint(words)
