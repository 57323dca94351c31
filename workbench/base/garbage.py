"""When a program looks for garbage: neither in what it loads, nor when it ends.

All that it loads lives until then, and the system takes the memory back at once. Looking through
it takes half a second in all.
"""

import atexit
import gc

NEW_OBJECTS = 20_000
"""After how many new ones a program looks for garbage: Python's 700 cost long sessions a
fifteenth of their time, and nearly all that they make is kept.
"""


def look_later() -> None:
    """Look for none until `look_from_now`, nor when the program ends."""
    gc.disable()
    atexit.register(gc.freeze)


def look_from_now() -> None:
    """Look for garbage in what comes from now on."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()
