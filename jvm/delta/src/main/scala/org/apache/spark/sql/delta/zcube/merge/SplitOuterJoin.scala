package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.{FullOuter, JoinType, LeftAnti, LeftSemi}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/** The rows of `left`, of which at most those that satisfy the condition with a row of `right` match
  * anything in the outer join that they are made for.
  *
  * [[SplitOuterJoin]] makes use of it. Where it doesn't, these are the rows of `left` and nothing else.
  *
  * @param table  name for the log
  * @param byFile a session in which a task reads a file, if the rows that can't match are to be read so
  */
case class TargetWithKeys(
    left: LogicalPlan,
    right: LogicalPlan,
    condition: Expression,
    table: String,
    @transient byFile: Option[SparkSession] = None)
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
  private[merge] def rows(of: JoinType): LogicalPlan = {
    import TargetWithKeys.ByFile
    val files = byFile.filter(_ => of == LeftAnti).fold(left) { session =>
      left.transform { case scan: LogicalRelation =>
        scan.relation match {
          // With an option of its own: by the session alone, Spark doesn't tell the copy from the original.
          case files: HadoopFsRelation =>
            scan.copy(relation = files.copy(options = files.options + ByFile)(session))
          case _ => scan
        }
      }
    }
    Join(files, right, of, Some(condition), TargetWithKeys.BroadcastKeys)
  }
}

object TargetWithKeys {

  private val ByFile = "zcube.taskPerFile" -> "true"

  private[merge] val BroadcastKeys = JoinHint(None, Some(HintInfo(strategy = Some(BROADCAST))))

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
  * over all new ones, whatever the layout was. Here only the rows with a key of the source are joined;
  * the others are read in a second scan and keep their order. For each row the keys decide to which of
  * the two it belongs, so that it is in exactly one of them.
  *
  * {{{
  *   source FULL OUTER JOIN target ON c
  *     = (source FULL OUTER JOIN (target SEMI JOIN keys) ON c) UNION ALL (nulls, target ANTI JOIN keys)
  * }}}
  *
  * Before Delta writes a table with partitions, it shuffles all rows by partition, so that few tasks write
  * to each. Where a task reads one file, it writes to one partition anyway: there, only the joined rows
  * are shuffled.
  */
object SplitOuterJoin extends Rule[LogicalPlan] {

  override protected def logName: String = MergePruning.LogName

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(TreePattern.OUTER_JOIN)) {
      case shuffle: RepartitionByExpression =>
        val split = for {
          Outer(join, rows) <- Option(RowByRow.rowsOf(shuffle.child))
          if rows.byFile.isDefined && hasEachColumnOnce(join)
          parts <- partsOf(join, rows, "a join or a shuffle")
        } yield Union(
          shuffle.transform { case `join` => parts.joined },
          RowByRow.over(shuffle.child, parts.others))
        split.getOrElse(shuffle)
      case Outer(join, rows) =>
        partsOf(join, rows, "a join").fold[LogicalPlan](join)(p => Union(p.joined, p.others))
    }

  /** @param without what the log says that the others are spared */
  private def partsOf(join: Join, rows: TargetWithKeys, without: String): Option[Parts] = {
    val what = s"${rows.table}: MERGE: rows without a key of the source are"
    if (!hasEachColumnOnce(join)) {
      logInfo(s"$what joined like all others: a column of the source comes twice")
      None
    } else {
      logInfo(s"$what copied without $without")
      def part(of: JoinType) = join.right.transformUp { case `rows` => rows.rows(of) }
      val others = part(LeftAnti)
      val nulls = join.left.output.map(column => AbsentValue(column.dataType))
      // With ids of its own, as Spark's analyzer makes the parts of a union.
      val columns = (nulls ++ others.output).zip(join.output)
        .map { case (value, column) => Alias(value, column.name)() }
      Some(Parts(join.copy(right = part(LeftSemi)), Project(columns, others)))
    }
  }

  /** Otherwise, a union isn't resolved. */
  private def hasEachColumnOnce(join: Join): Boolean =
    join.outputSet.size == join.output.size

  final private case class Parts(joined: LogicalPlan, others: LogicalPlan)

  /** The join of a source with a target that can be split. */
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
