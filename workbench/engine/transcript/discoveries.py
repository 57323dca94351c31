"""What is to be masked in a text, and where."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.listed_people import is_listed
from workbench.engine.transcript.people import is_person
from workbench.engine.transcript.plain_view import PlainView
from workbench.engine.transcript.secret_names import MARK
from workbench.engine.transcript.spans import search_before

_PLACEHOLDER = re.compile(MARK + r"[a-z-]+-\d+(?:-[0-9a-f]+)?")

_DOMAIN = re.compile(
    r"(?:@|%40)((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24})(?![\w-])"
)
SIGNS_OF_ADDRESSES = ("@", "%40")
"""The sign between the name and the domain of an e-mail address, as the kind of its place says
it.
"""
_LOCAL = re.compile(r"[A-Za-z0-9._%+-]{1,64}\Z")
_SERVICES = frozenset({"git", "noreply", "no-reply", "hg", "svn"})
"""Names before an @ that are no person's: of clones over ssh, and of machines that sign commits."""
_PICTURE = re.compile(r"\dx\.")


class Discovery(NamedTuple):
    """What is to be masked: where it is (half-open), its kind, and how it reads without escapes
    and colours.
    """

    start: int
    stop: int
    kind: str
    value: str


def discovered(places: Iterable[Place], view: PlainView) -> Iterator[Discovery]:
    """What a view of a text has at these places, but for what is masked already."""
    for place in places:
        value = view.text[place.start : place.stop]
        if MARK not in value:
            start, stop = view.original(place.start, place.stop)
            yield Discovery(start, stop, place.kind, value)


def placeholders(text: str) -> list[Discovery]:
    """What is masked already, in order."""
    if MARK not in text:
        return []
    masked: list[Discovery] = []
    for match in _PLACEHOLDER.finditer(text):
        masked.append(Discovery(match.start(), match.end(), kind="", value=""))
    return masked


def without_overlaps(
    discoveries: Iterable[Discovery], placeholders: list[Discovery]
) -> list[Discovery]:
    """The discoveries by place, without those that overlap a placeholder or an earlier one."""
    separate = [*placeholders]
    starts = [placeholder.start for placeholder in placeholders]
    for discovery in discoveries:
        position = bisect_right(starts, discovery.start)
        if position > 0 and separate[position - 1].stop > discovery.start:
            continue
        if position < len(separate) and separate[position].start < discovery.stop:
            continue
        separate.insert(position, discovery)
        starts.insert(position, discovery.start)
    return [discovery for discovery in separate if discovery.kind]


def mail_addresses(text: str) -> Iterable[Place]:
    """The e-mail addresses in a text; the kind is the sign between name and domain."""
    for domain in _DOMAIN.finditer(text):
        local = search_before(_LOCAL, text, domain.start(), 64)
        if local is None or _PICTURE.match(domain[1]):
            continue
        name = local.group().lstrip(".%-")
        if not name or name.lower() in _SERVICES:
            continue
        sign = domain.group().removesuffix(domain[1])
        start = domain.start() - len(name)
        yield Place(start, domain.end(), sign)


def names_in(local: str) -> list[str]:
    """The given name and the surname before the @ of an address, if it is made of such."""
    words = [word.title() for word in re.findall(r"[^\W\d_]{2,}", local)]
    if len(words) < 2 or not any(map(is_listed, words)):
        return []
    if not is_person(" ".join(words)):
        return []
    return words
