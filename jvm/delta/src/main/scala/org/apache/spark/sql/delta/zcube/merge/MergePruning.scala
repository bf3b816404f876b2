package org.apache.spark.sql.delta.zcube.merge

import java.nio.channels.ClosedByInterruptException

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, GetStructField}
import org.apache.spark.sql.catalyst.plans.logical.{Project, SubqueryAlias}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.zcube.table.{PlanningRanges, TableColumns}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types._

import io.zcube.clustering.table.ColumnPath
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.keys._

/** Derives predicates on a MERGE's target from the keys of its source.
  *
  * All predicates are implied by ON, given the source. Delta decides which files they skip, so
  * missing or truncated statistics can't do harm.
  */
final class MergePruning(session: SparkSession, merge: MergeIntoCommand, txn: OptimisticTransaction)
    extends Logging {
  import MergePruning._

  // Users configure the logger by this name, independent of the class name.
  override protected def logName: String = "io.zcube.merge"

  private val conf = session.sessionState.conf
  private val table = merge.catalogTable
    .fold(txn.deltaLog.dataPath.toString)(_.identifier.unquotedString)

  /** Predicates on the target alone; empty if there are none. Runs up to two jobs: over the log's
    * statistics, and over the source's keys.
    */
  def predicates(keys: MergeKeys): Seq[Expression] = {
    val found =
      try find(keys)
      catch {
        // Delta may never reach what fails here. If it does, it reports the failure itself, or
        // recovers, as when its materialized rows are lost. Cancelled statements must end.
        case NonFatal(e) if !isCancelled(e) =>
          logWarning(s"$table: MERGE: the source's keys can't be determined", e)
          Left(e.toString)
      }
    found match {
      case Right(Pruning(pruned, text)) =>
        logInfo(s"$table: MERGE: $text")
        pruned
      case Left(why) =>
        logInfo(s"$table: MERGE: no files pruned by the source's keys: $why")
        Nil
    }
  }

  private def find(keys: MergeKeys): Either[String, Pruning] = {
    val columns = keyColumns
    val pairs = columns.map(_.pair)
    lazy val query = keys.query(pairs)
    lazy val files = TargetFiles.ranges(txn.snapshot, columns.map(_.path))
    lazy val cover = new ValueCover(columns.map(_.path.dataType).toIndexedSeq, files)
    for {
      _ <- unless(columns.isEmpty)("no target column that ON compares has statistics")
      _ <- unless(!OptimisticTransaction.getActive().exists(_ eq txn))("no transaction is active")
      _ <- unless(!keys.isRepeatable)("the source may return different rows when it is read again")
      _ <- unless(txn.snapshot.numOfFiles < 2)("the table has at most one file")
      _ <- unless(!keys.isPinned(query))("the source's version isn't fixed")
      most = conf.getConf(ZCubeConf.MergeIntoMaxSourceBytes)
      bytes = keys.bytes(query)
      _ <- unless(bytes > most)(
        s"the source has $bytes bytes, ${ZCubeConf.MergeIntoMaxSourceBytes.key} is $most")
      _ <- unless(cover.overlap > MostOverlap)(
        s"most files overlap in ${columns.map(_.path.name).mkString(", ")}")
      read <- keys
        .collect(query, pairs, cover, s"$table: MERGE: keys of the source")
        .toRight(NothingSpared)
      boxes = cover.reduce(read, conf.getConf(ZCubeConf.MergeIntoMaxBoxes))
      met = cover.met(boxes)
      _ <- unless(met == files.length)(NothingSpared)
    } yield {
      val parts = Seq(true, false).map(of => columns.indices.filter(columns(_).isPartition == of))
      // Separate predicates: Delta treats a predicate as one on partitions only if it names nothing
      // else.
      val pruned = parts.filter(_.nonEmpty).map { dimensions =>
        BoxPredicate.of(dimensions.map(columns(_).pair.column), dimensions, boxes.toSeq)
      }
      val share = s"$met of ${files.length} files" +
        (if (files.length < txn.snapshot.numOfFiles) " of a sample" else "")
      Pruning(
        pruned,
        s"the source's keys (${columns.map(_.path.name).mkString(", ")}) in ${boxes.length} boxes, " +
          s"which meet $share")
    }
  }

  /** The columns of the target that ON compares with a key, and that have statistics in the log. */
  private def keyColumns: Seq[KeyColumn] =
    EliminateSubqueryAliases(merge.target) match {
      // A view could return other values, or the same under other names.
      case relation: LogicalRelation if isReadAsItIs(relation) =>
        val skips = conf.getConf(DeltaSQLConf.DELTA_STATS_SKIPPING)
        for {
          pair <- conditionOf(merge).pairs
          if pair.column.references.subsetOf(relation.outputSet)
          path <- TableColumns.find(txn.snapshot.schema, namesOf(pair.column), conf.resolver)
          // By the name with which the statement was analyzed; columns may have been renamed since.
          known <- TableColumns
            .find(merge.targetFileIndex.metadata.schema, namesOf(pair.column), conf.resolver)
          if known.physical == path.physical
          if path.dataType == pair.column.dataType
          isPartition = txn.snapshot.metadata.partitionColumns.exists(conf.resolver(_, path.name))
          // For times, the meaning of a folder's name depends on the session's time zone.
          if (if (isPartition) !isTime(path.dataType)
              else skips && PlanningRanges.hasMinima(txn.snapshot, path))
        } yield KeyColumn(pair, path, isPartition)
      case _ => Nil
    }

  /** Whether no extension changes the columns' values on read, for example with a mask. */
  private def isReadAsItIs(relation: LogicalRelation): Boolean =
    !session.sessionState.executePlan(Project(relation.output, relation)).analyzed.exists {
      case _: LogicalRelation | _: SubqueryAlias => false
      case Project(columns, _) => !columns.forall(_.isInstanceOf[Attribute])
      case _ => true
    }
}

object MergePruning {

  def conditionOf(merge: MergeIntoCommand): MatchCondition =
    new MatchCondition(merge.condition, merge.target.outputSet, merge.source.outputSet)

  /** @param pruned the predicates
    * @param text   for the log
    */
  final private case class Pruning(pruned: Seq[Expression], text: String)

  final private case class KeyColumn(pair: KeyPair, path: ColumnPath, isPartition: Boolean)

  private def unless(reason: Boolean)(text: => String): Either[String, Unit] =
    Either.cond(!reason, (), text)

  private val NothingSpared = "nearly all files may hold some"

  /** A share of the files. Above it, one key skips almost nothing, and many keys skip even less. */
  private val MostOverlap = 0.9

  private def isTime(dataType: DataType): Boolean =
    dataType == TimestampType || dataType == TimestampNTZType

  private def namesOf(column: Expression): Seq[String] = column match {
    case field: GetStructField => namesOf(field.child) :+ field.extractFieldName
    case attribute: Attribute => Seq(attribute.name)
    case _ => Nil
  }

  /** Whether the statement or its jobs were cancelled. */
  @tailrec
  def isCancelled(e: Throwable): Boolean = e match {
    case null => Thread.currentThread.isInterrupted
    case _: InterruptedException | _: ClosedByInterruptException => true
    case of: SparkThrowable if Cancellations.contains(of.getCondition) => true
    case other => isCancelled(other.getCause)
  }

  private val Cancellations = Set("SPARK_JOB_CANCELLED", "OPERATION_CANCELED")
}
