package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSeq, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

import io.zcube.sql.errors.ZCubeErrors

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

  /** What a sample of columns is drawn from: their values, then the row's file and position. */
  def sampled(paths: Seq[ColumnPath], resolver: Resolver): LogicalPlan = {
    val values = expressions(paths, resolver).zipWithIndex.map { case (c, i) => Alias(c, s"c$i")() }
    Project(values ++ position, plan)
  }
}
