package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSeq, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.sampling.{RowIdentity, RowSample, RowSampler, SampleLimits}

/** The rows of some files, with what a format stores in addition to the columns, and with each
  * row's file and position.
  *
  * @param plan    analyzed
  * @param columns the table's columns, whatever their names
  * @param position the path of the row's file, below the table's folder if it's there, and the row's
  *                 number in the file
  * @param group   the number of the group of the row's file; None if there is only one group
  */
final case class FileScan(
    plan: LogicalPlan,
    columns: Seq[Attribute],
    position: Seq[Attribute],
    group: Option[Attribute] = None) {

  /** What must be written: the table's columns, and its row ids if it has any. */
  def written: Seq[Attribute] =
    plan.output.filterNot(a => (position ++ group).exists(_.exprId == a.exprId))

  /** Columns of the table, or fields of them. */
  def expressions(paths: Seq[ColumnPath], resolver: Resolver): Seq[Expression] = {
    val all = AttributeSeq.fromNormalOutput(columns)
    paths.map { path =>
      all.resolve(path.logical, resolver)
        .getOrElse(throw ZCubeErrors.internal(s"a scan without the column ${path.name}"))
    }
  }

  /** A sample of these columns' values.
    *
    * @param loggedRows how many rows the log counts, if it knows
    * @param what       the action, for the description of the Spark job
    */
  def sample(
      session: SparkSession,
      paths: Seq[ColumnPath],
      loggedRows: Option[Long],
      limits: SampleLimits,
      what: String): RowSample = {
    val named = expressions(paths, session.sessionState.conf.resolver).zipWithIndex
      .map { case (column, i) => Alias(column, s"c$i")() }
    val identity = RowIdentity.FilePosition(paths.size, paths.size + 1)
    val rows = Project(named ++ position, plan)
    RowSampler.sample(session, rows, paths.size, identity, loggedRows, limits, what)
  }
}
