"""Writes the logs of an afternoon: six services, one canary with a pool that is too small. Same seed, same bytes."""

import csv
import random
from datetime import datetime, timedelta
from pathlib import Path

r = random.Random(2291)
START = datetime(2026, 5, 19, 13, 30)
lines = {name: [] for name in ("edge", "accounts", "payd", "mailer", "search", "jobs")}
charges = []


def at(seconds):
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def log(service, seconds, host, level, text):
    lines[service].append((seconds, f"{at(seconds)} {host} {level:<5} {text}"))


def hexid(n):
    return "".join(r.choice("0123456789abcdef") for _ in range(n))


CANARY, DRAIN, BATCH = 25 * 60 + 20, 71 * 60 + 7, 32 * 60
customers = [f"cu_{4000 + i * 7}" for i in range(320)]
paths = [("/catalog", 40), ("/search", 22), ("/cart", 18), ("/checkout", 9), ("/pay", 8), ("/profile", 3)]
names, weights = zip(*paths)
t = 0.0
while t < 90 * 60:
    t += r.expovariate(2.0)
    path = r.choices(names, weights)[0]
    req, customer = hexid(12), r.choice(customers)
    host = f"edge-{r.randrange(1, 3)}"
    if path in ("/catalog", "/search"):
        ms = int(r.gauss(70, 20)) if r.random() > 0.004 else r.randrange(900, 1600)
        log("edge", t, host, "INFO", f"req={req} path={path} status=200 ms={max(ms, 9)}")
        if path == "/search":
            log("search", t + 0.01, f"search-{r.randrange(1, 3)}", "INFO", f"req={req} q_len={r.randrange(3, 30)} hits={r.randrange(0, 400)} ms={max(ms - 12, 4)}")
        continue
    amount = r.randrange(290, 18900)
    order = f"o_{hexid(6)}"
    for attempt in (1, 2, 3):
        now = t + (attempt - 1) * 3.05
        shard = int(customer[3:]) % 3 + 1
        acc = f"acc-{3 if shard == 2 and t >= DRAIN else shard}"
        slow = acc == "acc-2" and CANARY < t < DRAIN
        wait = 0.0
        if slow:
            loaded = 4 if t > BATCH else 1
            wait = r.expovariate(1 / (2.4 if loaded == 4 else 0.12))
            if wait > 0.4:
                log("accounts", now + 0.02, acc, "WARN", f"req={req} pool exhausted active=4 max=4 waiting={int(wait * 7) + 1}")
        ms = int(wait * 1000 + max(8, r.gauss(45, 15)))
        timed_out = ms > 3000
        level = "WARN" if ms > 1000 else "INFO"
        log("accounts", now + ms / 1000, acc, level, f"req={req} op=resolve customer={customer} ms={ms}")
        if path == "/pay":
            charge = f"ch_{hexid(10)}"
            payhost = f"payd-{r.randrange(1, 3)}"
            log("payd", now + 0.015, payhost, "INFO", f"req={req} order={order} idem={req}-{attempt} step=authorize amount={amount} currency=EUR")
            log("payd", now + 0.4, payhost, "INFO", f"req={req} order={order} idem={req}-{attempt} step=captured charge={charge} provider_ms={r.randrange(180, 390)}")
            charges.append((at(now + 0.4), charge, order, customer, amount, "captured"))
            if timed_out:
                log("payd", now + 3.0, payhost, "ERROR", f"req={req} order={order} idem={req}-{attempt} step=receipt code=PAY-7031 accounts did not answer in 3000 ms host={acc}")
            else:
                log("payd", now + 0.4 + ms / 1000, payhost, "INFO", f"req={req} order={order} idem={req}-{attempt} step=receipt ok")
                log("mailer", now + 2 + r.random(), "mail-1", "INFO", f"template=receipt order={order} customer={customer} charge={charge} queued")
        if timed_out:
            log("edge", now + 3.001, host, "WARN", f"req={req} path={path} attempt={attempt} upstream={'payd' if path == '/pay' else 'accounts'} host={acc} ms=3001 upstream timed out" + (", retrying" if attempt < 3 else ""))
            if attempt == 3:
                log("edge", now + 3.2, host, "ERROR", f"req={req} path={path} status=504 ms={9003 + r.randrange(40)} code=EDGE-504 gave up after 3 attempts customer={customer}")
                break
            continue
        log("edge", now + ms / 1000 + 0.02, host, "INFO" if ms < 1000 else "WARN", f"req={req} path={path} status=200 ms={ms + 20 + (attempt - 1) * 3001}")
        break

