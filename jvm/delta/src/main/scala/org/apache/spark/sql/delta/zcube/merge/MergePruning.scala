package org.apache.spark.sql.delta.zcube.merge

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.zcube.table.{StatisticsColumns, TableColumns}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types._
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.ColumnPath
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.keys._
import io.zcube.sql.predicates.PredicateReader

/** Derives predicates on a MERGE's target from the keys of its source.
  *
  * All predicates are implied by ON, given the source. Delta decides which files they skip, so
  * missing or truncated statistics can't do harm. The statistics of texts that aren't UTF-8 are wrong,
  * and columns with such texts aren't used.
  */
final private[merge] class MergePruning(
    session: SparkSession,
    merge: MergeIntoCommand,
    txn: OptimisticTransaction,
    keys: MergeKeys,
    log: MergeLog) {
  import MergePruning._

  private val conf = session.sessionState.conf
  // Lazy, so that a condition nested too deeply fails where errors are caught.
  private lazy val condition = conditionOf(merge, keys.repeatable)
  private val minTableBytes = conf.getConf(ZCubeConf.MergeIntoMinTableBytes)

  /** Predicates on the target alone; empty if there are none. Runs jobs over the log's
    * statistics, one more for each column of texts, and at most one over the source's keys.
    */
  def predicates: Seq[Expression] = {
    val start = System.nanoTime()
    val found =
      try find()
      catch {
        // Where it was read before a shuffle, or while the query was planned.
        case failure @ WellFormedJson.Malformed(e) if !MergeFailures.isCancelled(failure) =>
          Left(MergeKeys.malformed(e))
        case MergeFailures.Recoverable(e) =>
          log.recovered("the source's keys can't be determined", e)
          Left(MergeFailures.kindsOf(e))
      }
    val took = s"(${(System.nanoTime() - start) / 1000000} ms)"
    found match {
      case Right(Pruning(pruned, text)) =>
        log.info(s"$text $took")
        pruned
      case Left(why) =>
        log.info(s"no files pruned by the source's keys: $why $took")
        Nil
    }
  }

  /** Whether the target is too small to save more than the source's keys cost. */
  def isTooSmall: Boolean = txn.snapshot.sizeInBytes < minTableBytes

  /** The columns of the target that have the values that are stored. */
  def unchanged: AttributeSet = target.getOrElse(AttributeSet.empty)

  private def find(): Either[String, Pruning] = {
    lazy val columns = keyColumns
    lazy val files = TargetFiles.ranges(txn.snapshot, columns.map(_.path))
    for {
      _ <- stopIf(isTooSmall)(
        s"the table has ${txn.snapshot.sizeInBytes} bytes, ${ZCubeConf.MergeIntoMinTableBytes.key} " +
          s"is $minTableBytes")
      _ <- stopIf(txn.snapshot.numOfFiles < 2)("the table has at most one file")
      _ <- stopIf(condition.alternatives.isEmpty)(
        if (keys.repeatable.isEmpty) "the source may return different rows when it is read again"
        else "what ON compares may differ when the source is read again")
      _ <- stopIf(target.isEmpty)(
        "the target isn't a table as it is stored: its rows are filtered, or its columns computed")
      _ <- stopIf(!isRestricted(columns))(
        "no target column has statistics that ON compares with a repeatable value")
      _ <- stopIf(!OptimisticTransaction.getActive().exists(_ eq txn))("no transaction is active")
      // Delta compares the numbers of rows of two scans, and has no second one if no file is left.
      _ <- stopIf(conf.getConf(DeltaSQLConf.MERGE_FAIL_IF_SOURCE_CHANGED))(
        s"${DeltaSQLConf.MERGE_FAIL_IF_SOURCE_CHANGED.key} is true")
      apart = columns.indices.filter(i => overlapIn(columns, files, i) <= MaxOverlap)
      _ <- stopIf(!isRestricted(apart.map(columns)))(
        s"most files overlap in ${columns.map(_.path.name).mkString(", ")}")
      chosen = apart.filter(i => hasTrueBounds(columns(i)))
      _ <- stopIf(!isRestricted(chosen.map(columns)))(
        s"strings in ${apart.diff(chosen).map(columns(_).path.name).mkString(", ")} aren't UTF-8, " +
          "or contain U+FFFD")
      partitions = chosen.map(columns).filter(_.isPartition).map(_.path)
        .filter(_.dataType != StringType)
      _ <- stopIf(conf.ansiEnabled && !TargetFiles.haveValidPartitions(txn.snapshot, partitions))(
        s"partitions have values that aren't of the type of ${partitions.map(_.name).mkString(", ")}")
      pruning <- prune(chosen.map(columns), files.map(_.only(chosen)))
    } yield pruning
  }

  /** @param columns the dimensions
    * @param files   their ranges in the table's files
    */
  private def prune(
      columns: Seq[KeyColumn],
      files: Array[ValueBox]): Either[String, Pruning] = {
    val cover = new ValueCover(columns.map(_.path.dataType).toIndexedSeq, files)
    val (bounds, layout) = BoundOrdinals.of(columns.map(_.column), alternativesOf(columns))
    val query = keys.query(bounds, condition.ofSource)
    val maxBytes = conf.getConf(ZCubeConf.MergeIntoMaxSourceBytes)
    for {
      _ <- stopIf(!keys.isPinned(query))("the source's version isn't fixed")
      bytes = keys.bytes(query)
      _ <- stopIf(bytes > maxBytes)(
        s"the source has $bytes bytes, ${ZCubeConf.MergeIntoMaxSourceBytes.key} is $maxBytes")
      read <- keys.collect(query, layout, cover, log.line("keys of the source"))
      boxes = cover.reduce(read, conf.getConf(ZCubeConf.MergeIntoMaxBoxes))
      touched = cover.touched(boxes)
      _ <- stopIf(touched == files.length)(MergeKeys.NothingSpared)
    } yield {
      val parts = Seq(true, false)
        .map(isPartition => columns.indices.filter(columns(_).isPartition == isPartition))
      // Separate predicates: Delta treats a predicate as one on partitions only if it names nothing
      // else.
      val pruned = parts.filter(_.nonEmpty)
        .map(dimensions =>
          BoxPredicate.of(dimensions.map(columns(_).column), dimensions, boxes.toSeq))
        .filter(_ != Literal.TrueLiteral)
      val share = s"$touched of ${files.length} files" +
        (if (files.length < txn.snapshot.numOfFiles) " of a sample" else "")
      Pruning(
        pruned,
        s"the source's keys (${columns.map(_.path.name).mkString(", ")}) in ${boxes.length} boxes, " +
          s"which touch $share")
    }
  }

  private def hasTrueBounds(column: KeyColumn): Boolean =
    column.isPartition || column.path.dataType != StringType ||
      TargetFiles.haveTrueTexts(txn.snapshot, column.path)

  private def overlapIn(columns: Seq[KeyColumn], files: Array[ValueBox], i: Int): Double =
    new ValueCover(IndexedSeq(columns(i).path.dataType), files.map(_.only(Seq(i)))).overlap

  /** What ON says about these columns alone. */
  private def alternativesOf(columns: Seq[KeyColumn]): Seq[Seq[SourceBounds]] = {
    val known = columns.map(_.column.canonicalized).toSet
    condition.alternatives.map(_.filter(range => known(range.column.canonicalized)))
  }

  /** Whether ON restricts these columns by the source, whichever of its sides is true. */
  private def isRestricted(columns: Seq[KeyColumn]): Boolean = {
    val alternatives = alternativesOf(columns)
    alternatives.exists(_.exists(_.isOfSource)) && alternatives.forall(_.nonEmpty)
  }

  /** The columns of the target that ON compares with the source, and that have statistics in the
    * log.
    */
  private def keyColumns: Seq[KeyColumn] = {
    val skips = conf.getConf(DeltaSQLConf.DELTA_STATS_SKIPPING)
    for {
      unchanged <- target.toSeq
      column <- condition.columns
      if column.references.subsetOf(unchanged)
      path <- TableColumns.find(txn.snapshot.schema, namesOf(column), conf.resolver)
      // By the name with which the statement was analyzed; columns may have been renamed since.
      known <- TableColumns
        .find(merge.targetFileIndex.metadata.schema, namesOf(column), conf.resolver)
      if known.physical == path.physical
      if path.dataType == column.dataType
      isPartition =
        txn.snapshot.metadata.physicalPartitionColumns.exists(name => path.physical == Seq(name))
      // For times, the meaning of a folder's name depends on the session's time zone.
      if (if (isPartition) !isTime(path.dataType)
          else skips && StatisticsColumns.hasMinima(txn.snapshot, path))
    } yield KeyColumn(column, path, isPartition)
  }

  /** The columns that have the values that are stored, if the target is a table. A view could return
    * others, or the same under other names; Spark pads values of CHAR above the scan; other
    * extensions mask columns. None if anything changes which rows are read.
    */
  private lazy val target: Option[AttributeSet] = for {
    relation <- relationIn(merge.target)
    // Like Delta's own plans, this asks with a copy: no rule is applied to a node that was analyzed.
    read = Sessions.analyzed(session, Project(relation.output, copyIn(merge.target, relation)))
    _ <- relationIn(read)
    unchanged = unchangedIn(merge.target).intersect(unchangedIn(read)).intersect(relation.outputSet)
    if unchanged.nonEmpty
  } yield unchanged

  private def copyIn(plan: LogicalPlan, relation: LogicalRelation): LogicalPlan = plan match {
    case alias: SubqueryAlias => alias.copy(child = copyIn(alias.child, relation))
    case Project(_, child) => copyIn(child, relation)
    case _ => relation.copy()
  }
}

