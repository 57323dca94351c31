"""A parcel carrier's support database, one quarter. Same seed, same rows."""
import random, sqlite3
from datetime import datetime, timedelta

r = random.Random(1043)
db = sqlite3.connect("support.db")
db.executescript("""
create table customers (id text primary key, name text, city text, contract text, since text);
create table contracts (code text primary key, liability_cents_per_kg integer, liability_max_cents integer, claim_days integer, late_refund_percent integer);
create table shipments (id text primary key, customer text, service text, weight_g integer, price_cents integer, handed_in text, promised text, declared_cents integer);
create table scans (shipment text, at text, depot text, code text, note text);
create table claims (id text primary key, shipment text, kind text, filed text, asked_cents integer, state text, decided text, paid_cents integer, reason text, clerk text);
create table notes (at text, customer text, claim text, clerk text, text text);
create table depots (code text primary key, city text, timezone text);
""")
db.executemany("insert into contracts values (?,?,?,?,?)", [("BASIC", 1000, 50000, 7, 0), ("PLUS", 1000, 100000, 14, 50), ("TRADE", 1500, 250000, 21, 100), ("TRADE-OLD", 1000, 250000, 14, 100)])
db.executemany("insert into depots values (?,?,?)", [("VIE", "Vienna", "+01:00"), ("GRZ", "Graz", "+01:00"), ("LNZ", "Linz", "+01:00"), ("MUC", "Munich", "+01:00"), ("PRG", "Prague", "+01:00"), ("LIS", "Lisbon", "+00:00"), ("HEL", "Helsinki", "+02:00")])
names = ["Aldana Bakery", "Brix Optics", "Corvin Books", "Dorn Ceramics", "Elm Records", "Fabry Wines", "Galt Tools", "Hollis Lamps", "Ister Maps", "Juno Seeds", "Kessel Clocks", "Lorne Toys"]
for i, name in enumerate(names):
    db.execute("insert into customers values (?,?,?,?,?)", (f"C-{510 + i * 7}", name, r.choice(["Vienna", "Graz", "Linz"]), ["TRADE-OLD", "BASIC", "PLUS", "TRADE"][i % 4], f"20{18 + i % 6}-0{1 + i % 9}-01"))
db.execute("update customers set contract = 'TRADE' where id = 'C-510'")
start, depots = datetime(2026, 1, 7, 8), ["VIE", "GRZ", "LNZ", "MUC", "PRG", "LIS", "HEL"]
shipment, claim = 700100, 4400
for n in range(900):
    customer = f"C-{510 + r.choice([0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) * 7}"
    shipment += r.randrange(1, 9)
    sid = f"P{shipment}"
    service = r.choice(["eco", "eco", "next", "noon"])
    handed = start + timedelta(hours=r.uniform(0, 80 * 24))
    days = {"eco": 3, "next": 1, "noon": 1}[service]
    promised = (handed + timedelta(days=days)).replace(hour=12 if service == "noon" else 18, minute=0, second=0, microsecond=0)
    weight, declared = r.randrange(300, 21000), r.choice([0, 0, 0, r.randrange(4000, 90000)])
    db.execute("insert into shipments values (?,?,?,?,?,?,?,?)", (sid, customer, service, weight, 590 + weight // 10 + {"eco": 0, "next": 400, "noon": 900}[service], handed.isoformat(timespec="minutes"), promised.isoformat(timespec="minutes"), declared))
    route, t = ["VIE", r.choice(depots[1:]), r.choice(depots)], handed
    for k, depot in enumerate(route):
        t += timedelta(hours=r.uniform(4, 14 if service != "eco" else 26))
        db.execute("insert into scans values (?,?,?,?,?)", (sid, t.isoformat(timespec="minutes"), depot, "IN", ""))
        if r.random() < 0.05:
            db.execute("insert into scans values (?,?,?,?,?)", (sid, (t + timedelta(minutes=20)).isoformat(timespec="minutes"), depot, "DMG", r.choice(["box crushed", "wet", "tape open"])))
    t += timedelta(hours=r.uniform(3, 16))
    lost = r.random() < 0.02
    if not lost:
        db.execute("insert into scans values (?,?,?,?,?)", (sid, t.isoformat(timespec="minutes"), route[-1], "DLV", r.choice(["door", "neighbour", "shop"])))
    damaged = db.execute("select count(*) from scans where shipment = ? and code = 'DMG'", (sid,)).fetchone()[0]
    late = t > promised
    kind = "lost" if lost else "damage" if damaged and r.random() < .8 else "late" if late and r.random() < .25 else None
    if kind:
        claim += r.randrange(1, 4)
        filed = t + timedelta(days=r.uniform(0.5, 19))
        asked = declared or r.randrange(2000, 60000)
        if kind == "late":
            asked = 590 + weight // 10
        contract = db.execute("select contract from customers where id = ?", (customer,)).fetchone()[0]
        used = "TRADE-OLD" if contract == "TRADE" and customer == "C-510" and filed < datetime(2026, 3, 9) else contract
        per_kg, most, limit, percent = db.execute("select liability_cents_per_kg, liability_max_cents, claim_days, late_refund_percent from contracts where code = ?", (used,)).fetchone()
        in_time = filed <= t + timedelta(days=limit)
        price = 590 + weight // 10 + {"eco": 0, "next": 400, "noon": 900}[service]
        paid = 0 if not in_time else min(asked, price * percent // 100) if kind == "late" else min(asked, most, per_kg * weight // 1000)
        state, why = ("paid", "") if paid else ("refused", "R2 out of time" if not in_time else "R5 not in contract")
        if r.random() < 0.03 and paid:
            state, why, paid = "refused", "R7 no damage scan", 0
        db.execute("insert into claims values (?,?,?,?,?,?,?,?,?,?)", (f"K-{claim}", sid, kind, filed.isoformat(timespec="minutes"), asked, state, (filed + timedelta(days=r.uniform(2, 9))).date().isoformat(), paid, why, r.choice(["ob", "tn", "wk"])))
        if r.random() < .5:
            db.execute("insert into notes values (?,?,?,?,?)", (filed.isoformat(timespec="minutes"), customer, f"K-{claim}", r.choice(["ob", "tn", "wk"]), r.choice(["photos received", "customer called, wants an answer this week", "asked depot for the scan history", "packaging was our own carton", "invoice of the goods is missing", "checked with " + r.choice(depots)])))
db.execute("insert into notes values ('2026-01-02T09:10','C-510','','wk','new contract TRADE signed on 19 Dec, valid from 1 January 2026. To be entered by sales.')")
db.execute("insert into notes values ('2026-03-09T15:42','C-510','','tn','contract changed from TRADE-OLD to TRADE in the system today, sales had forgotten it. Nobody looked at open or closed claims.')")
db.execute("insert into notes values ('2026-03-30T10:05','C-510','','ob','customer complains about refused claims, says contract gives 21 days. Case 88-1043 opened.')")
db.commit()
