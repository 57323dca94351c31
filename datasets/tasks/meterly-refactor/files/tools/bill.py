"""Makes a month's invoices, journal and bank list into out/."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from meterly import billing, customers, readings, statistics


def main(period):
    series = readings.by_meter(readings.load("data/readings.csv"))
    people = customers.directory()
    invoices = [billing.make_invoice(c, period, series) for c in people]
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / "invoices.txt").write_text("\n".join(billing.invoice_text(i, c) for i, c in zip(invoices, people)))
    for name, data in billing.ax3_files(invoices, period).items():
        (out / name).write_bytes(data)
    (out / "bank.csv").write_text(billing.bank_list(invoices))
    (out / "houses.txt").write_text(statistics.table(invoices, people))
    print(len(invoices), "invoices, mean", statistics.mean(invoices))
    print(statistics.table(invoices, people), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
