"""Reads a table with Delta Kernel, which comes with Delta's own jars."""

from __future__ import annotations

from typing import Any

# The row method for values of a type, by the beginning of the type's name.
GETTERS = {
    "boolean": "getBoolean",
    "byte": "getByte",
    "short": "getShort",
    "integer": "getInt",
    "date": "getInt",
    "long": "getLong",
    "timestamp": "getLong",
    "float": "getFloat",
    "double": "getDouble",
    "string": "getString",
    "binary": "getBinary",
    "Decimal": "getDecimal",
}


def read(spark: Any, path: str) -> list[tuple[Any, ...]]:
    """All rows, in the order in which Kernel gives them; values as Kernel has them."""
    kernel = spark._jvm.io.delta.kernel
    engine = kernel.defaults.engine.DefaultEngine.create(
        spark._jsparkSession.sessionState().newHadoopConf()
    )
    snapshot = kernel.Table.forPath(engine, path).getLatestSnapshot(engine)
    scan = snapshot.getScanBuilder().build()
    state = scan.getScanState(engine)
    schema = kernel.internal.data.ScanStateRow.getPhysicalDataReadSchema(state)
    iterator_of = kernel.internal.util.Utils.singletonCloseableIterator
    rows = []
    for files in _all(scan.getScanFiles(engine)):
        for file in _all(files.getRows()):
            status = kernel.internal.InternalScanFileUtils.getAddFileStatus(file)
            nothing = spark._jvm.java.util.Optional.empty()
            results = engine.getParquetHandler().readParquetFiles(
                iterator_of(status), schema, nothing
            )
            for result in _all(results):
                batches = kernel.Scan.transformPhysicalData(
                    engine, state, file, iterator_of(result.getData())
                )
                for batch in _all(batches):
                    rows += [_values(row) for row in _all(batch.getRows())]
    return rows


def _all(iterator: Any) -> Any:
    try:
        while iterator.hasNext():
            yield iterator.next()
    finally:
        iterator.close()


def _values(row: Any) -> tuple[Any, ...]:
    fields = row.getSchema().fields()
    return tuple(_value(row, i, fields.get(i).getDataType()) for i in range(fields.size()))


def _value(row: Any, at: int, data_type: Any) -> Any:
    if row.isNullAt(at):
        return None
    name = data_type.toString()
    if name.startswith("struct"):
        return _values(row.getStruct(at))
    getter = next(getter for kind, getter in GETTERS.items() if name.startswith(kind))
    return getattr(row, getter)(at)