for minute in range(0, 90, 3):
    log("search", minute * 60 + 11.5, f"search-{1 + minute % 2}", "INFO", f"gc pause_ms={r.randrange(8, 30)} heap_mb={r.randrange(600, 900)}")
for minute, ms in ((24, 1840), (33, 2210), (58, 1975)):
    log("search", minute * 60 + 40, "search-1", "WARN", f"gc pause_ms={ms} heap_mb=1490 full collection")
log("payd", 30 * 60 + 3.2, "payd-1", "INFO", "tls certificate renewed cn=pay.nightjar.example serial=03:9a:77 valid_to=2026-08-17")
log("payd", 30 * 60 + 9.8, "payd-2", "INFO", "tls certificate renewed cn=pay.nightjar.example serial=03:9a:78 valid_to=2026-08-17")
for minute in range(0, 90, 10):
    log("jobs", minute * 60 + 1, "jobs-1", "WARN", f"disk /var 9{min(4, minute // 20)}% used")
    log("jobs", minute * 60 + 2, "jobs-2", "INFO", "heartbeat")
log("jobs", BATCH, "jobs-2", "INFO", "statement-batch started run=sb-0519 customers=8200 concurrency=4 target=acc-2 (pinned)")
for k in range(1, 9):
    log("jobs", BATCH + k * 290, "jobs-2", "INFO", f"statement-batch run=sb-0519 done={k * 1000} of 8200")
log("jobs", BATCH + 8.2 * 290, "jobs-2", "INFO", "statement-batch run=sb-0519 finished")
log("accounts", CANARY + 4, "acc-2", "INFO", "starting accounts 5.9.0 build=7f3c2a1")
log("accounts", CANARY + 4.4, "acc-2", "WARN", "config: unknown key pool.max ignored")
log("accounts", CANARY + 4.5, "acc-2", "INFO", "pool ready max=4 idle_seconds=30")
log("accounts", DRAIN + 30, "acc-2", "INFO", "no traffic for 30 s")
for host, offset in (("acc-1", 5), ("acc-3", 9)):
    log("accounts", offset, host, "INFO", "pool stats max=40 active=6 waiting=0 version=5.8.3")
    log("accounts", 40 * 60 + offset, host, "INFO", "pool stats max=40 active=7 waiting=0 version=5.8.3")
Path("logs").mkdir()
for service, found in lines.items():
    Path(f"logs/{service}.log").write_text("".join(text + "\n" for _, text in sorted(found)))
Path("logs/deploys.log").write_text(
    "2026-05-19T09:12:44Z search 3.3.1 all hosts by ci\n"
    "2026-05-19T11:40:02Z edge 2.14.0 all hosts by ci (retries: idempotency key now carries the attempt, NJ-1187)\n"
    "2026-05-19T13:55:20Z accounts 5.9.0 canary acc-2 by ci build=7f3c2a1\n"
    "2026-05-19T14:00:03Z payd certificate renewal by certbot\n"
    "2026-05-19T14:41:07Z accounts drain acc-2 by rhea (INC-2291)\n"
    "2026-05-19T14:52:30Z accounts 5.8.3 rollback acc-2 by rhea\n"
)
with open("data-charges.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["captured_at", "charge", "order", "customer", "amount_cents", "status"])
    out.writerows(sorted(charges))
Path("data").mkdir()
Path("data-charges.csv").rename("data/charges-0519.csv")
