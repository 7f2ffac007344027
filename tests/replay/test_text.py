from goldrush.replay.text import table


def test_columns_are_as_wide_as_what_stands_in_them_looks() -> None:
    shown = table([("東京", "12", "a"), ("Rome", "345", "b")], numbers=[1])

    assert ["東京   12  a", "Rome  345  b"] == shown.splitlines()
