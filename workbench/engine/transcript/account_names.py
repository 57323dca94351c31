"""Names of accounts: who logs in where, owns a file or a process, or works in a shell."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.words import words_of

_LOGIN = re.compile(
    r"(?:\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)\b[^\n|;&]{0,120}?[ \t]|(?:^|(?<=[\n(\[\s])))"
    r"([a-z_][a-z0-9_.-]{0,31})@([A-Za-z0-9][\w.-]{1,62})(?::[~/]|(?<=[\w])(?=[ \t\n]|$))"
)
_COMMAND = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh)\b")
_MACHINES = frozenset({"root", "git", "hg", "svn", "noreply"})
"""Names before an @ that are no person's."""


def logins(text: str) -> Iterator[Place]:
    """Who logs in where: `ssh bob@build`, and the prompt of a shell, `bob@laptop:~`."""
    for match in _LOGIN.finditer(text):
        prompt = match.group().endswith((":~", ":/"))
        if match[1] not in _MACHINES and (prompt or _COMMAND.match(match.group())):
            yield Place(match.start(1), match.end(2), "login")


class Owner(NamedTuple):
    """Where the name of an account stands, and what a text must hold one of for that."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


_OWNERS = (
    Owner(
        ("uid=", "gid="), re.compile(r"\b(?:uid|gid)=[1-9]\d{3,9}\((?P<name>[a-z_][\w.-]{0,31})\)")
    ),
    Owner(
        ("rw", "r-x"),
        re.compile(
            r"^[-bcdlps][-rwxsStT]{9}[.+@]?[ ]+\d+[ ]+(?P<name>[a-z_][\w.-]{1,31})[ ]+\S+[ ]+\d",
            re.MULTILINE,
        ),
    ),
    Owner(
        ("USER", "LOGNAME"),
        re.compile(
            r"^(?:export )?(?:USER|LOGNAME|USERNAME|SUDO_USER)="
            r"[\"']?(?P<name>[A-Za-z_][\w.-]{1,31})[\"']?[ \t\r]*$",
            re.MULTILINE,
        ),
    ),
    Owner(
        (" 0.", "%CPU"),
        re.compile(
            r"^(?P<name>[a-z_][\w.+-]{1,31})[ ]+\d{1,7}[ ]+\d{1,3}\.\d[ ]+\d{1,3}\.\d[ ]+\d",
            re.MULTILINE,
        ),
    ),
    Owner(
        ("pts/", "tty", "console"),
        re.compile(
            r"^(?P<name>[a-z_][\w.-]{1,31})[ ]+(?:pts/\d+|tty\w{0,4}|console(?= {1,9}[A-Z]))[ ]+",
            re.MULTILINE,
        ),
    ),
    Owner((" TTY=",), re.compile(r"\bsudo(?:\[\d{1,7}\])?:[ ]+(?P<name>[a-z_][\w.-]{1,31}) : ")),
    Owner(
        ("sudoers",),
        re.compile(r"^(?P<name>[a-z_][\w.-]{1,31}) is not in the sudoers file", re.MULTILINE),
    ),
    Owner(
        ("chown", "sudo -u", "su -", "user", "loginctl", "crontab", "chage"),
        re.compile(
            r"\b(?:chown|sudo -u|su -|su -l|adduser|useradd|usermod|deluser|userdel|loginctl"
            r" enable-linger"
            r"|crontab -u|chage)(?: -{1,2}[\w-]+){0,4} (?P<name>[a-z_][\w.-]{1,31})(?=[:\s]|$)"
        ),
    ),
    Owner(
        ("password for", "publickey for", "session opened", "session closed"),
        re.compile(
            r"\b(?:password|publickey|session opened|session closed) for "
            r"(?:invalid )?(?:user )?(?P<name>[a-z_][\w.-]{1,31})\b(?= from| by|\(|$)"
        ),
    ),
    Owner(("~",), re.compile(r"(?<![\w/~])~(?P<name>[a-z_][\w.-]{1,31})/")),
    Owner(("ssh://",), re.compile(r"\bssh://(?P<name>[a-z_][\w.-]{0,31})@")),
    Owner(
        ("]$", "]#"),
        re.compile(
            r"^\[(?P<name>[a-z_][\w.-]{0,31}@[A-Za-z0-9][\w.-]{0,62}) [^\]\n]{1,60}\][$#]",
            re.MULTILINE,
        ),
    ),
)
"""Who owns a file or a process, or works in a shell."""
_ACCOUNTS = words_of("accounts")
"""Names of accounts that no person has alone."""


def accounts(text: str) -> Iterator[Place]:
    """Who owns a file or a process, or works in a shell."""
    for owner in _OWNERS:
        for match in matches_with(owner.pattern, text, *owner.hints):
            if match["name"].partition("@")[0].lower() not in _ACCOUNTS:
                yield Place(*match.span("name"), "login")
