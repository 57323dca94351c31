"""Closed lists that entities are recognised by."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SUFFIXES = _set(
    "py pyi ts tsx js jsx mjs cjs go rs md mdx json jsonl yaml yml toml txt sh bash css scss html java c h cc cpp hpp"
    " sql mod lock cfg ini csv tsv ipynb ex exs php rb vue svelte kt swift scala cs lua zig proto graphql tf xml svg"
    " png jpg jpeg gif pdf log rst tex zip tar gz tgz whl jar db sqlite parquet ps1 bat astro gradle txtar"
)
"""Endings that make a file of a name without a slash."""

DOTFILES = _set(
    ".gitignore .gitattributes .env .dockerignore .npmrc .editorconfig .bashrc .zshrc .prettierrc .eslintrc"
)
"""Files that have nothing but an ending."""

ERRNO = _set(
    "ENOENT EACCES EPERM EEXIST ENOTDIR EISDIR EINVAL EPIPE EAGAIN ETIMEDOUT ECONNREFUSED ECONNRESET EADDRINUSE"
    " ENOTEMPTY ENOSPC EMFILE ENOTFOUND SIGSEGV SIGKILL SIGTERM SIGINT SIGABRT SIGPIPE"
)
"""Names of system errors and signals."""

PROGRAMS = _set(
    "git go npm npx pnpm yarn bun node deno python python3 pip uv poetry pytest ruff mypy cargo rustc make cmake docker"
    " kubectl helm terraform gh gcloud aws curl wget mise tsc eslint prettier jest vitest mvn gradle java javac ruby"
    " bundle rails composer php mix dotnet brew apt apt-get systemctl ssh scp psql sqlite3 redis-cli tox nox hatch"
)
"""What a command line begins with."""

PROSE = _set(
    "a an the to for from with and or in on of is are was that this it all at by not into if as we you i"
    " sure sense changes use"
)
"""Words that show that a line is no command."""

OWNERS = _set("self this cls console logger math window document process")
"""What stands before a dot in code and is no file."""

ERROR_WORDS = _set("error Error ERROR fatal panic FAIL FAILED failed Failed")
"""Each line that is read as an error message holds one of them."""

MEMBERS = _set("c h go mod lock map log db key json sum cfg")
"""Endings that are members of an object as well, where a single letter stands before them."""

GO_WORDS = _set("build test run mod vet fmt get install tool generate env work")
"""What makes a command of the English word `go`."""

UNIT = {
    form: unit
    for unit, forms in {
        "ms": "ms millisecond milliseconds", "s": "s sec secs second seconds", "min": "min mins minute minutes",
        "h": "h hr hrs hour hours", "d": "day days", "B": "byte bytes", "KB": "kb kib", "MB": "mb mib",
        "GB": "gb gib", "TB": "tb tib", "%": "% percent", "k": "k", "px": "px", "tokens": "token tokens",
        "Hz": "hz", "fps": "fps",
    }.items()
    for form in forms.split()
}  # fmt: skip
"""Each way of writing a unit, in lower case, and the unit."""

STOP = _set(
    "the and for that this with from are was not you have has will can but all its let now into out our use using"
    " then than when what which there here they them their been also just more some any get got set one two new"
    " old see your would should could"
)
"""Words that say nothing."""
