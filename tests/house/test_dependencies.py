"""What is installed: bounds, the lock file for development, and the audit of known
vulnerabilities.
"""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / ".ci" / "requirements-dev.txt").read_text(encoding="utf-8")
NAMED = PROJECT["build-system"]["requires"] + PROJECT["project"]["dependencies"]
EXTRAS = PROJECT["project"]["optional-dependencies"]


@pytest.mark.parametrize("line", [*NAMED, *(line for lines in EXTRAS.values() for line in lines)])
def test_a_dependency_has_an_upper_bound(line: str) -> None:
    requirement = Requirement(line)
    assert requirement.name == PROJECT["project"]["name"] or {"<", "=="} & {
        bound.operator for bound in requirement.specifier
    }


def test_the_lock_file_pins_what_a_developer_installs_within_the_bounds() -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==([^ ;]+)", LOCK, re.MULTILINE))
    for extra in ("all", "test", "docs"):
        for requirement in map(Requirement, EXTRAS[extra]):
            if requirement.name != PROJECT["project"]["name"]:
                assert requirement.specifier.contains(pinned[requirement.name.lower()]), (
                    f"{requirement}: run `nox -s lock`"
                )


def test_the_lock_file_names_no_place_and_has_a_hash_for_every_package() -> None:
    assert not re.search(r"://|^-|file:", LOCK, re.MULTILINE)
    packages = re.findall(r"^[\w.-]+==.*\n(?: {4}(--hash=sha256:)?)", LOCK, re.MULTILINE)
    assert len(packages) > 150 and all(packages)


@pytest.fixture
def verdict() -> Callable[[dict[str, Any]], tuple[int, list[str]]]:
    audit = runpy.run_path(str(ROOT / ".ci" / "audit"))
    verdict: Callable[[dict[str, Any]], tuple[int, list[str]]] = audit["verdict"]
    return verdict


def reported(*packages: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(packages), "fixes": []}


SOUND = {"name": "numpy", "version": "2.4.6", "vulns": []}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found"}
BAD = {
    "name": "jinja2",
    "version": "3.1.2",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.6"]}],
}


def test_a_known_vulnerability_fails_and_is_named(
    verdict: Callable[[dict[str, Any]], tuple[int, list[str]]],
) -> None:
    code, lines = verdict(reported(SOUND, BAD, UNKNOWN))
    assert code == 1
    assert lines == [
        "jinja2 3.1.2: PYSEC-1, mended in 3.1.6",
        "2 of 3 packages audited, 1 known vulnerabilities",
    ]


def test_what_was_not_audited_is_said_and_fails_nothing(
    verdict: Callable[[dict[str, Any]], tuple[int, list[str]]],
) -> None:
    assert verdict(reported(UNKNOWN)) == (
        0,
        ["not audited: the vulnerability service knows 0 of 1 packages"],
    )
    assert verdict(reported(SOUND, UNKNOWN)) == (
        0,
        ["1 of 2 packages audited, 0 known vulnerabilities"],
    )


def test_a_machine_too_slow_to_install_the_audit_fails_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    audit = runpy.run_path(str(ROOT / ".ci" / "audit"))
    audit["main"].__globals__["run"] = lambda words, seconds: False
    assert audit["main"](str(tmp_path), str(tmp_path / "tools")) == 0
    assert capsys.readouterr().out == "not audited: pip-audit could not be installed\n"
