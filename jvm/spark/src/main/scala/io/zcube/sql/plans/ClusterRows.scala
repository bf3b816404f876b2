package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import io.zcube.sql.layout.LayoutRequest

/** The child's rows, laid out by the clustering columns: what `zcube.cluster(df, …)` and the hint
  * `ZCUBE_CLUSTER` stand for until the optimizer samples the child and puts a shuffle in its place.
  *
  * @param columns         the clustering columns
  * @param workload        predicates that partitions are to be skipped by
  * @param workloadWeights how often each is asked
  * @param partitions      number of output partitions, if given
  * @param targetFileBytes else the size of a partition to aim at
  */
case class ClusterRows(
    columns: Seq[Expression],
    workload: Seq[Expression],
    workloadWeights: Seq[Double],
    request: LayoutRequest,
    partitions: Option[Int],
    targetFileBytes: Long,
    child: LogicalPlan)
    extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): ClusterRows =
    copy(child = newChild)
}
