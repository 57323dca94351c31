"""When a program looks for garbage: neither in what it loads, nor when it ends.

All that it loads lives until then, and the system takes the memory back at once. Looking through
it takes half a second in all.
"""

import atexit
import gc


def look_later() -> None:
    """Look for none until `look_from_now`, nor when the program ends."""
    gc.disable()
    atexit.register(gc.freeze)


def look_from_now() -> None:
    """Look for garbage in what comes from now on."""
    gc.freeze()
    gc.enable()
