package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.zcube.Sessions

import io.zcube.sql.jobs.JobDescription
import io.zcube.sql.keys.Repeatability

/** Spares Delta's join of a MERGE's target and source the rows that match nothing.
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
  * Without deletion vectors, these rows have to be copied to new files: see [[SplitOuterJoin]].
  *
  * Example: 14 files of 40,000 rows each, and a source of 8,000 rows: Delta shuffles 560,000 rows, and
  * with the semi join about 8,000.
  *
  * @param equalities parts of ON: each says that something of the target equals something of the
  *   source
  */
final private[merge] class MatchingRows private (
    session: SparkSession,
    equalities: Seq[MatchingRows.Equality],
    keys: MergeKeys,
    log: MergeLog)
    extends AutoCloseable {
  import MatchingRows._

  private val conf = session.sessionState.conf
  private val threshold = conf.autoBroadcastJoinThreshold
  private val maxBytes = math.min(threshold, MaxBytes)
  private val byFile = new FileByFile(session, log)
  private val maxHashed = JavaUtils.byteStringAsBytes(conf.getConfString(MaxHashedKey, "8g"))

  /** The plan of the target's files, without rows that match nothing. The plan itself, if Spark can
    * broadcast the files, if it shouldn't broadcast the source, or if the source may be another when it
    * is read twice.
    */
  def in(files: Seq[AddFile], planOf: Seq[AddFile] => LogicalPlan): LogicalPlan =
    unlessItFails(files, planOf, _ => true, "are left out of the join")(_.rows(LeftSemi))

  /** The plan of the target's files, with the keys by which [[SplitOuterJoin]] spares the join the rows
    * that match nothing. The plan itself where [[in]] returns it, and also if that rule is excluded, if a
    * second scan may return other rows, or if it would cost more than it saves, as many rows have a key
    * of the source.
    *
    * @param mayStay whether the copies of a file may stay in its cube
    */
  def apart(
      files: Seq[AddFile],
      planOf: Seq[AddFile] => LogicalPlan,
      mayStay: AddFile => Boolean): LogicalPlan =
    unlessItFails(
      files,
      planOf,
      !isExcluded && !MergeKeys.mayIgnoreFiles(_, conf),
      "may be copied without a join") { keyed =>
      if (areFew(files, keyed, planOf))
        keyed.copy(byFile = byFile.scanOf(files, mayStay))
      else keyed.left
    }

  /** Whether the plan that [[apart]] returned last was made to copy files file by file. */
  def copiesFiles: Boolean = byFile.isUsed

  override def close(): Unit = byFile.close()

  private def isExcluded: Boolean = conf.optimizerExcludedRules
    .exists(_.split(',').exists(_.trim == SplitOuterJoin.ruleName))

  /** @param mayBe whether keys may be used, by the plan of all files
    * @param what  what the log then says of the rows
    */
  private def unlessItFails(
      files: Seq[AddFile],
      planOf: Seq[AddFile] => LogicalPlan,
      mayBe: LogicalPlan => Boolean,
      what: String)(body: TargetWithKeys => LogicalPlan): LogicalPlan = {
    val target = planOf(files)
    try
      (if (mayBe(target)) withKeys(files, target) else None).fold(target) { keyed =>
        val plan = body(keyed)
        if (plan ne target)
          log.info(s"rows without a key of the source $what")
        plan
      }
    catch {
      case MergeFailures.Recoverable(e) =>
        log.recovered(JoinedLikeAll, e)
        target
    }
  }

  private def withKeys(files: Seq[AddFile], target: LogicalPlan): Option[TargetWithKeys] = {
    val columns = keys.columns(equalities.map(_.ofSource))
    val known = equalities.forall(_.ofTarget.references.subsetOf(target.outputSet))
    if (!known || files.map(_.size).sum <= threshold || maxHashed < MinHashed ||
      !keys.isPinned(columns) || keys.bytes(columns) > maxBytes)
      None
    else {
      // The estimate may be of compressed files.
      keys.rowsWithin(columns, maxBytes, log.line("keys of the source, to be broadcast"))
        .map(by(_, target))
    }
  }

  /** With rows that have been read already, as waiting for a slow source to be broadcast could end the
    * statement.
    */
  private def by(source: KeyRows, target: LogicalPlan): TargetWithKeys = {
    val condition = equalities.zip(source.output).map { case (equality, column) =>
      equality.to(KnownNullable(column))
    }.reduce(And(_, _))
    TargetWithKeys(target, source, condition, log.table)
  }

  /** Whether few of the files' rows have a key of the source, by a sample of the files. The sample may have
    * most of those rows: so it also counts if there are few keys, and the sample has hardly any twice,
    * as where they are the target's key.
    */
  private def areFew(
      files: Seq[AddFile],
      keyed: TargetWithKeys,
      planOf: Seq[AddFile] => LogicalPlan): Boolean = {
    val sample = sampleOf(files)
    def joined(why: String) = {
      log.info(s"$JoinedLikeAll: $why")
      false
    }
    def count(what: LogicalPlan => LogicalPlan) = JobDescription.within(
      session.sparkContext,
      log.line(s"rows with a key of the source, in ${sample.size} files")) {
      val matching = keyed.copy(left = planOf(sample)).rows(LeftSemi)
      Sessions.rowsOf(session, what(matching)).count()
    }
    rowsOf(sample).fold(joined("the log doesn't have the files' numbers of rows")) { rows =>
      val found = count(identity)
      def areKeysFew = rowsOf(files).exists { all =>
        val keys = keyed.right.maxRows.fold(Double.MaxValue)(_.toDouble)
        keys <= MaxShare * all && {
          val ofTarget = equalities.map(equality => Alias(equality.ofTarget, "key")())
          found <= MaxRowsOfKey * count(rows => Distinct(Project(ofTarget, rows)))
        }
      }
      found <= rows * MaxShare || areKeysFew ||
      joined(s"in ${sample.size} files, $found of $rows rows have one")
    }
  }
}

