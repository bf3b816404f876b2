"""The conditions of TPC-H's queries on lineitem."""

QUERIES = {
    "q1": "SELECT l_returnflag, sum(l_quantity) FROM lineitem "
    "WHERE l_shipdate <= date '1998-12-01' - interval '90' day GROUP BY l_returnflag",
    "q3": "SELECT l_orderkey FROM customer, orders, lineitem WHERE c_mktsegment = 'BUILDING' "
    "AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < date '1995-03-15' "
    "AND l_shipdate > date '1995-03-15'",
    "q6": "SELECT sum(l_extendedprice * l_discount) FROM lineitem "
    "WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1994-01-01' + interval '1' year "
    "AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24",
    "q7": "SELECT year(l.l_shipdate) FROM supplier, lineitem l WHERE s_suppkey = l.l_suppkey "
    "AND l.l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31'",
    "q10": "SELECT c_custkey FROM customer, orders, lineitem WHERE l_orderkey = o_orderkey "
    "AND o_custkey = c_custkey AND l_returnflag = 'R'",
    "q12": "SELECT l_shipmode FROM orders JOIN lineitem ON o_orderkey = l_orderkey "
    "WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate "
    "AND l_shipdate < l_commitdate AND l_receiptdate >= date '1994-01-01' "
    "AND l_receiptdate < date '1994-01-01' + interval '1' year",
    "q14": "SELECT sum(l_extendedprice) FROM lineitem, part WHERE l_partkey = p_partkey "
    "AND l_shipdate >= date '1995-09-01' AND l_shipdate < date '1995-09-01' + interval '1' month",
    "q15": "WITH revenue AS (SELECT l_suppkey, sum(l_extendedprice) r FROM lineitem "
    "WHERE l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-01-01' + interval '3' month "
    "GROUP BY l_suppkey) SELECT * FROM revenue WHERE r = (SELECT max(r) FROM revenue)",
    "q19": "SELECT sum(l_extendedprice) FROM lineitem WHERE l_shipinstruct = 'DELIVER IN PERSON' "
    "AND l_shipmode IN ('AIR', 'AIR REG') AND (l_quantity BETWEEN 1 AND 11 "
    "OR l_quantity BETWEEN 10 AND 20 OR l_quantity BETWEEN 20 AND 30)",
    "q20": "SELECT l_partkey FROM lineitem, partsupp WHERE l_partkey = ps_partkey "
    "AND l_shipdate >= date '1994-01-01' AND l_shipdate < date '1994-01-01' + interval '1' year",
}
"""Shortened to what matters: the tables, the joins, and all conditions on lineitem."""

PREDICATES = {
    "q1": ["l_shipdate <= date '1998-09-02'"],
    "q3": ["l_shipdate > date '1995-03-15'"],
    "q6": [
        "l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01' "
        "AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"
    ],
    "q7": ["l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31'"],
    "q10": ["l_returnflag = 'R'"],
    "q12": [
        "l_shipmode IN ('MAIL', 'SHIP') AND l_receiptdate >= date '1994-01-01' "
        "AND l_receiptdate < date '1995-01-01'"
    ],
    "q14": ["l_shipdate >= date '1995-09-01' AND l_shipdate < date '1995-10-01'"],
    # The view is read twice.
    "q15": ["l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-04-01'"] * 2,
    "q19": [
        "l_shipinstruct = 'DELIVER IN PERSON' AND l_shipmode IN ('AIR', 'AIR REG') "
        "AND l_quantity BETWEEN 1 AND 30"
    ],
    "q20": ["l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01'"],
}
"""The same worked out by hand, for each scan of lineitem."""
