package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Contains, Literal, Lower}
import org.apache.spark.sql.classic.ExpressionUtils.{column, expression}
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.stats.DeltaStatistics.{MAX, MIN}
import org.apache.spark.sql.delta.zcube.table.{LoggedFileStatistics, StatisticsColumns}
import org.apache.spark.sql.functions.{col, from_json, lit}

import io.zcube.clustering.table.{ColumnPath, FileStatistics}
import io.zcube.sql.keys.ValueBox

/** The ranges of a table's files in some columns. They only guide how keys are grouped into boxes.
  */
object TargetFiles {

  /** The ranges of all files, or of about [[MaxFiles]] of them. */
  def ranges(snapshot: Snapshot, columns: Seq[ColumnPath]): Array[ValueBox] = {
    val statistics =
      if (snapshot.numOfFiles <= MaxFiles) {
        LoggedFileStatistics.of(snapshot, columns, withPaths = false)
      } else {
        LoggedFileStatistics.ofSample(snapshot, columns, MaxFiles.toDouble / snapshot.numOfFiles)
      }
    statistics.rows.map { row =>
      def bounds(which: Int) = Array.tabulate[Any](columns.size) { i =>
        val at = FileStatistics.placeOf(i) + which
        val dataType = columns(i).dataType
        if (row.isNullAt(at)) null else row.get(at, dataType)
      }
      new ValueBox(bounds(0), bounds(1))
    }
  }

  /** Whether all partition values are of their column's type. Delta reads others as NULL, such as the
    * empty text, but under ANSI it fails if it has to compare them.
    */
  def haveValidPartitions(snapshot: Snapshot, columns: Seq[ColumnPath]): Boolean = {
    val invalid = columns.map { column =>
      val text = col("partitionValues")(lit(column.physical.head))
      text.isNotNull && text.try_cast(column.dataType).isNull
    }
    invalid.reduceOption(_ || _).forall(snapshot.allFiles.toDF().where(_).isEmpty)
  }

  /** Whether no minimum or maximum has the character that stands for bytes that aren't UTF-8. Such
    * bounds may be on the wrong side of the texts in the file.
    */
  def haveTrueTexts(snapshot: Snapshot, column: ColumnPath): Boolean = {
    val json = col("stats")
    // The statistics of few files, if any, need to be parsed.
    val some = snapshot.allFiles.toDF()
      .where(contains(json, Replacement) || contains(lower(json), Escaped))
      .withColumn("stats", from_json(json, snapshot.statsSchema))
    val replaced = Seq(MIN, MAX).map { kind =>
      contains(StatisticsColumns.of(snapshot.statsSchema, kind +: column.physical), Replacement)
    }
    some.where(replaced.reduce(_ || _)).isEmpty
  }

  // Not by name: a session might have other functions.
  private def lower(text: Column) = column(Lower(expression(text)))

  private def contains(text: Column, part: String) =
    column(Contains(expression(text), Literal(part)))

  private val Replacement = "\uFFFD"

  /** As JSON may spell it. */
  private val Escaped = "\\ufffd"

  private val MaxFiles = 4096
}