private[merge] object MatchingRows extends PredicateHelper {

  private val JoinedLikeAll = "rows without a key of the source are joined like all others"

  /** None if Delta's own join can broadcast the source, or if ON has no equality that may be used.
    *
    * @param keys    the source in this attempt
    * @param columns those of the target that may be used
    */
  def of(
      session: SparkSession,
      merge: MergeIntoCommand,
      keys: MergeKeys,
      columns: => AttributeSet,
      log: MergeLog): Option[MatchingRows] =
    try find(session, merge, keys, columns, log)
    catch {
      case MergeFailures.Recoverable(e) =>
        log.debug("ON's equalities can't be determined", e)
        None
    }

  private def find(
      session: SparkSession,
      merge: MergeIntoCommand,
      keys: MergeKeys,
      columns: AttributeSet,
      log: MergeLog): Option[MatchingRows] = {
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
      new MatchingRows(session, equalities, keys, log))
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

  /** How large a hash table Spark may broadcast. Above it, the statement would fail. Spark 4.0 doesn't
    * have this setting.
    */
  private val MaxHashedKey = "spark.sql.maxBroadcastTableSize"

  /** More than that of the largest source. That of one row may have 64 MB, the size of a page. */
  private val MinHashed = 512L << 20

  /** Which share of the rows may have a key of the source, if the files are to be read twice: once as
    * Delta reads, joins and writes them, and once more. Measured, a second scan that joins a hundredth
    * costs a third less in all; at half of the rows nothing would be left of that.
    */
  private val MaxShare = 0.25

  /** One or two files that stand for all, by bytes, in the order of their sizes. The file with the rows
    * that the last MERGE changed, which may well be those that this one changes, is often among the
    * smallest: it shouldn't decide for all.
    *
    * Example: of files of 3, 40, 41, 42 and 50 MB, those of 41 and 50 MB.
    *
    * @param files of at least one byte together
    */
  private[merge] def sampleOf(files: Seq[AddFile]): Seq[AddFile] = {
    val bySize = files.toIndexedSeq.sortBy(file => (file.size, file.path))
    val ends = bySize.scanLeft(0L)(_ + _.size).tail
    val bytes = ends.last
    SampledAt.map(share => bySize(ends.indexWhere(_ > share * bytes))).distinct
  }

  /** None if the log doesn't have the number of each. */
  private def rowsOf(files: Seq[AddFile]): Option[Long] = {
    val rows = files.flatMap(_.numLogicalRecords)
    Option.when(rows.size == files.size)(rows.sum)
  }

  /** So many rows of the sample have a key that is that of one row, with a few exceptions. */
  private val MaxRowsOfKey = 1.1

  /** At which shares of the bytes the sampled files are. */
  private val SampledAt = Seq(0.25, 0.75)
}
