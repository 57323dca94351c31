from lantern.store import Store


def test_the_oldest_job_comes_first():
    store = Store()
    first, second = store.add("lamp"), store.add("horn")
    assert store.free(0) == [first, second]
