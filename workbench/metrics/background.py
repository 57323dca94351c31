"""Entities that any model knows anyway: nobody needs a context for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from workbench.extraction.entities import Entity, Kind

PROJECTS = 3
"""An entity that stands in as many unrelated projects belongs to none of them."""

_NAMES: dict[Kind, str] = {
    "path": "README.md package.json package-lock.json tsconfig.json pyproject.toml setup.py requirements.txt go.mod"
    " Cargo.toml Cargo.lock yarn.lock __init__.py conftest.py .gitignore .env /dev/null /usr/bin /usr/local/bin"
    " /bin/bash /bin/sh /usr/bin/env Node.js node.js Next.js next.js Vue.js vue.js Three.js three.js",
    "url": "http://localhost https://github.com https://pypi.org https://npmjs.com https://example.com",
    "identifier": "in_progress not_started files_with_matches TypeScript JavaScript GitHub GitLab PyPI PostgreSQL"
    " MySQL SQLite GraphQL OpenAI ChatGPT DeepSeek LangChain PyTorch TensorFlow NumPy DevOps macOS iPhone node_modules"
    " toString forEach indexOf isArray hasOwnProperty innerHTML addEventListener setTimeout"
    " setInterval useState useEffect useRef useMemo useCallback snake_case camelCase PascalCase",
    "number": "1000 1024 2000 3000 4096 5000 8000 8080 10000 30000 60000 100000 120000 180000 300000 600000"
    " 2020 2021 2022 2023 2024 2025 2026 0.25 0.75",
    "version": "0.0.1 0.1.0 1.0.0",
    "error": "TypeError ValueError KeyError RuntimeError AttributeError ImportError IndexError"
    " ModuleNotFoundError AssertionError FileNotFoundError NotImplementedError SyntaxError ReferenceError RangeError"
    " ENOENT EACCES EEXIST SIGTERM SIGINT SIGKILL",
    "flag": "--help --version --verbose --force --all --quiet --debug --yes --no-verify --oneline --stat",
    "id": "utf-8 sha-256 x86-64 UTF-8 SHA-256 ISO-8601 RFC-3339 127.0.0.1 0.0.0.0",
}

_PHRASES: dict[Kind, str] = {
    "number": "0 %, 1 %, 10 %, 50 %, 100 %, 1 s, 5 s, 10 s, 30 s, 1 min, 5 min",
    "command": "git status, git diff, git log, git add, git commit, git push, git pull, git checkout, git show,"
    " git branch, git stash, npm install, npm test, npm run build, npm run test, go build, go test, go mod tidy,"
    " pip install, cargo build, cargo test, python -m pytest",
}

BUILTIN_BACKGROUND = frozenset(
    Entity(kind, text) for kind, texts in _NAMES.items() for text in texts.split()
) | frozenset(Entity(kind, text) for kind, texts in _PHRASES.items() for text in texts.split(", "))
"""What stands in too many projects to be one's own, whatever the run; timeouts and other values of tool schemas too."""


def background(entities_by_project: Mapping[str, Iterable[Entity]]) -> frozenset[Entity]:
    """The entities that stand in at least `PROJECTS` of the projects.

    Args:
        entities_by_project: all entities of each project's sessions. Projects must be unrelated: forks share all.
    """
    counts = Counter(entity for entities in entities_by_project.values() for entity in set(entities))
    return frozenset(entity for entity, count in counts.items() if count >= PROJECTS)
