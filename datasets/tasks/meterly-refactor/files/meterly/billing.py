"""Invoices. Everything about money is in here, which is the problem."""

import calendar
from datetime import date, datetime

from meterly import readings, settings, tariffs


def period_of(text):
    """'2026-03' -> (first day, first day of the next month)."""
    year, month = map(int, text.split("-"))
    days = calendar.monthrange(year, month)[1]
    start = date(year, month, 1)
    stop = date(year + month // 12, month % 12 + 1, 1)
    assert (stop - start).days == days
    return start, stop


def make_invoice(customer, period, series):
    """The invoice of a customer for a period such as '2026-03'.

    series: meter number -> readings in order of time.
    """
    start, stop = period_of(period)
    invoice = {"number": f"{period.replace('-', '')}-{customer.number}", "customer": customer.number, "period": period,
               "lines": [], "net": 0.0, "vat": 0.0, "gross": 0.0}
    vat = 0.0
    for kind, meter in sorted(customer.meters.items()):
        edges = [start] + tariffs.changes(kind, customer.group, start, stop) + [stop]
        for a, b in zip(edges, edges[1:]):
            tariff = tariffs.valid(kind, customer.group, a)
            kwh = readings.consumption(series.get(meter, []), _midnight(a), _midnight(b))
            kwh = round(kwh, 3)
            amount = round(kwh * tariff[4], 2)
            invoice["lines"].append({"kind": kind, "text": f"{kind} {a:%d.%m.} to {b:%d.%m.} {kwh:.3f} kWh", "amount": amount})
            vat += amount * settings.VAT[kind]
        tariff = tariffs.valid(kind, customer.group, start)
        invoice["lines"].append({"kind": kind, "text": f"base fee {kind}", "amount": tariff[3]})
        vat += tariff[3] * settings.VAT[kind]
    invoice["net"] = round(sum(line["amount"] for line in invoice["lines"]), 2)
    invoice["vat"] = round(vat, 2)
    gross = invoice["net"] + invoice["vat"]
    if customer.credit:
        invoice["lines"].append({"kind": "credit", "text": "credit of the previous year", "amount": -customer.credit})
        gross -= customer.credit
    invoice["gross"] = round(gross, 2)
    return invoice


def _midnight(day):
    return datetime(day.year, day.month, day.day)


def format_amount(amount):
    text = f"{amount:,.2f}"
    return text.replace(",", " ").replace(".", ",")


def invoice_text(invoice, customer):
    rows = [f"Invoice {invoice['number']}", f"{customer.name}, {settings.HOUSES[customer.house]}", ""]
    for line in invoice["lines"]:
        rows.append(f"{line['text']:<52}{format_amount(line['amount']):>12}")
    rows += ["-" * 64, f"{'net':<52}{format_amount(invoice['net']):>12}", f"{'value added tax':<52}{format_amount(invoice['vat']):>12}",
             f"{'to pay':<52}{format_amount(invoice['gross']):>12}"]
    return "\n".join(rows) + "\n"


ACCOUNTS = {"electricity": 4400, "heat": 4410, "base": 4420, "vat": 1776, "rounding": 4480, "credit": 4400}


def ax3_records(invoice):
    records = []
    for line in invoice["lines"]:
        account = ACCOUNTS["base"] if line["text"].startswith("base fee") else ACCOUNTS[line["kind"]]
        records.append((invoice["number"], invoice["customer"], account, int(line["amount"] * 100), line["text"][:40]))
    records.append((invoice["number"], invoice["customer"], ACCOUNTS["vat"], int(invoice["vat"] * 100), "value added tax"))
    rest = int(round(invoice["gross"] * 100)) - sum(r[3] for r in records)
    if rest:
        records.append((invoice["number"], invoice["customer"], ACCOUNTS["rounding"], rest, "rounding"))
    return records


def ax3_files(invoices, period):
    """File name -> bytes."""
    records = [record for invoice in invoices for record in ax3_records(invoice)]
    files = {}
    for n in range(0, len(records), settings.MAX_RECORDS):
        part = records[n:n + settings.MAX_RECORDS]
        rows = [f"H;{settings.CREDITOR};{period};{len(part)}"]
        rows += [";".join(("P", number, customer, str(account), str(cents), text)) for number, customer, account, cents, text in part]
        rows.append(f"T;{sum(r[3] for r in part)}")
        suffix = "" if n == 0 else f"-{n // settings.MAX_RECORDS + 1}"
        files[f"journal-{period}{suffix}.ax3"] = ("\r\n".join(rows) + "\r\n").encode("latin-1")
    return files


def bank_list(invoices):
    rows = ["customer;gross"]
    for invoice in invoices:
        if invoice["gross"] > 0:
            rows.append(f"{invoice['customer']};{invoice['gross']:.2f}")
    return "\n".join(rows) + "\n"


def reminder_fee(days, gross):
    """1 percent after 14 days, 2.5 percent after 30, at least 2 euro, at most 40."""
    percent = 0.025 if days > 30 else 0.01 if days > 14 else 0
    if not percent:
        return 0.0
    return min(40.0, max(2.0, round(gross * percent, 2)))


def instalments(gross, months):
    """Equal parts; the last one takes what is left."""
    part = round(gross / months, 2)
    return [part] * (months - 1) + [round(gross - part * (months - 1), 2)]
