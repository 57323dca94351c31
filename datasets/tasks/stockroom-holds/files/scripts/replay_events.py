"""Replays a day of shop requests against a fresh database and prints the audit and the stock."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from stockroom import api, audit, catalog, clock, config, expiry, ledger, report, store


def main(path, watch=None):
    db, settings = store.connect(), config.Config()
    catalog.load_csv(db, "data/skus.csv")
    orders, answers = {}, {}
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        event = json.loads(line)
        clock.set_now(event["at"])
        if event["action"] == "receipt":
            ledger.post(db, event["sku"], event["warehouse"], event["pieces"], "receipt", event["ref"])
            continue
        if event["action"] == "sweep":
            expiry.sweep(db, settings)
            continue
        if event["action"] != "place":
            event["order"] = orders.get(event["shop_order"])
        status, answer = api.handle(db, settings, event)
        if event["action"] == "place" and status == 200:
            orders[event["shop_order"]] = answer["order"]
        answers[status] = answers.get(status, 0) + 1
        touched = [l["sku"] for l in event.get("lines", [])]
        if watch and (watch in touched or watch == event["shop_order"] or answer.get("code") and watch in answer["message"]):
            print(f"{number:>4} {event['at'][11:]} {event['action']:<7} {event['shop_order']} -> {status} {json.dumps(answer, sort_keys=True)}")
        found = audit.findings(db, settings)
        if found:
            print(f"line {number}, {event['at']}, {event['action']} {event['shop_order']}: {'; '.join(found)}")
            if not watch:
                return 1
    print("answers:", ", ".join(f"{n} x {s}" for s, n in sorted(answers.items())))
    print(report.full(db, settings))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
