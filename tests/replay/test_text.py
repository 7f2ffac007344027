from goldrush.replay.text import format_ranges, format_table


def test_columns_are_as_wide_as_what_stands_in_them_looks() -> None:
    shown = format_table([("東京", "12", "a"), ("Rome", "345", "b")], numbers=[1])

    assert ["東京   12  a", "Rome  345  b"] == shown.splitlines()


def test_numbers_that_follow_each_other_are_one_range() -> None:
    assert "0, 5-9, 14-15" == format_ranges([0, 5, 6, 7, 8, 9, 14, 15])
    assert "" == format_ranges([])


def test_rows_that_are_left_out_are_counted() -> None:
    rows = [["n"], ["1"], ["2"], ["3"]]

    assert "n\n1\nand 2 more; --json has all" == format_table(rows, most=1)
    assert "n\n1\n2\n3" == format_table(rows, most=3)
