"""The same writes to two clustered tables, one of them with plain Delta, which is the oracle."""

import contextlib
import re
from typing import ClassVar

from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException


class WrittenTable:
    """A clustered table with a name and a path, and its observable state."""

    def __init__(self, spark, name, path):
        self.spark, self.name, self.path = spark, name, path

    def create(
        self, columns="a BIGINT, b INT, c STRING", properties=None, layout="CLUSTER BY (a, b)"
    ):
        """Make the table, clustered by a and b unless ``layout`` says otherwise."""
        text = ", ".join(f"'{key}' = '{value}'" for key, value in (properties or {}).items())
        self.spark.sql(
            f"CREATE TABLE {self.name} ({columns}) USING delta {layout} "
            f"LOCATION '{self.path}'" + (f" TBLPROPERTIES ({text})" if text else "")
        )

    def create_generated(self):
        """The same with c generated from a; SQL can't say this on Spark 4.1 and earlier."""
        (
            DeltaTable.create(self.spark)
            .tableName(self.name)
            .location(self.path)
            .addColumn("a", "BIGINT")
            .addColumn("b", "INT")
            .addColumn("c", "STRING", generatedAlwaysAs="CAST(a AS STRING)")
            .clusterBy("a", "b")
            .execute()
        )

    def rows(self):
        """All rows, read by path, in order."""
        return sorted(map(repr, self.spark.read.format("delta").load(self.path).collect()))

    def columns(self):
        """Return the clustering columns."""
        detail = self.spark.sql(f"DESCRIBE DETAIL delta.`{self.path}`").collect()[0]
        return detail["clusteringColumns"]

    def state(self):
        """Return everything that must be the same, whatever wrote the table."""
        detail = self.spark.sql(f"DESCRIBE DETAIL delta.`{self.path}`").collect()[0]
        return {
            "rows": self.rows(),
            "schema": self._schema(),
            "properties": {
                k: v for k, v in detail["properties"].items() if "Materialized" not in k
            },
            "features": sorted(detail["tableFeatures"]),
            "partitions": detail["partitionColumns"],
            "files": detail["numFiles"],
            "history": [self._commit(commit) for commit in self._history()],
        }

    def _schema(self):
        # Physical names of mapped columns are random.
        return re.sub(r"col-[0-9a-f-]+", "col", self.spark.table(self.name).schema.json())

    def _history(self):
        return self.spark.sql(f"DESCRIBE HISTORY delta.`{self.path}`").collect()

    def _commit(self, commit):
        parameters = {
            # The history of a replaced table includes kept columns.
            key: re.sub(r"#\d+L?", "#", value or "")
            for key, value in commit["operationParameters"].items()
            if key not in ("clusterBy", "queryId")
        }
        metrics = commit["operationMetrics"]
        counted = {k: v for k, v in metrics.items() if k.endswith("Rows") or k.endswith("Files")}
        return (
            commit["version"],
            commit["operation"],
            parameters,
            sorted(metrics),
            counted,
            commit["userMetadata"],
            commit["isolationLevel"],
            commit["isBlindAppend"],
        )


class PlansSeen:
    """``with PlansSeen.of(spark) as plans: …``: the commands that a listener receives."""

    _only = None

    class Java:
        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]

    @classmethod
    def of(cls, spark):
        """Return this session's instance: to Java each would be new, and could not be removed."""
        if cls._only is None or cls._only._spark is not spark:
            from pyspark.java_gateway import ensure_callback_server_started

            ensure_callback_server_started(spark.sparkContext._gateway)
            cls._only = cls(spark)
            spark._jsparkSession.listenerManager().register(cls._only)
        return cls._only

    def __init__(self, spark):
        self._spark = spark
        self._watches = False
        self.seen = []

    def onSuccess(self, function, execution, nanos):  # noqa: N802 - Java's name
        """Note the command of an execution."""
        self._note(execution)

    def onFailure(self, function, execution, error):  # noqa: N802 - Java's name
        """Note the command of a failed execution."""
        self._note(execution)

    def _note(self, execution):
        if not self._watches:
            return
        analyzed, done = execution.analyzed(), execution.commandExecuted()
        if done.nodeName() == "CommandResult":
            logical, physical = done.commandLogicalPlan(), done.commandPhysicalPlan()
            note = [plan.getClass().getName() for plan in (analyzed, logical, physical)]
            self.seen.append((analyzed.nodeName(), logical.nodeName(), *note))

    def __enter__(self):
        self._drain()
        self.seen, self._watches = [], True
        return self

    def __exit__(self, *_):
        self._drain()
        self._watches = False

    def _drain(self):
        self._spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()


def condition_of(action):
    """Do it; return the condition it fails with, or None."""
    try:
        action()
    except PySparkException as error:
        return error.getCondition() or type(error).__name__
    except Py4JJavaError as error:
        # Delta's error for a value that is too long, for which PySpark has no type.
        return error.java_exception.getClass().getName()
    return None


@contextlib.contextmanager
def transaction_settings(spark, app, version):
    """Delta's session settings for writes that happen once."""
    keys = {
        "spark.databricks.delta.write.txnAppId": app,
        "spark.databricks.delta.write.txnVersion": str(version),
    }
    for key, value in keys.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in keys:
            spark.conf.unset(key)
