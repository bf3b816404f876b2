"""Twenty selective queries on TPC-H's lineitem and orders, typical of reports and look-ups."""

from __future__ import annotations

from datetime import date

from benchmarks.queries.query import Comparison as Is
from benchmarks.queries.query import Query, filtered

_SUMS = "count(*) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue"
_BY_MODE = "GROUP BY l_shipmode ORDER BY l_shipmode"
_ORDERS = "count(*) AS orders, sum(o_totalprice) AS total"


def queries(scale: float) -> list[Query]:
    """The queries; their keys grow with the scale factor."""
    parts, suppliers, customers = (round(scale * most) for most in (200_000, 10_000, 150_000))

    def part(share: float) -> int:
        return max(1, round(share * parts))

    def supplier(share: float) -> int:
        return max(1, round(share * suppliers))

    def customer(share: float) -> int:
        # Every third customer never orders.
        key = max(1, round(share * customers))
        return key if key % 3 else key + 1

    some_part = part(0.776)
    lineitem = [
        (_SUMS, (Is("l_shipdate", "=", date(1995, 6, 17)),), ""),
        (
            f"l_shipmode, {_SUMS}",
            (Is("l_shipdate", "between", (date(1996, 3, 4), date(1996, 3, 10))),),
            _BY_MODE,
        ),
        (_SUMS, (Is("l_partkey", "=", some_part),), ""),
        (
            "l_orderkey, l_quantity, l_shipdate",
            (
                Is("l_partkey", "=", part(0.213)),
                Is("l_shipdate", "between", (date(1997, 1, 1), date(1997, 12, 31))),
            ),
            "ORDER BY l_orderkey, l_quantity, l_shipdate",
        ),
        (
            f"l_returnflag, {_SUMS}",
            (
                Is("l_partkey", "between", (part(0.52), part(0.53))),
                Is("l_shipdate", "between", (date(1994, 4, 1), date(1994, 6, 30))),
            ),
            "GROUP BY l_returnflag ORDER BY l_returnflag",
        ),
        (
            f"l_shipmode, {_SUMS}",
            (
                Is("l_suppkey", "=", supplier(0.318)),
                Is("l_shipdate", "between", (date(1993, 9, 1), date(1993, 9, 30))),
            ),
            _BY_MODE,
        ),
        (_SUMS, (Is("l_suppkey", "=", supplier(0.87)),), ""),
        (
            f"l_partkey, {_SUMS}",
            (Is("l_partkey", "in", tuple(part(0.1 + 0.17 * number) for number in range(5))),),
            "GROUP BY l_partkey ORDER BY l_partkey",
        ),
        (
            _SUMS,
            (
                Is("l_shipdate", "between", (date(1997, 11, 24), date(1997, 11, 30))),
                Is("l_quantity", ">", 45),
            ),
            "",
        ),
        (
            # The first of the part's four suppliers, by the specification's formula.
            _SUMS,
            (Is("l_partkey", "=", some_part), Is("l_suppkey", "=", some_part % suppliers + 1)),
            "",
        ),
        (
            f"l_suppkey, {_SUMS}",
            (
                Is("l_suppkey", "between", (supplier(0.6), supplier(0.61))),
                Is("l_shipdate", "between", (date(1992, 7, 1), date(1992, 7, 31))),
                Is("l_returnflag", "=", "R"),
            ),
            "GROUP BY l_suppkey ORDER BY l_suppkey",
        ),
        (
            _SUMS,
            (
                Is("l_partkey", "between", (part(0.905), part(0.91))),
                Is("l_discount", ">=", 0.09),
            ),
            "",
        ),
    ]
    orders = [
        (_ORDERS, (Is("o_orderdate", "=", date(1996, 1, 29)),), ""),
        (
            "o_orderkey, o_orderdate, o_totalprice",
            (Is("o_custkey", "=", customer(0.412)),),
            "ORDER BY o_orderkey",
        ),
        (
            _ORDERS,
            (
                Is("o_custkey", "=", customer(0.087)),
                Is("o_orderdate", "between", (date(1995, 1, 1), date(1996, 12, 31))),
            ),
            "",
        ),
        (
            _ORDERS,
            (
                Is("o_orderdate", "between", (date(1994, 8, 1), date(1994, 8, 7))),
                Is("o_orderpriority", "=", "1-URGENT"),
            ),
            "",
        ),
        (
            f"o_orderpriority, {_ORDERS}",
            (
                Is("o_custkey", "between", (customer(0.7), customer(0.71))),
                Is("o_orderdate", "between", (date(1993, 5, 1), date(1993, 7, 31))),
            ),
            "GROUP BY o_orderpriority ORDER BY o_orderpriority",
        ),
        (
            f"o_custkey, {_ORDERS}",
            (Is("o_custkey", "in", tuple(customer(0.05 + 0.09 * n) for n in range(10))),),
            "GROUP BY o_custkey ORDER BY o_custkey",
        ),
        (
            "o_orderkey, o_totalprice",
            (
                Is("o_orderdate", "between", (date(1997, 4, 1), date(1997, 4, 30))),
                Is("o_totalprice", ">", 300_000),
            ),
            "ORDER BY o_totalprice DESC, o_orderkey LIMIT 10",
        ),
        (
            f"o_orderstatus, {_ORDERS}",
            (
                Is("o_custkey", "between", (customer(0.3), customer(0.305))),
                Is("o_orderdate", ">=", date(1998, 1, 1)),
            ),
            "GROUP BY o_orderstatus ORDER BY o_orderstatus",
        ),
    ]
    return [
        *(filtered(f"L{n}", "lineitem", *query) for n, query in enumerate(lineitem, 1)),
        *(filtered(f"O{n}", "orders", *query) for n, query in enumerate(orders, 1)),
    ]
