package io.zcube.sql.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{SparkSession, classic}

import io.zcube.range.{EqualWeightRanges, SampleSize}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.expressions.{RangeIdOf, RangePartitionId}
import io.zcube.sql.layout.SampledColumn
import io.zcube.sql.plans.RangeIds
import io.zcube.sql.sampling.{RowSample, RowSampler, SampleLimits}
import io.zcube.sql.values.TypedRangeBounds

/** Samples the child of each [[RangeIds]] and replaces the placeholders with look-ups in the
  * resulting bounds.
  *
  * One job serves all placeholders over one child, even if the child occurs more than once in the
  * query, and in places that need other columns of it. It runs when the query is optimized: once, or
  * twice for a write that plans its query anew. The sample depends only on the rows and on which of
  * their columns the query needs, so running it again would give the same result.
  */
case class RangePartitionIdRewrite(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val known = mutable.Map.empty[RangeIds.Call, TypedRangeBounds]
    var current = withoutUnused(plan)
    // Once for each level of nesting, the innermost first.
    var next = innermost(current)
    while (next.nonEmpty) {
      sampledBy(next, known.keySet).groupBy(_.child.canonicalized).values.foreach { nodes =>
        known ++= boundsOver(nodes, new PartsOfQuery(current))
      }
      current = current.transformUp {
        case ids: RangeIds if ids.calls.forall(known.contains) =>
          val looked = ids.ids.indices.map { i =>
            val rangeId = RangeIdOf(ids.placeholders(i).left, known(ids.calls(i)))
            Alias(rangeId, ids.ids(i).name)(exprId = ids.ids(i).exprId)
          }
          Project(ids.child.output ++ looked, ids.child)
      }
      next = innermost(current)
    }
    current
  }

  /** Each call once, over the child with the most columns: copies of a call need the same ranges, but
    * one may have fewer columns than another, and thus would get another sample.
    */
  private def sampledBy(
      nodes: Seq[RangeIds],
      known: collection.Set[RangeIds.Call]): Seq[RangeIds] = {
    val widest = nodes.sortBy(-_.child.output.size)
    widest.scanLeft((known.toSet, Option.empty[RangeIds])) { case ((before, _), node) =>
      val fresh = node.ids.zip(node.calls).collect { case (id, call) if !before(call) => id }
      (before ++ node.calls, Option.when(fresh.nonEmpty)(node.only(AttributeSet(fresh))))
    }.flatMap(_._2)
  }

  /** Ids that nothing reads, e.g. under count(*), need no sample. */
  private def withoutUnused(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case parent @ (_: Project | _: Aggregate) if parent.children.head.isInstanceOf[RangeIds] =>
      val ids = parent.children.head.asInstanceOf[RangeIds]
      val used = ids.only(parent.references)
      if (used.ids.length == ids.ids.length) parent
      else if (used.ids.isEmpty) parent.withNewChildren(Seq(ids.child))
      else parent.withNewChildren(Seq(used))
  }

  private def innermost(plan: LogicalPlan): Seq[RangeIds] = {
    val parts = new PartsOfQuery(plan)
    plan.collect {
      case ids: RangeIds if !parts.withTables(ids.child).exists(_.isInstanceOf[RangeIds]) => ids
    }.distinct
  }

  /** @param nodes over equal children */
  private def boundsOver(
      nodes: Seq[RangeIds],
      parts: PartsOfQuery): Seq[(RangeIds.Call, TypedRangeBounds)] = {
    val child = nodes.head.child
    // Everything is expressed in the first child's columns.
    val placeholders = nodes.flatMap { node =>
      val toFirst = AttributeMap(node.child.output.zip(child.output))
      node.placeholders.map(_.transform {
        case a: Attribute => toFirst.getOrElse(a, a)
      }.asInstanceOf[RangePartitionId])
    }
    nodes.flatMap(_.calls).zip(boundsOf(placeholders, child, parts))
  }

  private def boundsOf(
      placeholders: Seq[RangePartitionId],
      child: LogicalPlan,
      parts: PartsOfQuery): Seq[TypedRangeBounds] = {
    val columns = placeholders.map(_.left).foldLeft(Seq.empty[Expression]) { (distinct, column) =>
      if (distinct.exists(_.semanticEquals(column))) distinct else distinct :+ column
    }
    val sample = RowSampler.sample(
      session.asInstanceOf[classic.SparkSession],
      child,
      columns,
      SampleLimits.ofRows(SampleSize.forRanges(placeholders.map(_.ranges).max)),
      s"ZCube: sampling ${columns.map(_.sql).mkString(", ")} for range_partition_id",
      parts.alone
    )
    val values = columns.indices.map(SampledColumn.of(sample, _))
    placeholders.map { id =>
      val column = values(columns.indexWhere(_.semanticEquals(id.left)))
      if (!sample.isEnoughFor(math.min(id.ranges, MaxNeeded)) && mayLackValues(column, sample)) {
        val sampled = sample.rows.length.toLong
        throw ZCubeErrors.sampleTooSmall("RANGES", columns.map(_.sql), sampled, id.ranges)
      }
      column.boundsAt(EqualWeightRanges.ends(column.counts, id.ranges))
    }
  }

  /** Whether a small sample lacks values of many rows. Of a few values, however long, it has all. About
    * as many rows have values that it lacks as it has values that occur once. (I. J. Good, "The
    * population frequencies of species", Biometrika 40, 1953.)
    */
  private def mayLackValues(column: SampledColumn, sample: RowSample): Boolean =
    sample.rows.isEmpty || column.counts.count(_ == 1) > MaxLacking * sample.rows.length

  private val MaxLacking = 0.05

  /** For more ranges, a sample has hardly a row of each even if the values are numbers. That is no
    * error.
    */
  private val MaxNeeded = 1 << 18
}
