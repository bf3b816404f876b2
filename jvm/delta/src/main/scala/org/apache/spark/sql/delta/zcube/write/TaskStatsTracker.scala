package org.apache.spark.sql.delta.zcube.write

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.delta.stats.{DeltaFileStatistics, DeltaTaskStatisticsTracker}
import org.apache.spark.sql.execution.datasources.WriteTaskStatsTracker
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types.{DateType, LongType, TimestampType}

/** Collects the statistics of the files that a task writes: the same as Delta's tracker, with the
  * same expression, but with less work per row.
  *
  * Delta updates its aggregates with one projection over all of them, which copies each column's
  * current strings for each row: a fifth of OPTIMIZE's CPU time. Here [[ColumnStats]] keeps `min`,
  * `max` and counts for columns of the usual types; everything else is left to Delta's tracker.
  *
  * @param columns    of the rows
  * @param statistics Delta's expression: aggregates of columns → JSON
  */
final class TaskStatsTracker(
    columns: Seq[Attribute],
    statistics: Expression,
    root: Path,
    conf: Configuration)
    extends WriteTaskStatsTracker {
  import TaskStatsTracker._

  private val (ours, others) = statistics
    .collect { case aggregate: AggregateExpression => aggregate }
    .distinct
    .partitionMap(a => figureOf(a.aggregateFunction).map(a -> _).toLeft(a))

  // Delta's tracker over a struct of the others; only its aggregation buffer is used.
  private val rest =
    Option.when(others.nonEmpty)(new Rest(columns, CreateStruct.create(others), root, conf))

  private val figures = ours.map(_._2)
  private val results = ours.map { case (a, _) => AttributeReference("figure", a.dataType)() }

  /** Such sessions read other times and dates from the statistics than others do. */
  private val isLegacy = SQLConf.get.legacyTimeParserPolicy == LegacyBehaviorPolicy.LEGACY

  private val toJson = {
    val resultOf = ours.map(_._1.resultId).zip(results).toMap
    val evaluated = statistics.transform { case aggregate: AggregateExpression =>
      val result = resultOf.getOrElse(
        aggregate.resultId,
        aggregate.aggregateFunction.asInstanceOf[DeclarativeAggregate].evaluateExpression)
      aggregate.aggregateFunction match {
        case _: Min | _: Max if isLegacy => unlessAmbiguous(result)
        case _ => result
      }
    }
    UnsafeProjection.create(Seq(evaluated), results ++ rest.toSeq.flatMap(_.bufferAttributes))
  }

  private val open = mutable.HashMap[String, OpenFile]()
  private val closed = mutable.HashMap[String, String]()
  // Rows arrive file by file.
  private var lastPath: String = _
  private var lastFile: OpenFile = _

  private def figureOf(function: AggregateFunction): Option[Figure] = {
    def ordinalOf(child: Expression): Option[Int] = child match {
      case a: Attribute if ColumnStats.supports(a.dataType) =>
        Option(columns.indexWhere(_.exprId == a.exprId)).filter(_ >= 0)
      case _ => None
    }
    function match {
      case Min(child) => ordinalOf(child).map(OfColumn(_, _.min))
      case Max(child) => ordinalOf(child).map(OfColumn(_, _.max))
      case Count(Seq(Literal(value, _))) if value != null => Some(Rows)
      case sum: Sum =>
        sum.child match {
          case CaseWhen(Seq((IsNull(child), Literal(1, _))), Some(Literal(0, _)))
              if sum.dataType == LongType =>
            ordinalOf(child).map(OfColumn(_, _.nulls))
          case _ => None
        }
      case _ => None
    }
  }

  private val ordinals = figures.collect { case OfColumn(ordinal, _) => ordinal }.distinct.toArray

  override def newPartition(partitionValues: InternalRow): Unit = ()

  override def newFile(path: String): Unit = {
    open.getOrElseUpdate(path, new OpenFile): Unit
    rest.foreach(_.newFile(path))
  }

  override def newRow(path: String, row: InternalRow): Unit = {
    if (path ne lastPath) {
      lastPath = path
      lastFile = open(path)
    }
    lastFile.add(row)
    if (rest.isDefined) rest.get.newRow(path, row)
  }

  override def closeFile(path: String): Unit = {
    val name = new Path(path).getName
    assert(!closed.contains(name), s"The statistics of $path already exist.")
    val figures = open.remove(path).get.row
    val all = rest.fold(figures)(r => new JoinedRow(figures, r.take(path)))
    lastPath = null
    closed(name) = SQLConf.withExistingConf(ofJson)(toJson(all).getString(0))
  }

  override def getFinalStats(taskCommitTime: Long): DeltaFileStatistics = {
    open.keys.toSeq.foreach(closeFile)
    DeltaFileStatistics(closed.toMap)
  }

  final private class OpenFile {
    private val ofColumns =
      ordinals.map(ordinal => ColumnStats.of(columns(ordinal).dataType, ordinal))
    private val byOrdinal = ordinals.zip(ofColumns).toMap
    private var rows = 0L

    def add(row: InternalRow): Unit = {
      rows += 1
      var i = 0
      while (i < ofColumns.length) {
        ofColumns(i).add(row)
        i += 1
      }
    }

    def row: InternalRow = InternalRow.fromSeq(figures.map {
      case Rows => rows
      case OfColumn(ordinal, value) => value(byOrdinal(ordinal))
    })
  }
}

object TaskStatsTracker {

  /** A minimum or maximum; NULL if sessions under spark.sql.legacy.timeParserPolicy = LEGACY read
    * another from the log.
    *
    * They read with Java's old classes, which don't know seconds of offsets, which the last time zone
    * had until 1972; earlier offsets differ by up to a day and more; and of the ten days that the
    * calendar lacks in 1582 they make others. A bound moved away from the values would hide no rows,
    * but other readers take bounds for values: they answer MIN and MAX by them.
    */
  private def unlessAmbiguous(bound: Expression): Expression = {
    def literal(value: Any) = Literal(value, bound.dataType)
    val ambiguous = bound.dataType match {
      case TimestampType => LessThan(bound, literal(StartOf1973))
      case DateType =>
        And(
          GreaterThanOrEqual(bound, literal(FirstMissingDay)),
          LessThan(bound, literal(FirstGregorianDay)))
      case _ => Literal.FalseLiteral
    }
    If(ambiguous, literal(null), bound)
  }

  /** In microseconds since 1970. */
  private val StartOf1973 = 94694400000000L

  /** 1582-10-15, in days since 1970, and 1582-10-05. */
  private val FirstGregorianDay = -141427
  private val FirstMissingDay = FirstGregorianDay - 10

  /** The format in which all sessions read statistics, whatever this session's is: the text of times
    * has its offset with seconds, which time zones had until 1972.
    */
  private val ofJson = {
    val conf = new SQLConf
    conf.setConfString(
      SQLConf.LEGACY_TIME_PARSER_POLICY.key,
      LegacyBehaviorPolicy.CORRECTED.toString)
    conf
  }

  /** What an aggregate computes. */
  sealed private trait Figure
  private case object Rows extends Figure
  private case class OfColumn(ordinal: Int, value: ColumnStats => Any) extends Figure

  final private class Rest(
      columns: Seq[Attribute],
      aggregates: Expression,
      root: Path,
      conf: Configuration)
      extends DeltaTaskStatisticsTracker(columns, aggregates, root, conf) {

    def bufferAttributes: Seq[Attribute] = aggBufferAttrs

    def take(path: String): InternalRow = submittedFiles.remove(path).get
  }
}
