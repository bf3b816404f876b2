package org.apache.spark.sql.delta.zcube.merge

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Expression, If, JsonToStructs, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.DataFrameUtils
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSource.MergeSource
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex
import org.apache.spark.sql.delta.util.DeltaSparkPlanUtils
import org.apache.spark.sql.delta.util.DeltaSparkPlanUtils.CheckDeterministicOptions
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, LogicalRelationWithTable}
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zcube.Sessions

import io.zcube.sql.jobs.JobDescription
import io.zcube.sql.keys._

/** The source of a MERGE, as prepared by Delta, and its keys. */
final class MergeKeys(
    session: SparkSession,
    prepared: MergeSource,
    materialized: Option[RDD[InternalRow]],
    merge: MergeIntoCommand)
    extends DeltaSparkPlanUtils {
  import MergeKeys._

  private val conf = session.sessionState.conf

  /** What this query reads, and Delta's plans too once there are predicates: Delta's copy, or the
    * tables in a way that no cache can serve.
    */
  lazy val source: MergeSource = if (prepared.isMaterialized) prepared else uncached(prepared)

  /** What is read. Delta has the source analyzed once more, and the rules of another extension may
    * change it then, as may ZCube's own.
    */
  private lazy val plan: LogicalPlan = prepared.df.queryExecution.analyzed

  /** The columns that have the same values whenever the source is read in this transaction; none if
    * even its rows may be others. All of them, if Delta has materialized it.
    */
  lazy val repeatable: RepeatableColumns =
    if (prepared.isMaterialized) RepeatableColumns(merge.source.outputSet)
    else if (plan.output.map(_.exprId) != merge.source.output.map(_.exprId)) RepeatableColumns.none
    else if (!readsSameRows) RepeatableColumns.none
    else RepeatableColumns.of(plan).getOrElse(RepeatableColumns.none)

  /** Whether the source consists of sources that Delta itself trusts to be stable, and of rows in the
    * plan. Delta doesn't check this for a source that it reads only once. Besides functions, two
    * things can differ between reads: any of the values that a collation treats as equal may
    * represent its group, and each plan has its own current time.
    */
  private def readsSameRows: Boolean = {
    val tables = plan.transformWithSubqueries { case view: View => view.child }.transform {
      case rows: LocalRelation if !rows.isStreaming => OneRowRelation()
    }
    // Without data skipping, Delta uses a table's newest version each time it is read.
    conf.getConf(DeltaSQLConf.DELTA_STATS_SKIPPING) &&
    planContainsOnlyDeltaScans(tables) &&
    planIsDeterministic(tables, CheckDeterministicOptions(allowDeterministicUdf = false)) &&
    !readsCache(prepared.df.queryExecution) &&
    !mayIgnoreFiles(plan, conf) &&
    !plan.containsPattern(TreePattern.CURRENT_LIKE) &&
    plan.collectWithSubqueries {
      case grouping @ (_: Distinct | _: Aggregate | _: Deduplicate) =>
        grouping.output
    }.flatten.forall(column => UnsafeRowUtils.isBinaryStable(column.dataType)) &&
    plan.collectWithSubqueries { case relation: LogicalRelation =>
      relation.relation
    }.forall(_.isInstanceOf[HadoopFsRelation])
  }

  /** The bounds of each row's keys, one column each, and whether it may match anything.
    *
    * Rows that match nothing aren't filtered out here. The optimizer would move a filter into the
    * source's scan, where it skips files by statistics that may be wrong, or below a DISTINCT, which
    * merges 0.0 and -0.0. Delta's own plan filters above both. Their keys aren't evaluated, which
    * could fail.
    *
    * @param conditions on the source's rows, which those that match satisfy
    */
  def query(bounds: Seq[Expression], conditions: Seq[Expression]): DataFrame = {
    val matches = conditions.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
    val columns = bounds.zipWithIndex.map { case (bound, i) =>
      val key = if (conditions.isEmpty) bound else If(matches, bound, Literal(null, bound.dataType))
      Alias(key, s"key_$i")()
    }
    rowsOf(WellFormedJson.required(Project(columns :+ Alias(matches, "matches")(), rows)))
  }

  /** These columns, with ids of their own. Unlike [[query]], with any text that is read as JSON. */
  def columns(of: Seq[Expression]): DataFrame =
    rowsOf(Project(of.zipWithIndex.map { case (key, i) => Alias(key, s"key_$i")() }, rows))

  /** Whether the source is made from texts that are read as JSON: which of their fields a plan has may
    * depend on what else it reads.
    */
  def readsJson: Boolean = !prepared.isMaterialized && (plan.collectWithSubqueries {
    case node if node.expressions.exists(MergeKeys.readsJson) => node
  }.nonEmpty)

  private def rows: LogicalPlan = source.df.asInstanceOf[DataFrame].queryExecution.analyzed

  private def rowsOf(query: LogicalPlan): DataFrame = {
    query.children.foreach(asAnalyzed)
    Sessions.rowsOf(session, query)
  }

  /** Whether it reads only rows in the plan, and Delta tables at versions that the transaction has
    * pinned. A cached relation is neither: this query may use a cache that Delta's doesn't, because
    * caches are matched by plan.
    */
  def isPinned(query: DataFrame): Boolean = prepared.isMaterialized ||
    query.queryExecution.optimizedPlan.collectWithSubqueries { case leaf: LeafNode =>
      leaf
    }.forall {
      case LogicalRelationWithTable(
            HadoopFsRelation(_: PreparedDeltaFileIndex, _, _, _, _, _),
            _) =>
        true
      case rows: LocalRelation => !rows.isStreaming
      case _: OneRowRelation => true
      case _ => false
    }

  /** The size of the keys, or of the whole source if it is materialized. */
  def bytes(query: DataFrame): BigInt = materialized
    .flatMap(rdd => session.sparkContext.getRDDStorageInfo.find(_.id == rdd.id))
    .map(stored => BigInt(stored.memSize) + stored.diskSize)
    .getOrElse(query.queryExecution.optimizedPlan.stats.sizeInBytes)

  /** A query's rows, if they have at most so many bytes in memory. The driver never keeps more. */
  def rowsWithin(query: DataFrame, maxBytes: Long, description: String): Option[KeyRows] =
    JobDescription.within(session.sparkContext, description) {
      SQLExecution.withNewExecutionId(query.queryExecution) {
        val rdd = query.queryExecution.toRdd
        val kept = mutable.ArrayBuffer.empty[UnsafeRow]
        var bytes = 0L
        session.sparkContext.runJob(
          rdd,
          firstOf(query.schema, maxBytes),
          rdd.partitions.indices,
          (_: Int, part: Array[InternalRow]) => {
            val rows = part.map(_.asInstanceOf[UnsafeRow])
            bytes += rows.iterator.map(_.getSizeInBytes.toLong).sum
            if (bytes <= maxBytes) kept ++= rows else kept.clear()
          }
        )
        Option.when(bytes <= maxBytes)(
          KeyRows(query.queryExecution.analyzed.output, kept.toIndexedSeq))
      }
    }

  /** Reads the keys. Instead of them, why they can't be used: they touch nearly all files, or a text
    * that is read as JSON isn't well-formed.
    */
  def collect(
      query: DataFrame,
      layout: BoundOrdinals,
      cover: ValueCover,
      description: String): Either[String, Array[ValueBox]] =
    JobDescription.within(session.sparkContext, description) {
      SQLExecution.withNewExecutionId(query.queryExecution) {
        val rdd = query.queryExecution.toRdd
        val maxBoxes = math.min(MaxBoxes, math.max(1, MaxInAll / math.max(1, rdd.getNumPartitions)))
        val task = collectorOf(layout, cover, maxBoxes)
        val results = session.sparkContext.runJob(rdd, task)
        results.collectFirst { case Left(why) => why }
          .toLeft(results.flatMap(_.getOrElse(Array.empty[ValueBox])).distinct)
      }
    }
}

