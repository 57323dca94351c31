"""Who has not paid, and what is added."""

from datetime import date

from meterly.billing import format_amount, reminder_fee


def overdue(invoices, paid, due, today):
    """(invoice, days late, fee) of what is open; paid: invoice number -> amount."""
    days = (today - due).days
    found = []
    for invoice in invoices:
        rest = round(invoice["gross"] - paid.get(invoice["number"], 0.0), 2)
        if rest > 0.004 and days > 0:
            found.append((invoice, days, reminder_fee(days, rest)))
    return found


def letter(invoice, days, fee):
    return (f"Invoice {invoice['number']} over {format_amount(invoice['gross'])} has been open for {days} days.\n"
            f"Reminder fee: {format_amount(fee)}\nPlease pay {format_amount(round(invoice['gross'] + fee, 2))}.\n")
