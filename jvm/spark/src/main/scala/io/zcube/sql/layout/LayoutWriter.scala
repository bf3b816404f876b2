package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.expressions.{Alias, Ascending, Attribute, Expression, Literal, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}

import io.zcube.sql.expressions.FileOfKey

/** Puts a layout into a query plan: key and file number as generated code, one shuffle, one sort
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
    val key = Alias(plan.key(columns), KeyName)()
    val keyed = Project(child.output :+ key, child)
    val shuffled =
      if (plan.cuts.tearsKeys) {
        // The noise is made of columns that must not travel through the shuffle.
        val file = Alias(FileOfKey(key.toAttribute, noise, plan.cuts), FileName)()
        val numbered = Project(output ++ Seq(key.toAttribute, file), keyed)
        PartitionShuffle.byNumber(file.toAttribute, plan.cuts.files, numbered)
      } else {
        val file = FileOfKey(key.toAttribute, Literal(0L), plan.cuts)
        PartitionShuffle.byNumber(
          file,
          plan.cuts.files,
          Project(output :+ key.toAttribute, keyed))
      }
    val ordered =
      if (sort) Sort(Seq(SortOrder(key.toAttribute, Ascending)), global = false, shuffled)
      else shuffled
    Project(output, ordered)
  }
}
