"""python -m kiln.sync ADDRESS: sends what the hub doesn't have yet."""

import sys

from kiln import spool
from kiln.hub import Hub


def sync(hub, firings):
    sent = 0
    known = {}
    for firing in firings:
        kiln = firing["kiln"]
        if kiln not in known:
            known[kiln] = hub.keys(kiln)
        key = spool.key(firing)
        if key in known[kiln]:
            continue
        hub.send(firing, key)
        print("sent", key)
        sent += 1
    return sent


if __name__ == "__main__":
    print(sync(Hub(sys.argv[1]), spool.firings()), "firings sent")
