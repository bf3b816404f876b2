package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, CTERelationDef, CTERelationRef, LogicalPlan, Project, WithCTE}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{SparkSession, classic}

import io.zcube.range.{EqualWeightRanges, SampleSize}
import io.zcube.sql.expressions.{RangeIdOf, RangePartitionId}
import io.zcube.sql.layout.SampledColumn
import io.zcube.sql.plans.RangeIds
import io.zcube.sql.sampling.{RowSampler, SampleLimits}
import io.zcube.sql.values.TypedRangeBounds

/** Samples the child of each [[RangeIds]] and replaces the placeholders with look-ups in the
  * resulting bounds.
  *
  * One job serves all placeholders over one child, even if the child occurs more than once in the
  * query. It runs when the query is optimized, which happens once per query. The sample depends
  * only on the rows and on which of their columns the query needs, so running it again would give
  * the same result.
  */
case class RangePartitionIdRewrite(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val commonTables = plan.collect { case d: CTERelationDef => d }
    var current = withoutUnused(plan)
    // Once for each level of nesting, the innermost first.
    var next = innermost(current)
    while (next.nonEmpty) {
      val rewritten = next
        .groupBy(_.child.canonicalized)
        .values
        .flatMap(rewriteOverOneChild(_, commonTables))
        .toMap
      current = current.transformUp { case ids: RangeIds => rewritten.getOrElse(ids, ids) }
      next = innermost(current)
    }
    current
  }

  /** Ids that nothing reads, e.g. under count(*), need no sample. */
  private def withoutUnused(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case parent @ (_: Project | _: Aggregate) if parent.children.head.isInstanceOf[RangeIds] =>
      val ids = parent.children.head.asInstanceOf[RangeIds]
      val used = ids.placeholders.zip(ids.ids).filter { case (_, id) =>
        parent.references.contains(id)
      }
      if (used.length == ids.ids.length) parent
      else if (used.isEmpty) parent.withNewChildren(Seq(ids.child))
      else parent.withNewChildren(Seq(RangeIds(used.map(_._1), used.map(_._2), ids.child)))
  }

  private def innermost(plan: LogicalPlan): Seq[RangeIds] = plan.collect {
    case ids: RangeIds if !ids.child.exists(_.isInstanceOf[RangeIds]) => ids
  }.distinct

  private def rewriteOverOneChild(
      nodes: Seq[RangeIds],
      commonTables: Seq[CTERelationDef]): Seq[(RangeIds, LogicalPlan)] = {
    val child = nodes.head.child
    // Everything is expressed in the first child's columns.
    val placeholders = nodes.map { node =>
      val toFirst = AttributeMap(node.child.output.zip(child.output))
      node.placeholders.map(_.transform {
        case a: Attribute => toFirst.getOrElse(a, a)
      }.asInstanceOf[RangePartitionId])
    }
    val bounds = boundsOf(placeholders.flatten, child, commonTables).iterator
    nodes.map { node =>
      val looked = node.ids.zip(node.placeholders).map { case (id, placeholder) =>
        Alias(RangeIdOf(placeholder.left, bounds.next()), id.name)(exprId = id.exprId)
      }
      node -> Project(node.child.output ++ looked, node.child)
    }
  }

  private def boundsOf(
      placeholders: Seq[RangePartitionId],
      child: LogicalPlan,
      commonTables: Seq[CTERelationDef]): Seq[TypedRangeBounds] = {
    val columns = placeholders.map(_.left).foldLeft(Seq.empty[Expression]) { (distinct, column) =>
      if (distinct.exists(_.semanticEquals(column))) distinct else distinct :+ column
    }
    val needsTables = child.exists(_.isInstanceOf[CTERelationRef])
    val sample = RowSampler.sample(
      session.asInstanceOf[classic.SparkSession],
      child,
      columns,
      SampleLimits.ofRows(SampleSize.forRanges(placeholders.map(_.ranges).max)),
      s"ZCube: sampling ${columns.map(_.sql).mkString(", ")} for range_partition_id",
      (plan: LogicalPlan) => if (needsTables) WithCTE(plan, commonTables) else plan
    )
    val values = columns.zipWithIndex.map { case (column, i) =>
      SampledColumn(column.dataType, sample.rows.toIndexedSeq, i)
    }
    placeholders.map { id =>
      val column = values(columns.indexWhere(_.semanticEquals(id.left)))
      column.boundsAt(EqualWeightRanges.ends(column.counts, id.ranges))
    }
  }
}
