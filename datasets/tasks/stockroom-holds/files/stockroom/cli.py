"""python -m stockroom.cli sweep | stock SKU | report | audit"""

import sys

from stockroom import audit, config, expiry, report, store


def main(argv):
    db = store.connect("stockroom.db")
    settings = config.load("stockroom.json")
    command, *rest = argv or ["report"]
    if command == "sweep":
        print(f"{expiry.sweep(db, settings)} holds ended")
    elif command == "stock":
        print(report.stock_line(db, settings, rest[0]))
    elif command == "report":
        print(report.full(db, settings))
    elif command == "audit":
        found = audit.findings(db, settings)
        print("\n".join(found) or "clean")
        return 1 if found else 0
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
