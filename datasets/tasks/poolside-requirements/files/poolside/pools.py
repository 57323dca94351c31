"""The six pools. The codes are the health office's."""

from collections import namedtuple

from poolside.errors import PoolsideError

Pool = namedtuple("Pool", "code name kind manager")

POOLS = {
    pool.code: pool
    for pool in (
        Pool("HS", "Hillside School Pool", "school", "Ruben Achterberg"),
        Pool("LI", "Lido", "outdoor", "Wanda Prill"),
        Pool("NB", "Northgate Baths", "indoor", "Theo Maas"),
        Pool("RW", "Riverside Wave Pool", "outdoor", "Wanda Prill"),
        Pool("TH", "Thermal Hall", "thermal", "Sigrid Oyen"),
        Pool("TK", "Tannery Kids' Pool", "kids", "Theo Maas"),
    )
}

HOURS = (7, 11, 15, 19)
"""When the lifeguards measure."""


def pool(code):
    if code not in POOLS:
        raise PoolsideError(f"there is no pool {code!r}; there are {', '.join(sorted(POOLS))}")
    return POOLS[code]
