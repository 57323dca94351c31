"""The kinds of personal data that can be masked. What finds them is `personal`, which takes a third of
a second to load.
"""

KINDS = frozenset(
    {
        "bank",
        "birth",
        "card",
        "device",
        "email",
        "home",
        "iban",
        "id",
        "ip",
        "login",
        "name",
        "phone",
        "place",
        "ssn",
    }
)