object MergeKeys {

  /** Whether the query or one of its subqueries would read a cache. Delta's own check leaves out
    * subqueries.
    */
  private def readsCache(query: QueryExecution): Boolean =
    query.withCachedData.collectWithSubqueries { case cached: InMemoryRelation => cached }.nonEmpty

  /** The same rows, from plans that match no cache's plan: an option of their files is unique. */
  private def uncached(source: MergeSource): MergeSource = {
    val query = source.df.queryExecution
    val unique = "zcube.merge" -> UUID.randomUUID.toString
    val plan = query.analyzed.transformWithSubqueries { case table: LogicalRelation =>
      table.relation match {
        case files: HadoopFsRelation =>
          table.copy(relation = files.copy(options = files.options + unique)(files.sparkSession))
        case _ => table
      }
    }
    source.copy(df = DataFrameUtils.ofRows(query.sparkSession, asAnalyzed(plan)))
  }

  /** A plan made from one that has been analyzed. Analyzing it again could apply another extension's
    * rules again, and return other rows.
    */
  private def asAnalyzed(plan: LogicalPlan): LogicalPlan = {
    plan.foreachWithSubqueries(_.setAnalyzed())
    plan
  }

  /** Whether a scan may leave out files that it can't read, so that the next may return other rows. */
  def mayIgnoreFiles(plan: LogicalPlan, conf: SQLConf): Boolean =
    conf.getConf(SQLConf.IGNORE_MISSING_FILES) || conf.getConf(SQLConf.IGNORE_CORRUPT_FILES) ||
      plan.collectWithSubqueries {
        case LogicalRelationWithTable(files: HadoopFsRelation, _) => files.options.keys
      }.flatten.exists(_.toLowerCase.startsWith("ignore"))

