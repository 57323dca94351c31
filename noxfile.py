"""Tasks: `nox -l` lists them, `nox -s tests` runs one. Each makes its own environment."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

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
    """Run the whole check, as `FULL=1 .ci/run` does: before a release, and before an issue is resolved."""
    session.run("bash", ".ci/run", env={"FULL": "1"}, external=True)


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
    session.run("bash", ".ci/types", str(Path(session.bin) / "python"), external=True)


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


@nox.session
def lock(session: nox.Session) -> None:
    """Write .ci/requirements-dev.txt: a developer's environment, pinned with hashes (`-- --upgrade`: the newest)."""
    session.install("uv>=0.9,<1")
    session.run(
        *(
            "uv",
            "pip",
            "compile",
            "pyproject.toml",
            "--extra",
            "test",
            "--extra",
            "docs",
            "--universal",
            "--quiet",
        ),
        *("--generate-hashes", "--no-annotate", "--custom-compile-command", "nox -s lock"),
        *("--output-file", ".ci/requirements-dev.txt", *session.posargs),
    )


@nox.session
def release(session: nox.Session) -> None:
    """Build what is released into dist/: sdist, wheel, list of materials and checksums (docs/releasing.md)."""
    dist = Path("dist")
    shutil.rmtree(dist, ignore_errors=True)
    session.install("build>=1.2,<2", "cyclonedx-bom>=7,<8")
    committed = session.run("git", "log", "-1", "--format=%ct", silent=True, external=True)
    session.run("python", "-m", "build", env={"SOURCE_DATE_EPOCH": str(committed).strip()})
    (wheel,) = dist.glob("*.whl")
    users = Path(session.create_tmp()) / "users"
    session.run("python", "-m", "venv", "--clear", str(users))
    session.run(str(users / "bin" / "pip"), "install", "--quiet", f"{wheel}[all]", external=True)
    for path in users.glob("lib/python3*/site-packages/*/direct_url.json"):
        path.unlink()  # it names the folder of this checkout, and the list of materials would repeat it
    bill = dist / f"{wheel.stem.split('-py3')[0]}.cdx.json"
    session.run(
        "cyclonedx-py",
        "environment",
        str(users),
        "--output-reproducible",
        "--output-file",
        str(bill),
    )
    sums = [
        f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(dist.iterdir())
    ]
    (dist / "SHA256SUMS").write_text("".join(sums))
