import pytest

from stockroom import catalog, clock, config, ledger, store


@pytest.fixture
def db():
    clock.set_now("2026-04-12T09:00:00")
    db = store.connect()
    catalog.add(db, "HX-2210-B", "hex bolt 6 mm", pack=1, cents=12)
    catalog.add(db, "WN-2235-S", "wing nut 4 mm", pack=4, cents=31)
    catalog.add(db, "AN-2290-L", "wall anchor 8 mm", pack=25, cents=7)
    for sku, pieces in (("HX-2210-B", 30), ("WN-2235-S", 40), ("AN-2290-L", 200)):
        ledger.post(db, sku, "graz", pieces, "receipt", "DN-1")
        ledger.post(db, sku, "linz", pieces // 2, "receipt", "DN-2")
    db.commit()
    yield db
    clock.set_now(None)


@pytest.fixture
def settings():
    return config.Config()