object MergePruning {

  /** @param source the columns of the source that may be used */
  def conditionOf(merge: MergeIntoCommand, source: RepeatableColumns): MatchCondition =
    new MatchCondition(merge.condition, merge.target.outputSet, source)

  /** @param pruned the predicates
    * @param text   for the log
    */
  final private case class Pruning(pruned: Seq[Expression], text: String)

  final private case class KeyColumn(column: Expression, path: ColumnPath, isPartition: Boolean)

  /** The table, if a plan returns all its rows, perhaps with other values. */
  @tailrec
  private def relationIn(plan: LogicalPlan): Option[LogicalRelation] = plan match {
    case relation: LogicalRelation => Some(relation)
    case SubqueryAlias(_, child) => relationIn(child)
    case Project(_, child) => relationIn(child)
    case _ => None
  }

  /** The columns that no projection computes, be it under the same id. */
  private def unchangedIn(plan: LogicalPlan): AttributeSet = plan match {
    case relation: LogicalRelation => relation.outputSet
    case SubqueryAlias(_, child) => unchangedIn(child)
    case Project(columns, child) =>
      AttributeSet(columns.collect { case column: Attribute => column })
        .intersect(unchangedIn(child))
    case _ => AttributeSet.empty
  }

  /** @param why for the log */
  private def stopIf(condition: Boolean)(why: => String): Either[String, Unit] =
    Either.cond(!condition, (), why)

  /** A share of the files. Above it, one key skips almost nothing, and many keys skip even less. */
  private val MaxOverlap = 0.9

  private def isTime(dataType: DataType): Boolean =
    dataType == TimestampType || dataType == TimestampNTZType

  /** A column's name as users write it. */
  def nameOf(column: Expression): String = ColumnPath.quoted(namesOf(column))

  private def namesOf(column: Expression): Seq[String] = PredicateReader.path(column).getOrElse(Nil)
}
