"""Flats and shops with their meters."""


class Customer:
    def __init__(self, number, name, house, group="home", meters=(), credit=0.0):
        self.number = number
        self.name = name
        self.house = house
        self.group = group
        self.meters = dict(meters)
        self.credit = credit


def directory():
    """The customers of the four houses. Every ninth is a shop, every seventh has heat only."""
    found = []
    for i in range(140):
        house = "ABCD"[i // 35]
        meters = {"heat": f"H{house}{i:03}"}
        if i % 7:
            meters["electricity"] = f"E{house}{i:03}"
        found.append(Customer(f"K{2000 + i * 3}", f"Unit {house}{i % 35 + 1}", house, "shop" if i % 9 == 4 else "home", meters,
                              credit=round((i * 37 % 11) * 1.15, 2) if i % 5 == 0 else 0.0))
    return found
