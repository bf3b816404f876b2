package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{FullOuter, JoinType, LeftAnti, LeftSemi}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/** The rows of `left`, of which at most those that satisfy the condition with a row of `right` match
  * anything in the outer join that they are made for.
  *
  * [[SplitOuterJoin]] makes use of it. Where it doesn't, these are the rows of `left` and nothing else.
  */
case class TargetWithKeys(left: LogicalPlan, right: LogicalPlan, condition: Expression)
    extends BinaryNode {

  override def output: Seq[Attribute] = left.output

  override def metadataOutput: Seq[Attribute] = left.metadataOutput

  override def maxRows: Option[Long] = left.maxRows

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): TargetWithKeys = copy(left = newLeft, right = newRight)

  /** The rows that may match, or those that can't. */
  private[merge] def rows(of: JoinType): LogicalPlan =
    Join(left, right, of, Some(condition), TargetWithKeys.BroadcastKeys)
}

object TargetWithKeys {

  private[merge] val BroadcastKeys = JoinHint(None, Some(HintInfo(strategy = Some(BROADCAST))))

  object Strategy extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case TargetWithKeys(left, _, _) => Seq(planLater(left))
      case _ => Nil
    }
  }
}

/** Lets rows of a MERGE's target that match no row of the source bypass the join.
  *
  * Without deletion vectors, Delta copies them from the touched files to new ones. It finds them by a
  * full outer join, for which Spark shuffles and sorts whole files, and which scatters each file's rows
  * over all new ones, whatever the layout was. Here only the rows with a key of the source are joined;
  * the others are read in a second scan and keep their order. For each row the keys decide to which of
  * the two it belongs, so that it is in exactly one of them.
  *
  * {{{
  *   source FULL OUTER JOIN target ON c
  *     = (source FULL OUTER JOIN (target SEMI JOIN keys) ON c) UNION ALL (nulls, target ANTI JOIN keys)
  * }}}
  */
object SplitOuterJoin extends Rule[LogicalPlan] {

  override protected def logName: String = MergePruning.LogName

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(TreePattern.OUTER_JOIN)) {
      // A column of the source may be there twice, and a union isn't resolved then.
      case join @ Join(source, target, FullOuter, Some(_), _)
          if join.outputSet.size == join.output.size =>
        partOf(target, LeftSemi).zip(partOf(target, LeftAnti)).fold(join: LogicalPlan) {
          case (matching, others) =>
            val nulls = source.output.map(column => AbsentValue(column.dataType))
            // With ids of its own, as Spark's analyzer makes the parts of a union.
            val columns = (nulls ++ others.output).zip(join.output)
              .map { case (value, column) => Alias(value, column.name)() }
            logInfo("MERGE: rows without a key of the source are copied without a join")
            Union(join.copy(right = matching), Project(columns, others))
        }
    }

  /** The part of the target's rows that such a join keeps; none if they don't come from a
    * [[TargetWithKeys]] directly.
    */
  private def partOf(target: LogicalPlan, of: JoinType): Option[LogicalPlan] = target match {
    case Project(columns, child) if columns.forall(_.deterministic) =>
      partOf(child, of).map(Project(columns, _))
    case rows: TargetWithKeys => Some(rows.rows(of))
    case _ => None
  }
}
