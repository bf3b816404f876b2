package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSeq, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** The rows of some files, with what a format stores in addition to the columns, and with each
  * row's file and position.
  *
  * @param plan    analyzed
  * @param columns the table's columns, whatever their names
  * @param place   the row's file, and the row's number in it
  * @param group   the number of the group of the row's file; None if there is only one group
  */
final case class FileScan(
    plan: LogicalPlan,
    columns: Seq[Attribute],
    place: Seq[Attribute],
    group: Option[Attribute] = None) {

  /** What must be written: the table's columns, and its row ids if it has any. */
  def written: Seq[Attribute] =
    plan.output.filterNot(a => (place ++ group).exists(_.exprId == a.exprId))

  /** A column of the table, or a field of one. */
  def column(path: ColumnPath, resolver: Resolver): Option[Expression] =
    AttributeSeq.fromNormalOutput(columns).resolve(path.logical, resolver)
}
