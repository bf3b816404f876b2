package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StructType

/** A table at one version, which never changes. Everything that is asked here is answered by metadata;
  * no data file is opened.
  *
  * Every method is called with a session active on the calling thread.
  */
trait TableVersion {

  def table: ClusterableTable

  def schema: StructType

  /** Their names, as the schema has them; rows of two partitions are never in one file. */
  def partitionColumns: Seq[String]

  /** The columns that the table itself is declared to be clustered by; Nil if there are none. */
  def clusteringColumns: Seq[ColumnPath]

  /** Whether the table can be declared to be clustered, even if it has no such columns now. */
  def takesClusteringColumns: Boolean

  /** None if there is no such column. */
  def column(parts: Seq[String], resolver: Resolver): Option[ColumnPath]

  /** Whether files have minima and maxima of the column. */
  def hasStatistics(column: ColumnPath): Boolean

  def fileCount: Long

  /** The files that a WHERE picks. */
  def select(where: WhereClause): FileSelection

  /** What is known of all files.
    *
    * @param withPaths whether their paths are asked for, which are most of what is collected
    */
  def statistics(columns: Seq[ColumnPath], withPaths: Boolean): FileStatistics

  /** The files that the format's own data skipping leaves to a scan with this condition. */
  def filesRead(condition: Expression): FilesRead

  /** The scans of this table in a query that is optimized. */
  def scansIn(optimized: LogicalPlan): Seq[TableScan]

  /** What earlier rewrites cost, at most `most` of them, the newest first. */
  def pastRewrites(most: Int): Seq[RewriteCost]

  /** Settings of the format for a session that reads and writes this table's files for a layout. */
  def tune(session: SparkSession): Unit
}

/** How much a query reads. */
final case class FilesRead(files: Long, bytes: Long)

/** One scan of a table in a query, as the optimizer left it.
  *
  * @param filters that were pushed down to it, over the table's columns; all must hold
  * @param read    what is left after the format has skipped what it can
  */
final case class TableScan(filters: Seq[Expression], read: FilesRead) {

  def condition: Expression = filters.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
}

/** @param cpuTimeMs of all tasks
  * @param bytes     that were read
  */
final case class RewriteCost(cpuTimeMs: Long, bytes: Long)
