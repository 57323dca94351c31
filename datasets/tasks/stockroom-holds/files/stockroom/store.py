"""The SQLite file: its schema, its migrations, and one connection."""

import sqlite3

MIGRATIONS = {
    "0001": "create table skus (sku text primary key, name text not null, pack integer not null default 1, cents integer not null)",
    "0002": "create table postings (id integer primary key, sku text not null, warehouse text not null, delta integer not null, "
            "reason text not null, ref text not null default '', at text not null)",
    "0003": "create table orders (id integer primary key, customer text not null, state text not null, at text not null)",
    "0004": "create table lines (id integer primary key, order_id integer not null references orders(id), position integer not null, "
            "sku text not null, quantity integer not null, cancelled integer not null default 0)",
    "0005": "create table holds (id integer primary key, line_id integer not null, sku text not null, quantity integer not null, "
            "state text not null default 'open', placed_at text not null, ends_at text not null)",
    "0006": "create index holds_open on holds (sku, state)",
}


def connect(path=":memory:"):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    db.execute("pragma foreign_keys = on")
    migrate(db)
    return db


def migrate(db):
    db.execute("create table if not exists migrations (id text primary key)")
    done = {row["id"] for row in db.execute("select id from migrations")}
    for number, statement in sorted(MIGRATIONS.items()):
        if number not in done:
            db.execute(statement)
            db.execute("insert into migrations values (?)", (number,))
    db.commit()
