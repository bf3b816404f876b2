package io.zcube.clustering.memory

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.caseSensitiveResolution
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.{BeforeAndAfterAll, Suite}

import io.zcube.clustering.plan.{ColumnWeightResolver, OptimizeOptions, OptimizeSettings, OptimizeTask}
import io.zcube.clustering.run.{LayoutSession, OptimizeRunner, RunListener, RunResult}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.LazyLeveling

/** The engine on in-memory tables. */
trait MemoryEngine extends BeforeAndAfterAll { self: Suite =>

  protected lazy val session: SparkSession = {
    val session = newSession()
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  private def newSession(): SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    // With a few rows, compiling a plan takes longer than running it.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .getOrCreate()

  override protected def afterAll(): Unit =
    try session.stop()
    finally super.afterAll()

  protected val schema: StructType = StructType.fromDDL("id BIGINT, x INT, y BIGINT, p INT")

  /** Ten rows fill a file; a cube may have any number of files. */
  protected val settings: OptimizeSettings = OptimizeSettings(
    maxFileBytes = 10 * MemoryFile.RowBytes,
    maxThreads = 3,
    batchBytes = None,
    ranges = None,
    spread = true,
    sort = true,
    maxRecords = 0,
    sampleRowsPerFile = 1000,
    maxDeletedRatio = 0.05,
    minCubeBytes = 1L << 30,
    targetCubeBytes = 1L << 30,
    maxJobBytes = 1L << 40,
    policy = LazyLeveling,
    fanOut = 4,
    mergeShare = 0.2,
    overlapShare = 0.1
  )

  /** Cubes of three files, by a job each. */
  protected val smallCubes: OptimizeSettings = settings.copy(
    minCubeBytes = 25 * MemoryFile.RowBytes,
    targetCubeBytes = 30 * MemoryFile.RowBytes,
    maxJobBytes = 30 * MemoryFile.RowBytes)

  /** The same by one job; files of ten rows are too large for more even cubes. */
  protected val severalByAJob: OptimizeSettings =
    smallCubes.copy(minCubeBytes = smallCubes.targetCubeBytes, maxJobBytes = settings.maxJobBytes)

  protected def row(id: Long): InternalRow =
    InternalRow(id, (id * 7919 % 101).toInt, id * 104729 % 997, (id % 2).toInt)

  /** A task by x and y. */
  protected def taskOf(
      table: MemoryTable,
      settings: OptimizeSettings = settings,
      options: Seq[(String, String)] = Nil,
      where: WhereClause = WhereClause.Everything,
      isFull: Boolean = false): OptimizeTask = {
    val version = table.latest()
    val clustered = table.declared.nonEmpty
    val columns =
      if (clustered) version.clusteringColumns
      else Seq("x", "y").flatMap(name => version.column(Seq(name), caseSensitiveResolution))
    val chosen = OptimizeOptions.of(options, LayoutKind.KdTree)
    settings.check(chosen)
    OptimizeTask(
      version,
      where,
      columns,
      clustered,
      isFull,
      chosen,
      settings,
      ColumnWeightResolver(chosen.weights, columns, caseSensitiveResolution))
  }

  protected def run(task: OptimizeTask, listeners: RunListener*): RunResult =
    Sessions.within(session)(
      new OptimizeRunner(LayoutSession.cloneOf(session, task.version), task, listeners).run())
}
