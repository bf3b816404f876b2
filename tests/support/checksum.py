"""A checksum of a multiset of rows: the same in any order, another if a row is lost or doubled."""


def multiset(df):
    """Number of rows, and the sum of a 64-bit hash of each row, columns by name."""
    columns = ", ".join(f"`{c.replace('`', '``')}`" for c in sorted(df.columns))
    row = df.selectExpr("count(*) AS n", f"sum(cast(xxhash64({columns}) AS DECIMAL(38, 0))) AS h")
    return tuple(row.collect()[0])
