package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.MergeIntoCommand

import io.zcube.sql.keys.Repeatability

/** Leaves out rows of a MERGE's target that match no row of the source, before Delta joins the two.
  *
  * With deletion vectors, Delta writes only the rows that change. But to find them and the rows to
  * insert, it joins the source with all rows of the touched files, by an outer join, in which Spark
  * can't broadcast the source: it shuffles and sorts whole files for a few rows. If there is only
  * WHEN NOT MATCHED, the same goes for any table: Delta's anti join reads all files that may have a
  * key. A semi join can broadcast the source. It compares only what ON says to be equal, so that it
  * leaves at least the rows that Delta's own join matches. The optimizer must not learn more about the
  * target's columns from the source than from Delta's joins, be it true: it would move that into the
  * Parquet reader, which skips row groups wrongly where a file's decimals are narrower than the
  * column's.
  *
  * Example: 14 files of 40,000 rows each, and a source of 8,000 rows: Delta shuffles 560,000 rows, and
  * with the semi join about 8,000.
  *
  * @param equalities parts of ON: each says that something of the target equals something of the
  *   source
  */
final class MatchingRows private (
    session: SparkSession,
    equalities: Seq[MatchingRows.Equality],
    keys: MergeKeys,
    table: String)
    extends Logging {
  import MatchingRows._

  override protected def logName: String = MergePruning.LogName

  private val threshold = session.sessionState.conf.autoBroadcastJoinThreshold
  private val maxBytes = math.min(threshold, MaxBytes)

  /** The plan of the target's files, without rows that match nothing. The plan itself, if Spark can
    * broadcast the files, if it shouldn't broadcast the source, or if the source may be another when it
    * is read twice.
    */
  def in(files: Seq[AddFile], target: LogicalPlan): LogicalPlan =
    try joined(files, target)
    catch {
      case MergeFailures.Recoverable(e) =>
        val kinds = MergeFailures.kindsOf(e)
        logWarning(s"$table: MERGE: rows without a key of the source aren't left out: $kinds")
        target
    }

  private def joined(files: Seq[AddFile], target: LogicalPlan): LogicalPlan = {
    val columns = keys.columns(equalities.map(_.ofSource))
    val known = equalities.forall(_.ofTarget.references.subsetOf(target.outputSet))
    if (!known || files.map(_.size).sum <= threshold || !keys.isPinned(columns) ||
      keys.bytes(columns) > maxBytes)
      target
    else {
      // The estimate may be of compressed files.
      keys.rowsWithin(columns, maxBytes, s"$table: MERGE: keys of the source, to be broadcast")
        .fold(target)(leavingOut(target, _))
    }
  }

  /** With rows that have been read already, as waiting for a slow source to be broadcast could end the
    * statement.
    */
  private def leavingOut(target: LogicalPlan, source: KeyRows): LogicalPlan = {
    val condition = equalities.zip(source.output).map { case (equality, column) =>
      equality.to(KnownNullable(column))
    }.reduce(And(_, _))
    logInfo(
      s"$table: MERGE: rows without a key of the source (${source.rows.size} rows) are left out of the join")
    Join(target, source, LeftSemi, Some(condition), JoinHint(None, Some(broadcast)))
  }
}

object MatchingRows extends PredicateHelper {

  /** None if Delta's own join can broadcast the source, or if ON has no equality that may be used.
    *
    * @param keys    the source in this attempt
    * @param columns those of the target that may be used
    */
  def of(
      session: SparkSession,
      merge: MergeIntoCommand,
      keys: MergeKeys,
      columns: => AttributeSet): Option[MatchingRows] =
    try find(session, merge, keys, columns)
    catch { case MergeFailures.Recoverable(_) => None }

  private def find(
      session: SparkSession,
      merge: MergeIntoCommand,
      keys: MergeKeys,
      columns: AttributeSet): Option[MatchingRows] = {
    // Spark broadcasts no keys that a collation treats as equal.
    def isOfTarget(e: Expression) = e.references.nonEmpty && e.references.subsetOf(columns) &&
      Repeatability.of(e) && UnsafeRowUtils.isBinaryStable(e.dataType)
    def isOfSource(e: Expression) = e.references.nonEmpty && keys.repeatable.suffice(e) &&
      Repeatability.of(e) && !MergeKeys.readsJson(e)
    val equalities = splitConjunctivePredicates(merge.condition).collect {
      case EqualTo(a, b) if isOfTarget(a) && isOfSource(b) => Equality(a, b, EqualTo(a, _))
      case EqualTo(a, b) if isOfTarget(b) && isOfSource(a) => Equality(b, a, EqualTo(b, _))
      case EqualNullSafe(a, b) if isOfTarget(a) && isOfSource(b) =>
        Equality(a, b, EqualNullSafe(a, _))
      case EqualNullSafe(a, b) if isOfTarget(b) && isOfSource(a) =>
        Equality(b, a, EqualNullSafe(b, _))
    }
    val keepsSource = merge.notMatchedClauses.nonEmpty && merge.notMatchedBySourceClauses.isEmpty
    // The source is made here, where it may fail.
    Option.when(keepsSource && equalities.nonEmpty && !keys.readsJson && keys.source != null)(
      new MatchingRows(session, equalities, keys, MergePruning.tableOf(merge)))
  }

  /** @param to the comparison with the source's value */
  final private case class Equality(
      ofTarget: Expression,
      ofSource: Expression,
      to: Expression => Expression)

  /** What the driver holds of a source, whatever Spark may broadcast: in objects it is several times as
    * much.
    */
  private val MaxBytes = 64L << 20

  private val broadcast = HintInfo(strategy = Some(BROADCAST))
}
