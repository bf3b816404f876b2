package io.zcube.clustering.memory

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.caseSensitiveResolution
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.{BeforeAndAfterAll, Suite}

import io.zcube.clustering.plan.{OptimizeOptions, OptimizeSettings, OptimizeTask}
import io.zcube.clustering.run.{LayoutSession, OptimizePasses, OptimizeRunner, RunListener, RunResult}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.PlanOptions

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
    // A global view is then known by the names that a MemoryTable has.
    .config("spark.sql.globalTempDatabase", "memory")
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
    PlanOptions(
      targetFileBytes = 10 * MemoryFile.RowBytes,
      minCubeBytes = 1L << 30,
      targetCubeBytes = 1L << 30,
      maxJobBytes = 1L << 40),
    maxThreads = 3,
    batchBytes = None,
    ranks = None,
    sort = true,
    sampleRowsPerFile = 1000
  )

  protected def planning(settings: OptimizeSettings)(
      change: PlanOptions => PlanOptions): OptimizeSettings =
    settings.copy(plan = change(settings.plan))

  /** Cubes of three files, by a job each. */
  protected val smallCubes: OptimizeSettings = planning(settings)(_.copy(
    minCubeBytes = 25 * MemoryFile.RowBytes,
    targetCubeBytes = 30 * MemoryFile.RowBytes,
    maxJobBytes = 30 * MemoryFile.RowBytes))

  /** The same by one job; files of ten rows are too large for more even cubes. */
  protected val severalByAJob: OptimizeSettings = planning(smallCubes)(plan =>
    plan.copy(minCubeBytes = plan.targetCubeBytes, maxJobBytes = settings.plan.maxJobBytes))

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
    val declared = table.declared.nonEmpty
    val columns =
      if (declared) version.clusteringColumns
      else Seq("x", "y").flatMap(name => version.column(Seq(name), caseSensitiveResolution))
    OptimizeTask.of(
      session,
      version,
      where,
      columns,
      declared,
      isFull,
      OptimizeOptions.of(options, LayoutKind.KdTree),
      settings)
  }

  protected def run(task: OptimizeTask, listeners: RunListener*): RunResult =
    Sessions.within(session)(
      new OptimizeRunner(LayoutSession.cloneOf(session, task.version), task, listeners).run())

  protected def runPasses(task: OptimizeTask, listeners: RunListener*): RunResult =
    Sessions.within(session)(
      new OptimizePasses(LayoutSession.cloneOf(session, task.version), task, listeners).run())
}
