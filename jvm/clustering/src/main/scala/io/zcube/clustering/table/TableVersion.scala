package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType

import io.zcube.sql.errors.ZCubeErrors

/** An immutable version of a table. All methods use only metadata; no data file is opened.
  *
  * Every method must be called with a session active on the calling thread.
  */
trait TableVersion {

  def table: ClusterableTable

  def schema: StructType

  /** Their names, as in the schema; rows of different partitions are never in the same file. */
  def partitionColumns: Seq[String]

  /** The columns that the table is declared to be clustered by; Nil if there are none. */
  def clusteringColumns: Seq[ColumnPath]

  /** The columns of the file that was clustered last, by ZORDER BY or an earlier CLUSTER BY, if all of
    * them still exist.
    */
  def lastColumns: Option[Seq[ColumnPath]]

  /** Whether the table can be declared as clustered, even if it has no clustering columns now. */
  def takesClusteringColumns: Boolean

  /** None if there is no such column. */
  def column(parts: Seq[String], resolver: Resolver): Option[ColumnPath]

  /** The same. Throws ZCUBE_COLUMN_NOT_FOUND if there is none. */
  final def existing(parts: Seq[String], resolver: Resolver): ColumnPath =
    column(parts, resolver).getOrElse(
      throw ZCubeErrors.columnNotFound(
        ColumnPath.quoted(parts),
        table.name,
        schema.fieldNames.toSeq.map(name => ColumnPath.quoted(Seq(name)))))

  /** Whether files have minima and maxima of the column. */
  def hasMinima(column: ColumnPath): Boolean

  /** Whether files have the number of its NULLs. */
  def hasNullCounts(column: ColumnPath): Boolean

  def fileCount: Long

  /** The files that a WHERE selects. */
  def select(where: WhereClause): FileSelection

  /** The state of all files.
    *
    * @param withPaths whether to include their paths, which are most of what is collected
    */
  def statistics(columns: Seq[ColumnPath], withPaths: Boolean): FileStatistics

  /** The files that remain for a scan with this condition after the format's data skipping. */
  def filesRead(condition: Expression): FilesRead

  /** The scans of this table in an optimized query. */
  def scansIn(optimized: LogicalPlan): Seq[TableScan]

  /** The costs of at most `max` earlier rewrites, the newest first. */
  def pastRewrites(max: Int): Seq[RewriteCost]

  /** Sets the format's settings in a session that reads and writes this table's files for a layout.
    */
  def tune(session: SparkSession): Unit
}

/** How much a query reads. */
final case class FilesRead(files: Long, bytes: Long)

/** A scan of a table in an optimized query.
  *
  * @param filters the filters pushed down to it, over the table's columns in any spelling; all must
  *   hold
  * @param read    what remains after the format's data skipping
  * @param limited whether that is just as many files as a LIMIT needs
  */
final case class TableScan(
    filters: Seq[Expression],
    read: FilesRead,
    limited: Boolean = false) {

  def condition: Expression = filters.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
}

/** @param cpuTimeMs CPU time of all tasks
  * @param bytes     bytes read
  */
final case class RewriteCost(cpuTimeMs: Long, bytes: Long)
