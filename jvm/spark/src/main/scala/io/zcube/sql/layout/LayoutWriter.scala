package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, AttributeSet, Expression, Literal, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}

import io.zcube.sql.expressions.FileOfKey

/** Applies a layout to a query plan: key and file number as generated code, one shuffle, one sort
  * inside each partition. Partition `f` of the result holds the rows of file `f`.
  */
object LayoutWriter {

  private val KeyName = "__zcube_key"
  private val FileName = "__zcube_file"

  /** @param child   the rows
    * @param output  which of the child's columns to keep
    * @param columns the clustering columns, over the child's output
    * @param noise   a number for each row, over the child's output, that spreads rows of equal key:
    *                a non-negative BIGINT that is the same each time the row is computed
    */
  def layOut(
      child: LogicalPlan,
      output: Seq[Attribute],
      columns: Seq[Expression],
      noise: Expression,
      plan: LayoutPlan,
      sort: Boolean): LogicalPlan = {
    val key = plan.key(columns)
    if (!plan.cuts.splitsKeys && columns.forall(isCheap(_, output))) {
      // Recomputing the key costs less than carrying it along and removing it from each row.
      val file = plan.file(columns)
      ordered(PartitionShuffle.byNumber(file, plan.cuts.files, Project(output, child)), key, sort)
    } else {
      val carried = Alias(key, KeyName)()
      val keyed = Project(child.output :+ carried, child)
      val shuffled =
        if (plan.cuts.splitsKeys) {
          // The noise is computed from columns that must not travel through the shuffle.
          val file = Alias(FileOfKey(carried.toAttribute, noise, plan.cuts), FileName)()
          val numbered = Project(output ++ Seq(carried.toAttribute, file), keyed)
          PartitionShuffle.byNumber(file.toAttribute, plan.cuts.files, numbered)
        } else {
          val file = FileOfKey(carried.toAttribute, Literal(0L), plan.cuts)
          val rows = Project(output :+ carried.toAttribute, keyed)
          PartitionShuffle.byNumber(file, plan.cuts.files, rows)
        }
      Project(output, ordered(shuffled, carried.toAttribute, sort))
    }
  }

  /** Several groups of rows, each in a separate partition: partition `g` of the result holds the
    * rows of group `g`, in the layout's order.
    *
    * @param group  the number of a row's group, an INT of the child's output, 0 to `groups` - 1
    */
  def layOutGroups(
      child: LogicalPlan,
      output: Seq[Attribute],
      columns: Seq[Expression],
      group: Attribute,
      groups: Int,
      plan: LayoutPlan,
      sort: Boolean): LogicalPlan = {
    val carried = Alias(plan.key(columns), KeyName)()
    val keyed = Project(output ++ Seq(group, carried), child)
    val shuffled = PartitionShuffle.byNumber(group, groups, keyed)
    Project(output, ordered(shuffled, carried.toAttribute, sort))
  }

  /** Whether the rank of a column's value is cheap to compute, and can be computed after the
    * shuffle.
    */
  private def isCheap(column: Expression, output: Seq[Attribute]): Boolean =
    column.deterministic && column.references.subsetOf(AttributeSet(output)) &&
      UnsafeRow.isFixedLength(column.dataType)

  private def ordered(rows: LogicalPlan, key: Expression, sort: Boolean): LogicalPlan =
    if (sort) Sort(Seq(SortOrder(key, Ascending)), global = false, rows) else rows
}