  /** Whether it reads a text as JSON. */
  def readsJson(e: Expression): Boolean = e.exists(_.isInstanceOf[JsonToStructs])

  // Why no files are pruned, for the log.
  val NothingSpared = "nearly all files may hold some"
  def malformed(e: Throwable): String =
    s"a text of the source that is read as JSON isn't well-formed (${e.getMessage})"

  /** Maximum number of boxes, or single keys, that a task may send. */
  private val MaxBoxes = 1024

  /** What the driver accepts from all tasks. */
  private val MaxInAll = 1 << 16

  /** Number of keys that a task holds before it groups them into boxes. */
  private val MaxKeys = 4096

  // Tasks are made outside the instance, which can't be sent.

  /** A part's rows, up to the first that is above the limit. */
  private def firstOf(
      schema: StructType,
      maxBytes: Long): (TaskContext, Iterator[InternalRow]) => Array[InternalRow] = (_, rows) => {
    val project = UnsafeProjection.create(schema)
    // A class that Spark registers with Kryo.
    val kept = Array.newBuilder[InternalRow]
    var bytes = 0L
    while (bytes <= maxBytes && rows.hasNext) {
      val row = project(rows.next()).copy()
      bytes += row.getSizeInBytes
      kept += row
    }
    kept.result()
  }

  private def collectorOf(
      layout: BoundOrdinals,
      cover: ValueCover,
      maxBoxes: Int): Iterator[InternalRow] => Either[String, Array[ValueBox]] = rows => {
    val keys = new KeyCollector(layout, cover, MaxKeys, maxBoxes)
    // A task that fails here would be tried again.
    try {
      rows.foreach { row =>
        val matches = row.numFields - 1
        if (!row.isNullAt(matches) && row.getBoolean(matches)) keys.add(row)
      }
      keys.result.toRight(NothingSpared)
    } catch { case WellFormedJson.Malformed(e) => Left(malformed(e)) }
  }
}
