"""Addresses and serial numbers of machines, which lead to who owns them."""

import re
from collections.abc import Iterator
from ipaddress import ip_address

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.signs import matches_with

_IP4 = re.compile(
    r"(?<![\w.§-])(?<![=~<>!]=)(?<![vV]ersion["
    r" =])(?<![A-Za-z]/)(?<!rv:)(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)"
)
_IP6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,40}\d)(?:[0-9A-Fa-f]{1,4})?(?::[0-9A-Fa-f]{0,4}){3,7}(?![\w:])"
)
_NAME_SERVERS = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9"})


def ips(text: str) -> Iterator[Place]:
    """Addresses in a network, but for those that all know or that lead nowhere."""
    for match in matches_with(_IP_IN_NAME, text, "ip-"):
        yield Place(*match.span(1), "ip")
    for pattern, sign in ((_IP4, "."), (_IP6, ":")):
        for match in matches_with(pattern, text, sign):
            if _is_of_a_machine(match.group()):
                yield Place(*match.span(), "ip")


def _is_of_a_machine(text: str) -> bool:
    """Whether it is an address that tells of a machine: no mask, no network such as 10.0.0.0, no
    name server that all use.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return False
    is_public = text in _NAME_SERVERS or text.startswith("255.") or text.endswith(".0.0")
    return not is_public


_MAC = re.compile(
    r"(?<![\w:-])(?:[0-9A-Fa-f]{2}([:-]))(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])"
)
_MAC_OF_CISCO = re.compile(r"(?<![\w.])(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}(?![\w.])")
_NOBODY = re.compile(r"(?:00|ff)(?:[:-](?:00|ff)){5}|01[:-]00[:-]5e.*|33[:-]33.*", re.IGNORECASE)
_ATTACHED = re.compile(
    r"^(?P<serial>[A-Za-z0-9.:_-]{6,40})[ \t]+(?:device|unauthorized|offline|recovery|sideload)"
    r"(?=[ \t]+(?:product|usb|transport_id):|[ \t\r]*$)",
    re.MULTILINE,
)
_HINTS_OF_ATTACHED = ("adb devices", "List of devices attached", "transport_id:")
_SERIAL_OF_MACHINE = re.compile(
    r"^[ \t]*(?:Serial Number(?: \(system\))?|Device Serial|Hardware UUID|Provisioning UDID)["
    r" \t]*:[ \t]+"
    r"(?P<serial>[A-Z0-9-]{6,40})",
    re.MULTILINE,
)
_IP_IN_NAME = re.compile(r"(?<![\w-])ip-((?:\d{1,3}-){3}\d{1,3})(?![\w-])")


def devices(text: str) -> Iterator[Place]:
    """Addresses of network cards."""
    for pattern in (_MAC, _MAC_OF_CISCO):
        for match in pattern.finditer(text):
            if not _NOBODY.fullmatch(match.group()):
                yield Place(*match.span(), "device")
    for match in matches_with(_ATTACHED, text, *_HINTS_OF_ATTACHED):
        yield Place(*match.span("serial"), "device")
    for match in matches_with(_SERIAL_OF_MACHINE, text, "Serial", "UUID"):
        yield Place(*match.span("serial"), "device")
