package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.expressions.Equality
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.plans.RightOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils

/** Leaves rows of a MERGE's target with those of their file, if each task that makes them reads one file
  * ([[FileByFile]]).
  *
  * A MERGE with only WHEN MATCHED keeps all rows of the target that it doesn't delete. Where Spark
  * broadcasts the source, their join doesn't shuffle them, and a task writes to one partition anyway.
  * So Delta's shuffle by partition is left out.
  *
  * {{{
  *   Repartition(p, Project(source RIGHT OUTER JOIN target ON c))
  *     = Project(source RIGHT OUTER JOIN target ON c)
  * }}}
  */
object UnshuffledFiles extends Rule[LogicalPlan] with JoinSelectionHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case shuffle: RepartitionByExpression => inPlaceOf(shuffle)
    case _ if !plan.containsPattern(TreePattern.OUTER_JOIN) => plan
    case Apart(join, scan) => broadcast(join, scan)
    case _ => plan.mapChildren(apply)
  }

  /** What is below a shuffle, if it leaves files apart; otherwise the shuffle. */
  private def inPlaceOf(shuffle: RepartitionByExpression): LogicalPlan =
    RowByRow.rowsOf(shuffle.child) match {
      case rows @ Apart(join, scan) =>
        shuffle.child.transform { case `rows` => broadcast(join, scan) }
      case _ => shuffle
    }

  private def broadcast(join: Join, scan: FileByFile.Scan): Join = {
    scan.log.info("a task reads each file, so that what it writes may stay in its cube")
    scan.isUsed = true
    // Whatever is estimated later: where the join shuffles, each task would write to each partition.
    join.copy(hint = TargetWithKeys.BroadcastSource)
  }

  /** A join that doesn't shuffle what is read file by file. */
  private object Apart {
    def unapply(plan: LogicalPlan): Option[(Join, FileByFile.Scan)] = plan match {
      case join @ Join(_, target, RightOuter, _, _) =>
        FileByFile.of(target).filter(_ => isBroadcast(join)).map(join -> _)
      case _ => None
    }
  }

  private def isBroadcast(join: Join): Boolean =
    (hintToBroadcastLeft(join.hint) ||
      (join.hint == JoinHint.NONE && canBroadcastBySize(join.left, conf) && isFinal(join.left))) &&
      // Where equal values may have different bytes, Spark sorts, whatever the hint is.
      join.condition.forall(!_.exists {
        case Equality(key, _) => !UnsafeRowUtils.isBinaryStable(key.dataType)
        case _ => false
      })

  /** Whether Spark learns no more of the size of these rows before it broadcasts them. Of what is shuffled,
    * it does (adaptive execution), and then rather shuffles a join than broadcast what is too large: a
    * hint would keep it from that.
    */
  private def isFinal(rows: LogicalPlan): Boolean = !rows.exists {
    case _: Project | _: Filter | _: Union | _: LeafNode => false
    case _ => true
  }
}
