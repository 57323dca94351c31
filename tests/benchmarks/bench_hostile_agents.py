"""Lets hostile agents loose in trials, and prints by kind how many were tried and what they could
do.

    python tests/benchmarks/bench_hostile_agents.py [--seconds 4] [--user NAME] [--kinds
    links,memory]

Each agent goes the way of a model in `workbench lab trial`: a sandbox, a task, its calls, the
grading. It fails where a byte of the host changed, a secret was read, a socket of the host was
reached, a call ended the run, the trial took more than `--seconds` and ten, more than 1 GB or more
than 64 processes, or a process outlived it. Started as root it tries root; with `--user`, such as
nobody, an ordinary user: a copy of the checkout is made that this user may read, and the machine's
own Python, of the same version as this one, runs it. Exits with 1 where any failed.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.trials.hostile import AGENTS
from lab.trials.hostile_trials import Host, Verdict, try_agent

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_PROGRAMS = "/usr/local/bin:/usr/bin:/bin"


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=4.0)
    options.add_argument("--user", default="")
    options.add_argument("--kinds", default="")
    chosen = options.parse_args()
    if chosen.user:
        return as_user(chosen.user, ["--seconds", str(chosen.seconds), "--kinds", chosen.kinds])
    kinds = chosen.kinds.split(",") if chosen.kinds else [agent.kind for agent in AGENTS]
    verdicts = list[Verdict]()
    with Host() as host:
        for agent in AGENTS:
            if agent.kind in kinds:
                verdict = try_agent(agent, host, chosen.seconds, alone=True)
                verdicts.append(verdict)
                for problem in verdict.problems:
                    print(f"{agent.kind}, {agent.name}: {problem}", flush=True)
    show(verdicts)
    return int(any(verdict.problems for verdict in verdicts))


def show(verdicts: Sequence[Verdict]) -> None:
    """A row for each kind, and one for all."""
    user = pwd.getpwuid(os.getuid()).pw_name
    print(f"\n{'as ' + user:24}{'tried':>7}{'failed':>8}{'seconds':>9}{'MB':>7}{'processes':>11}")
    for kind in [*dict.fromkeys(verdict.agent.kind for verdict in verdicts), "all"]:
        rows = [verdict for verdict in verdicts if kind in (verdict.agent.kind, "all")]
        failed = sum(bool(verdict.problems) for verdict in rows)
        seconds = max(verdict.seconds for verdict in rows)
        memory = max(verdict.memory for verdict in rows) / 1e6
        processes = max(verdict.processes for verdict in rows)
        print(f"{kind:24}{len(rows):7}{failed:8}{seconds:9.1f}{memory:7.0f}{processes:11}")


def as_user(name: str, words: Sequence[str]) -> int:
    """The same as an ordinary user."""
    python = shutil.which("python3", path=SYSTEM_PROGRAMS)
    version = "import sys; print(*sys.version_info[:2])"
    if python is None or subprocess.check_output([python, "-c", version], text=True).split() != [
        str(part) for part in sys.version_info[:2]
    ]:
        print("this machine has no Python of this version that every user may run")
        return 1
    account = pwd.getpwnam(name)
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        copy = Path(folder)
        copy.chmod(0o755)
        for part in ("workbench", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        packages = Path(sysconfig.get_path("purelib"))
        if not all(
            parent.stat().st_mode & 0o005 == 0o005 for parent in (packages, *packages.parents)
        ):
            packages = Path(shutil.copytree(packages, copy / "packages", symlinks=True))
        home = copy / "home"
        home.mkdir()
        os.chown(home, account.pw_uid, account.pw_gid)
        environment = {
            "PATH": SYSTEM_PROGRAMS,
            "HOME": str(home),
            "PYTHONPATH": str(packages),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WORKBENCH_CACHE": str(home),
        }
        return subprocess.run(
            [python, "-P", str(copy / "tests/benchmarks/bench_hostile_agents.py"), *words],
            cwd=home,
            env=environment,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=[],
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
