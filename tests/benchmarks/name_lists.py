"""Writes the lists of given names and surnames that `--redact` knows, from public lists.

    pip install names english-words        # once; faker is a test dependency already
    python tests/benchmarks/name_lists.py [--check]

Surnames are the most frequent of the census of the United States of 1990 (public domain; in the
package names), and those of the library Faker (MIT). Given names are Faker's. Left out are words of
a dictionary (english-words, MIT), and the words of `no_person` in words.toml: a name that is a word
too would mask sentences and programs.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

import faker.providers.person as faker_people
import names
from english_words import get_english_words_set

sys.path.insert(0, str(Path(__file__).parents[2]))

ROOM = Path(__file__).parents[2] / "workbench" / "engine" / "transcript"
MOST_OF_CENSUS = 8_000
LEAST_LETTERS = 4
ENDINGS = ("s", "es", "ed", "ing")
"""Of words of a dictionary that lists none of these forms."""
MOST_LISTS_OF_RARE = 3
"""Most countries have a name in a list for all and one for its sex."""
SURNAMES_HEAD = """\
# Surnames of some seventy countries, one space between: the most frequent of the census of the United States of 1990
# (public domain), and those of the library Faker (https://github.com/joke2k/faker, MIT). Words of a dictionary and of
# programs are left out. tests/benchmarks/name_lists.py writes this list.
"""
GIVEN_HEAD = """\
# Rarer given names, one space between: those of the library Faker (https://github.com/joke2k/faker, MIT) that are in no
# dictionary and are no surname. tests/benchmarks/name_lists.py writes this list.
"""


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--check", action="store_true", help="say whether the files are as this program writes them"
    )
    check = options.parse_args().check
    words = dictionary() | no_person()
    surnames = {name for name in (*census(), *faker_names("last_name")) if is_kept(name, words)}
    given = {name for name in rare(faker_names("first_name")) if is_kept(name, words)} - surnames
    stale = 0
    for file, head, listed in (
        ("surnames.txt", SURNAMES_HEAD, surnames),
        ("rare_given_names.txt", GIVEN_HEAD, given),
    ):
        text = (
            head
            + "\n".join(textwrap.wrap(" ".join(sorted(listed)), 119, break_on_hyphens=False))
            + "\n"
        )
        if check:
            stale += (ROOM / file).read_text("utf-8") != text
        else:
            (ROOM / file).write_text(text, "utf-8")
        print(f"{file}: {len(listed)} names")
    return int(stale > 0)


def no_person() -> set[str]:
    """Words that `--redact` takes for no name of a person."""
    lists = tomllib.loads((ROOM / "words.toml").read_text("utf-8"))
    return set(lists["no_person"].split())


def dictionary() -> set[str]:
    """The words that a dictionary writes in small letters."""
    return {
        word for word in get_english_words_set(["web2", "gcide"], lower=False) if word.islower()
    }


def census() -> Iterator[str]:
    """The most frequent surnames of the census."""
    lines = (Path(names.__file__).parent / "dist.all.last").read_text("ascii").splitlines()
    for line in lines[:MOST_OF_CENSUS]:
        yield line.split()[0].title()


def faker_names(part: str) -> Iterator[str]:
    """The names in Faker's lists of all countries whose attribute has this part, again for each
    further list.
    """
    for module in pkgutil.iter_modules(faker_people.__path__):
        provider = importlib.import_module(f"{faker_people.__name__}.{module.name}").Provider
        for attribute in dir(provider):
            listed = getattr(provider, attribute)
            if part in attribute and isinstance(listed, list | tuple | dict):
                yield from filter(lambda name: isinstance(name, str), listed)


def rare(listed: Iterable[str]) -> Iterator[str]:
    """The names of one list or two; the others are in given_names.txt, or are left out there
    since they are words.
    """
    for name, count in Counter(listed).items():
        if count <= MOST_LISTS_OF_RARE:
            yield name


def is_kept(name: str, words: Set[str]) -> bool:
    """Whether a name is one word of Latin, Greek or Cyrillic letters, and no word of a language
    or a program.
    """
    is_name = (
        name.isalpha() and name.istitle() and len(name) >= LEAST_LETTERS and max(name) < "\u0530"
    )
    lower = name.lower()
    stems = (
        lower,
        lower.removesuffix("s"),
        lower.removesuffix("es"),
        lower.removesuffix("ed"),
        lower.removesuffix("ing"),
    )
    return is_name and words.isdisjoint(stems) and f"{stems[-1]}e" not in words


if __name__ == "__main__":
    sys.exit(main())
