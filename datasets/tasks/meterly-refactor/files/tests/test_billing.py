from datetime import date, datetime, timedelta

import pytest

from meterly import billing, customers
from meterly.readings import Reading


def series(meter, *kwh, start=datetime(2026, 3, 1), step=1):
    return {meter: [Reading(meter, start + timedelta(days=i * step), k) for i, k in enumerate(kwh)]}


def customer(**kinds):
    return customers.Customer("K1", "Unit A1", "A", meters=kinds)


@pytest.mark.parametrize("text, expected", [
    ("2026-03", (date(2026, 3, 1), date(2026, 4, 1))), ("2026-12", (date(2026, 12, 1), date(2027, 1, 1))),
    ("2024-02", (date(2024, 2, 1), date(2024, 3, 1))),
])
def test_period_of(text, expected):
    assert billing.period_of(text) == expected


def test_heat_has_one_line_and_a_base_fee():
    invoice = billing.make_invoice(customer(heat="H1"), "2026-03", series("H1", 0.0, 1000.0, step=31))
    assert [line["amount"] for line in invoice["lines"]] == [113.2, 7.25]
    assert (invoice["net"], invoice["vat"], invoice["gross"]) == (120.45, 12.05, 132.5)


def test_a_price_change_splits_the_month():
    invoice = billing.make_invoice(customer(electricity="E1"), "2026-03", series("E1", 0.0, 100.0, 250.0, step=15))
    assert [line["text"][:26] for line in invoice["lines"]] == ["electricity 01.03. to 16.0", "electricity 16.03. to 01.0", "base fee electricity"]
    assert [line["amount"] for line in invoice["lines"]] == [27.91, 39.8, 4.9]


def test_a_credit_is_taken_off():
    someone = customers.Customer("K1", "Unit A1", "A", meters={"heat": "H1"}, credit=10.35)
    invoice = billing.make_invoice(someone, "2026-03", series("H1", 0.0, 1000.0, step=31))
    assert invoice["gross"] == 122.15


def test_the_journal_adds_up():
    invoice = billing.make_invoice(customer(heat="H1"), "2026-03", series("H1", 0.0, 1000.0, step=31))
    files = billing.ax3_files([invoice], "2026-03")
    rows = files["journal-2026-03.ax3"].decode("latin-1").split("\r\n")
    assert rows[0] == "H;MTL-0093;2026-03;3"
    assert int(rows[-2].split(";")[1]) == sum(int(row.split(";")[4]) for row in rows if row.startswith("P;"))


def test_the_journal_is_split():
    invoice = billing.make_invoice(customer(heat="H1"), "2026-03", series("H1", 0.0, 1000.0, step=31))
    assert sorted(billing.ax3_files([invoice] * 200, "2026-03")) == ["journal-2026-03-2.ax3", "journal-2026-03.ax3"]


@pytest.mark.parametrize("days, gross, fee", [(14, 100, 0), (15, 100, 2.0), (15, 500, 5.0), (31, 500, 12.5), (31, 9000, 40.0)])
def test_reminder_fee(days, gross, fee):
    assert billing.reminder_fee(days, gross) == fee


@pytest.mark.parametrize("gross, months, parts", [(100.0, 3, [33.33, 33.33, 33.34]), (0.05, 2, [0.03, 0.02]), (12.0, 1, [12.0])])
def test_instalments(gross, months, parts):
    assert billing.instalments(gross, months) == parts


@pytest.mark.parametrize("amount, text", [(0.0, "0,00"), (1234.5, "1 234,50"), (-3.2, "-3,20")])
def test_format_amount(amount, text):
    assert billing.format_amount(amount) == text
