package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import io.zcube.sql.layout.LayoutRequest

/** The child's rows, laid out by the clustering columns: represents `zcube.cluster(df, …)` and the
  * hint `ZCUBE_CLUSTER` until the optimizer samples the child and replaces this node with a
  * shuffle.
  *
  * @param columns         the clustering columns
  * @param workload        predicates that should skip partitions
  * @param workloadWeights how often each query runs
  * @param partitions      number of output partitions, if given
  * @param targetFileBytes otherwise the target size of a partition
  * @param sort            whether rows are sorted by key inside each partition
  */
case class ClusterRows(
    columns: Seq[Expression],
    workload: Seq[Expression],
    workloadWeights: Seq[Double],
    request: LayoutRequest,
    partitions: Option[Int],
    targetFileBytes: Long,
    sort: Boolean,
    child: LogicalPlan)
    extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): ClusterRows =
    copy(child = newChild)
}
