package io.zcube.sql.conf

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.{MergePolicy => MergePolicies, PlanOptions}

/** ZCube's settings. Delta's own settings keep their meaning. */
object ZCubeConf {

  val Enabled = SQLConf
    .buildConf("spark.zcube.enabled")
    .doc(
      "Whether ZCube replaces Delta for OPTIMIZE by columns and for auto compaction of tables " +
        "that it lays out, whether writes keep the clustering columns, and whether MERGE INTO may " +
        "skip files. If false, every OPTIMIZE, write and MERGE is Delta's own.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val Curve = SQLConf
    .buildConf("spark.zcube.layout.curve")
    .doc(
      "The curve that OPTIMIZE uses if its OPTIONS name none, for ZORDER BY and for clustered " +
        s"tables: ${LayoutKind.names}. Cubes with the same columns and " +
        "another curve stay as they are until OPTIMIZE FULL.")
    .version("0.1.0")
    .stringConf
    .checkValue(
      name => LayoutKind.find(name).isDefined,
      s"must be ${LayoutKind.names}")
    .createWithDefault(LayoutKind.KdTree.name)

  /** The layout that [[Curve]] names. */
  def curve(conf: SQLConf): LayoutKind = LayoutKind.find(conf.getConf(Curve)).get

  val SortWithinFiles = SQLConf
    .buildConf("spark.zcube.layout.sortWithinFiles")
    .doc("Whether rows are sorted by the clustering key inside each file, so that row groups and " +
      "pages can be skipped too.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val SampleRowsPerFile = SQLConf
    .buildConf("spark.zcube.layout.sampleRowsPerFile")
    .doc(
      "Rows sampled for each file to be written. The sample has at least 100,000 rows, which are " +
        "enough for 100 files, and at most 1,000,000 rows and 48 MiB. The relative error of a " +
        "file's size is about one over the square root of this.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 100, "must be at least 100")
    .createWithDefault(1000)

  val MaxJobBytes = SQLConf
    .buildConf("spark.zcube.layout.maxJobBytes")
    .doc(
      "Maximum number of bytes that one job of OPTIMIZE rewrites. A failure loses what isn't " +
        "committed: at most spark.databricks.delta.optimize.maxThreads such jobs, or with batchSize " +
        "a batch. A job may always rewrite one cube. What one job can't rewrite is clustered in " +
        "parts; parts that overlap are written twice.")
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ > 0, "must be positive")
    .createWithDefaultString(s"${PlanOptions.Default.maxJobBytes >> 40}t")

  val Regroup = SQLConf
    .buildConf("spark.zcube.layout.regroup")
    .doc(
      "Whether OPTIMIZE writes cubes of several jobs that overlap once more, divided by region. If " +
        "false, they stay as they are, and queries read more files, until an OPTIMIZE with true.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val MergePolicy = SQLConf
    .buildConf("spark.zcube.merge.policy")
    .doc(
      "How OPTIMIZE merges ZCubes: leveled bounds the rewriting, all merges every partial cube each " +
        "time, as Delta does.")
    .version("0.1.0")
    .stringConf
    .checkValue(
      name => MergePolicies.find(name).isDefined,
      s"must be ${MergePolicies.names}")
    .createWithDefault(PlanOptions.Default.policy.name)

  val MergeFanOut = SQLConf
    .buildConf("spark.zcube.merge.fanOut")
    .doc(
      "Policy leveled: merge a size class once this many of its cubes overlap. More " +
        "means less rewriting, but more files to read.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 2, "must be at least 2")
    .createWithDefault(PlanOptions.Default.fanOut)

  val MergeShare = SQLConf
    .buildConf("spark.zcube.merge.share")
    .doc(
      "Policy leveled: small cubes are merged into the largest partial one once together they have " +
        "this share of the bytes that they overlap there. More means less rewriting, but more files " +
        "to read.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ > 0, "must be greater than 0")
    .createWithDefault(PlanOptions.Default.mergeShare)

  val MergeOverlapShare = SQLConf
    .buildConf("spark.zcube.merge.overlapShare")
    .doc(
      "Policy leveled: files of other cubes that lie within a new cube by more than a quarter join it " +
        "early, if they are few and their bytes are at most this share of the new cube's.")
    .version("0.1.0")
    .doubleConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(PlanOptions.Default.overlapShare)

  val MergeIntoPruning = SQLConf
    .buildConf("spark.zcube.mergeInto.pruning")
    .doc(
      "Whether MERGE INTO skips files of the target by the keys of its source. When off, MERGE is " +
        "Delta's own.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val MergeIntoMinTableBytes = SQLConf
    .buildConf("spark.zcube.mergeInto.minTableBytes")
    .doc(
      "MERGE INTO: a target with fewer bytes is left to Delta, because reading the source's keys " +
        "may cost more than is saved.")
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .createWithDefaultString("512m")

  val MergeIntoMaxBoxes = SQLConf
    .buildConf("spark.zcube.mergeInto.maxBoxes")
    .doc(
      "MERGE INTO: the keys of the source are grouped into at most this many boxes. More boxes " +
        "skip more files, but take longer to compare with each file's statistics.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(64)

  val MergeIntoMaxSourceBytes = SQLConf
    .buildConf("spark.zcube.mergeInto.maxSourceBytes")
    .doc(
      "MERGE INTO: the keys of a source larger than this aren't read. The size is that of the " +
        "source as Delta materialized it, otherwise Spark's estimate of its key columns.")
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .createWithDefaultString("1g")
}
