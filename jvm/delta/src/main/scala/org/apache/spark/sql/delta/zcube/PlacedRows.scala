package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Expression, ExtractValue, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.{RowTracking, Snapshot}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{LongType, StructType}

/** The rows of some files, with their row ids, and with each row's file and place in it. */
object PlacedRows {

  /** Names of the two added columns. */
  val FileName = "__zcube_file_name"
  val RowIndex = "__zcube_row_index"

  def of(session: SparkSession, snapshot: Snapshot, files: Seq[AddFile]): DataFrame = {
    val scan = snapshot.deltaLog
      .createDataFrame(snapshot, files, actionTypeOpt = Some("Optimize"))
      .asInstanceOf[DataFrame]
    val placed = Dataset.ofRows(session, withPlace(session, scan.queryExecution.analyzed))
    RowTracking.preserveRowTrackingColumns(placed, snapshot).asInstanceOf[DataFrame]
  }

  private def withPlace(session: SparkSession, scan: LogicalPlan): LogicalPlan = {
    val known = fieldsOf(scan).contains(ParquetFileFormat.ROW_INDEX)
    val (source, readersRowIndex) = if (known) (scan, None) else withReadersRowIndex(scan)
    val metadata = metadataOf(source)
    def field(name: String): Expression =
      ExtractValue(metadata, Literal(name), session.sessionState.conf.resolver)
    val rowIndex = readersRowIndex.getOrElse(field(ParquetFileFormat.ROW_INDEX))
    Project(
      scan.output ++ Seq(Alias(field("file_name"), FileName)(), Alias(rowIndex, RowIndex)()),
      source)
  }

  /** Delta hides `row_index` unless the table has row tracking or deletion vectors. Spark's Parquet
    * reader fills the column all the same if it is asked for by the name that Spark itself uses.
    */
  private def withReadersRowIndex(scan: LogicalPlan): (LogicalPlan, Option[Attribute]) =
    scan match {
      case relation: LogicalRelation =>
        val files = relation.relation.asInstanceOf[HadoopFsRelation]
        val name = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME
        val rowIndex = AttributeReference(name, LongType)()
        val widened =
          files.copy(dataSchema = files.dataSchema.add(name, LongType))(files.sparkSession)
        (relation.copy(relation = widened, output = relation.output :+ rowIndex), Some(rowIndex))
      case other => throw new IllegalStateException(s"Delta's scan is no relation: $other")
    }

  private def metadataOf(scan: LogicalPlan): Attribute = scan.metadataOutput
    .find(a => structFields(a).contains("file_name"))
    .getOrElse(throw new IllegalStateException(s"Delta's scan has no file metadata: $scan"))

  private def fieldsOf(scan: LogicalPlan): Seq[String] = structFields(metadataOf(scan))

  private def structFields(attribute: Attribute): Seq[String] = attribute.dataType match {
    case struct: StructType => struct.fieldNames.toSeq
    case _ => Nil
  }
}
