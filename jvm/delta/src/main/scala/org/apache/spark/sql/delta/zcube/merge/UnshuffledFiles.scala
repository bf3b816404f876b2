package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.RightOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/** Spares rows of a MERGE's target Delta's shuffle by partition, if each task that makes them reads one
  * file ([[FileByFile]]).
  *
  * A MERGE with only WHEN MATCHED keeps all rows of the target that it doesn't delete. Where the source is
  * broadcast, its join leaves them with those of their file, so that a task writes to one partition
  * anyway.
  *
  * {{{
  *   Repartition(p, Project(source RIGHT OUTER JOIN target ON c))
  *     = Project(source RIGHT OUTER JOIN target ON c)
  * }}}
  */
object UnshuffledFiles extends Rule[LogicalPlan] with JoinSelectionHelper {

  override protected def logName: String = MergePruning.LogName

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(TreePattern.OUTER_JOIN)) {
      case shuffle: RepartitionByExpression =>
        RowByRow.rowsOf(shuffle.child) match {
          case join @ Join(_, target, RightOuter, _, JoinHint.NONE)
              if FileByFile.isMadeOf(target) && canBroadcastBySize(join.left, conf) =>
            shuffle.child
          case _ => shuffle
        }
    }
}
