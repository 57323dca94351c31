"""The system calls that an agent is refused: they reach what no namespace and no bound covers.

Files in memory and shared segments count as nobody's memory; keys of the kernel and sockets to a
virtual machine's host are the same in every namespace. The filter is a program for the kernel, see
`man 2 seccomp`.
"""

import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

REFUSED = (
    "memfd_create",
    "memfd_secret",
    "shmget",
    "add_key",
    "request_key",
    "keyctl",
    "userfaultfd",
    "bpf",
    "perf_event_open",
    "io_uring_setup",
)
FAMILIES = (1, 2, 10, 16)
"""Kinds of sockets that an agent may have: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK."""
FOREIGN_CALLS = 0x40000000
"""Where the numbers of another way to call begin on x86-64; no program here needs it."""
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Where the kernel puts them for the filter to load."""
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 38
"""What the filter returns; refused calls say that there is no such call (ENOSYS)."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of a kind of processor: its own, that of `socket`, those of `REFUSED`, in order."""

    architecture: int
    socket: int
    refused: tuple[int, ...]


MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(0xC000003E, 41, (319, 447, 29, 248, 249, 250, 323, 321, 298, 425)),
    "aarch64": _Machine(0xC00000B7, 198, (279, 447, 194, 217, 218, 219, 282, 280, 241, 425)),
}


def filter_program() -> bytes:
    """The filter for this machine; empty for a kind of processor that `MACHINES` lacks."""
    machine = MACHINES.get(platform.machine())
    return b"" if machine is None else b"".join(_instructions(machine))


def _instructions(machine: _Machine) -> Iterator[bytes]:
    yield _instruction(LOAD, ARCHITECTURE)
    yield _instruction(EQUAL, machine.architecture, if_true=1)
    yield _instruction(RETURN, REFUSE)
    yield _instruction(LOAD, NUMBER)
    yield _instruction(AT_LEAST, FOREIGN_CALLS, if_false=1)
    yield _instruction(RETURN, REFUSE)
    for number in machine.refused:
        yield _instruction(EQUAL, number, if_false=1)
        yield _instruction(RETURN, REFUSE)
    yield _instruction(EQUAL, machine.socket, if_true=1)
    yield _instruction(RETURN, ALLOW)
    yield _instruction(LOAD, FIRST_ARGUMENT)
    for family in FAMILIES:
        yield _instruction(EQUAL, family, if_false=1)
        yield _instruction(RETURN, ALLOW)
    yield _instruction(RETURN, REFUSE)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; a comparison skips so many of those that follow."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
