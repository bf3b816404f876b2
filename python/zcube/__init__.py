"""ZCube: clusters Delta Lake tables on Spark by several columns at once.

>>> import zcube
>>> from pyspark.sql import SparkSession
>>> spark = zcube.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP
>>> table = zcube.ClusteredTable.for_path(spark, "/data/events")  # doctest: +SKIP
>>> table.optimize(zorder_by=["x", "y"]).files_added  # doctest: +SKIP
24
"""

from zcube._spark.versions import versions
from zcube._version import __version__
from zcube.errors import ZCubeError
from zcube.layout import CURVES, cluster
from zcube.results.cube import CubeResult
from zcube.results.optimize import OptimizeResult, WorkloadResult
from zcube.results.plan import OptimizePlan
from zcube.results.quality import ClusteringQuality, ColumnQuality
from zcube.results.recommendation import Recommendation, Recommendations
from zcube.session import configure
from zcube.table import ClusteredTable

__all__ = [
    "CURVES",
    "ClusteredTable",
    "ClusteringQuality",
    "ColumnQuality",
    "CubeResult",
    "OptimizePlan",
    "OptimizeResult",
    "Recommendation",
    "Recommendations",
    "WorkloadResult",
    "ZCubeError",
    "__version__",
    "cluster",
    "configure",
    "versions",
]
