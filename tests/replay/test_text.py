import pytest

from goldrush.replay.text import format_change, format_number, format_ranges, format_table


def test_numbers_that_follow_each_other_are_one_range() -> None:
    assert "0, 5-9, 14-15" == format_ranges([0, 5, 6, 7, 8, 9, 14, 15])
    assert "" == format_ranges([])


def test_rows_that_are_left_out_are_counted() -> None:
    rows = [["n"], ["1"], ["2"], ["3"]]

    assert "n\n1\nand 2 more; --json has all" == format_table(rows, most=1)
    assert "n\n1\n2\n3" == format_table(rows, most=3)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 3, "-"), (0, 3, "0"), (57.0, 3, "57"), (1234567, 3, "1,234,567"),
        (0.46589, 4, "0.4659"), (123.7, 3, "124"), (-1234.56, 4, "-1,235"), (5678.9, 3, "5,679"),
        (0.00001234, 3, "1.23e-05"), (1e300, 3, "1e+300"), (float("inf"), 3, "inf"),
    ],
)  # fmt: skip
def test_a_number_has_its_digits_and_its_whole_part(
    value: float | None, digits: int, text: str
) -> None:
    assert text == format_number(value, digits)


def test_a_change_has_its_sign_and_is_unknown_where_a_number_is() -> None:
    assert ["+1.5", "-2", "+0", "-", "-"] == [
        format_change(a, b) for a, b in ((1, 2.5), (3, 1), (2, 2), (None, 1), (1, None))
    ]
