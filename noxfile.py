"""Tasks: `nox -l` lists them, `nox -s tests` runs one. Each makes its own environment."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True


@nox.session
def tests(session: nox.Session) -> None:
    """Run the short suite; arguments go to pytest: `nox -s tests -- tests/metrics`."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def full(session: nox.Session) -> None:
    """Run every example of every property test, as `.ci/run` does."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs, env={"WORKBENCH_TESTS": "full"})


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and who imports whom."""
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    session.install("-e", ".[test]")
    session.run("mypy", "--strict", "workbench", "docs/figures.py")


@nox.session
def gate(session: nox.Session) -> None:
    """Compare every figure with the stored run; needs the recordings in ../shared/corpora."""
    session.install("-e", ".[test]")
    session.run("python", "tests/gate/gate.py", *session.posargs)


@nox.session
def defects(session: nox.Session) -> None:
    """Plant thirty defects, one at a time, and see the short suite catch each."""
    session.install("-e", ".[test]")
    session.run("python", "tests/defects/plant.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site into build/site; a broken link or a missing page is an error."""
    session.install("-e", ".[docs]")
    session.run("mkdocs", "build", "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
