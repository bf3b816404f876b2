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
  *
  * @param table  name for the log
  * @param byFile how files are read each by a task of its own, if rows that can't match are to be read so
  */
case class TargetWithKeys(
    left: LogicalPlan,
    right: LogicalPlan,
    condition: Expression,
    table: String,
    @transient byFile: Option[FileByFile.Scan] = None)
    extends BinaryNode {

  override def output: Seq[Attribute] = left.output

  override def metadataOutput: Seq[Attribute] = left.metadataOutput

  override def maxRows: Option[Long] = left.maxRows

  override protected def stringArgs: Iterator[Any] = Iterator(condition, table)

  override def stats: Statistics = left.stats

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): TargetWithKeys = copy(left = newLeft, right = newRight)

  /** The rows that may match, or those that can't. */
  private[merge] def rows(of: JoinType): LogicalPlan =
    Join(left, right, of, Some(condition), TargetWithKeys.BroadcastKeys)
}

object TargetWithKeys {

  private val Broadcast = Some(HintInfo(strategy = Some(BROADCAST)))

  private[merge] val BroadcastKeys = JoinHint(None, Broadcast)

  /** Of Delta's join of the source with the target. */
  private[merge] val BroadcastSource = JoinHint(Broadcast, None)

  object Strategy extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case TargetWithKeys(left, _, _, _, _) => Seq(planLater(left))
      case _ => Nil
    }
  }
}

/** Lets rows of a MERGE's target that match no row of the source bypass the join.
  *
  * Without deletion vectors, Delta copies them from the touched files to new ones. It finds them by a
  * full outer join, for which Spark shuffles and sorts whole files, and which scatters each file's rows
  * over all new ones, whatever the layout was. Here only the rows with a key of the source are joined.
  * The others are read in a second scan, or in two: files of cubes file by file ([[FileByFile]]), others
  * as Spark puts them together. Unless Delta shuffles them before it writes, they keep their order. For
  * each row the keys decide to which of the two it belongs, so that it is in exactly one of them.
  *
  * {{{
  *   source FULL OUTER JOIN target ON c
  *     = (source FULL OUTER JOIN (target SEMI JOIN keys) ON c) UNION ALL (nulls, target ANTI JOIN keys)
  * }}}
  *
  * Before Delta writes a table with partitions, it shuffles all rows by partition, unless a setting
  * forbids it, so that few tasks write to each. A task that reads one file writes to one partition
  * anyway: rows that are read so aren't shuffled.
  */
object SplitOuterJoin extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(TreePattern.OUTER_JOIN)) {
      case shuffle: RepartitionByExpression =>
        RowByRow.rowsOf(shuffle.child) match {
          case Splittable(join, rows) =>
            val parts = partsOf(join, rows)
            val shuffled = shuffle.transform { case `join` =>
              union(parts.joined +: parts.others.toSeq)
            }
            union(shuffled +: parts.byFile.map(RowByRow.over(shuffle.child, _)).toSeq)
          // Otherwise, no row stays with those of its file.
          case _ => shuffle.transform { case rows: TargetWithKeys => rows.copy(byFile = None) }
        }
      case Splittable(join, rows) =>
        val parts = partsOf(join, rows)
        union(parts.joined +: (parts.others ++ parts.byFile).toSeq)
      case Outer(join, rows) =>
        log(rows, "joined like all others: a column of the source comes twice")
        join
    }

  private def log(rows: TargetWithKeys, what: String): Unit =
    new MergeLog(rows.table).info(s"rows without a key of the source are $what")

  private def partsOf(join: Join, rows: TargetWithKeys): Parts = {
    log(rows, "copied without a join")
    val nulls = join.left.output.map(column => AbsentValue(column.dataType))
    def withNulls(others: LogicalPlan) = {
      // With ids of its own, as Spark's analyzer makes the parts of a union.
      val columns = (nulls ++ others.output).zip(join.output)
        .map { case (value, column) => Alias(value, column.name)() }
      Project(columns, others)
    }
    def part(of: TargetWithKeys, how: JoinType) =
      join.right.transformUp { case `rows` => of.rows(how) }
    def copied(of: LogicalPlan) = withNulls(part(rows.copy(left = of), LeftAnti))
    val (byFile, others) =
      rows.byFile.fold((Option.empty[LogicalPlan], Option(rows.left)))(_.split(rows.left))
    Parts(join.copy(right = part(rows, LeftSemi)), byFile.map(copied), others.map(copied))
  }

  private def union(parts: Seq[LogicalPlan]): LogicalPlan =
    if (parts.size == 1) parts.head else Union(parts)

  /** @param byFile rows that are copied file by file
    * @param others rows that are copied as Spark reads them, several files to a task
    */
  final private case class Parts(
      joined: LogicalPlan,
      byFile: Option[LogicalPlan],
      others: Option[LogicalPlan])

  private object Splittable {
    def unapply(plan: LogicalPlan): Option[(Join, TargetWithKeys)] = plan match {
      // Otherwise, a union isn't resolved.
      case Outer(join, rows) if join.outputSet.size == join.output.size => Some(join -> rows)
      case _ => None
    }
  }

  private object Outer {
    def unapply(plan: LogicalPlan): Option[(Join, TargetWithKeys)] = plan match {
      case join @ Join(_, Keyed(rows), FullOuter, Some(_), _) => Some(join -> rows)
      case _ => None
    }
  }

  /** Rows that come from a [[TargetWithKeys]] directly, so that its parts are parts of them. */
  private object Keyed {
    def unapply(target: LogicalPlan): Option[TargetWithKeys] = target match {
      case Project(columns, child) if columns.forall(_.deterministic) => unapply(child)
      case rows: TargetWithKeys => Some(rows)
      case _ => None
    }
  }
}
