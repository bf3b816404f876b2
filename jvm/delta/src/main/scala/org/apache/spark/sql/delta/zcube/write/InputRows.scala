package org.apache.spark.sql.delta.zcube.write

import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.sql.delta.{DeltaColumnMapping, DeltaParquetFileFormat, RowTracking, Snapshot}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.run.LayoutSession
import io.zcube.clustering.table.FileScan
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.expressions.GroupOfFile
import io.zcube.sql.sampling.PathBelow

/** The rows of files of a Delta table, with their row ids. */
object InputRows {

  /** @param session a clone of the user's session ([[LayoutSession]]), active
    * @param table   its name, for errors
    * @param groups groups of files; if there is more than one, each row has its group's number
    */
  def of(
      session: SparkSession,
      table: String,
      snapshot: Snapshot,
      groups: Seq[Seq[AddFile]]): FileScan = {
    rejectReservedColumns(table, snapshot)
    val relation = relationOf(snapshot, groups.flatten)
    val numbers = Option.when(groups.size > 1)(numbersOf(snapshot, groups))
    val bare = withPlace(session, relation, snapshot.deltaLog.dataPath, numbers)
    val scan = Sessions.rowsOf(session, bare)
    val isCounted = groups.forall(_.forall(_.numLogicalRecords.isDefined))
    UnchangedScan.require(table, scan, relation, bare, isCounted)
    val rows = RowTracking.preserveRowTrackingColumns(scan, snapshot).asInstanceOf[DataFrame]
    val plan = rows.queryExecution.analyzed
    val width = relation.output.size
    FileScan(
      plan,
      plan.output.take(width),
      plan.output.slice(width, width + 2),
      numbers.map(_ => plan.output(width + 2)))
  }

  /** By paths as reported by scans, which Delta's own writes with deletion vectors use too. */
  private def numbersOf(snapshot: Snapshot, groups: Seq[Seq[AddFile]]): GroupOfFile.Groups = {
    val table = snapshot.deltaLog.dataPath.toString
    new GroupOfFile.Groups((for {
      (files, number) <- groups.zipWithIndex
      file <- files
      path = DeltaFileOperations.absolutePath(table, file.path)
      // Spark's canonical form: `file:///a` and `file:/a` are the same.
    } yield SparkPath.fromPath(new Path(path.toString)).urlEncoded -> number).toMap)
  }

  /** Delta's own relation, before any rule of the session has changed it. */
  private def relationOf(snapshot: Snapshot, files: Seq[AddFile]): LogicalRelation =
    snapshot.deltaLog
      .createDataFrame(snapshot, files, actionTypeOpt = Some("Optimize"))
      .asInstanceOf[DataFrame].queryExecution.logical match {
      case logical: LogicalRelation => logical.relation match {
          case source: HadoopFsRelation =>
            val options = source.options.filterNot { case (key, _) =>
              LayoutSession.LenientOptions.exists(_.equalsIgnoreCase(key))
            }
            logical.copy(relation = source.copy(options = options)(source.sparkSession))
          case other => throw ZCubeErrors.internal(s"a scan of ${other.getClass.getName}")
        }
      case other => throw ZCubeErrors.internal(s"a scan that is ${other.nodeName}")
    }

  private def withPlace(
      session: SparkSession,
      relation: LogicalRelation,
      table: Path,
      groups: Option[GroupOfFile.Groups]): LogicalPlan = {
    val (source, readersRowIndex) =
      if (fieldNames(relation.metadataOutput).contains(ParquetFileFormat.ROW_INDEX))
        (relation, None)
      else withReadersRowIndex(relation)
    // Each copy of a relation has its own metadata column.
    val metadata = source.metadataOutput
    def field(name: String): Expression = metadata
      .find(a => fieldNames(Seq(a)).contains(name))
      .map(ExtractValue(_, Literal(name), session.sessionState.conf.resolver))
      .getOrElse(throw ZCubeErrors.internal(s"a scan without $name"))
    val rowIndex = readersRowIndex.getOrElse(field(ParquetFileFormat.ROW_INDEX))
    Project(
      relation.output ++ Seq(
        Alias(PathBelow.all(field("file_path"), Seq(table)), "file")(),
        Alias(rowIndex, "row_index")()) ++
        groups.map(numbers => Alias(GroupOfFile(field("file_path"), numbers), "group")()),
      source.withMetadataColumns()
    )
  }

  private def fieldNames(metadata: Seq[Attribute]): Seq[String] =
    metadata.map(_.dataType).collect { case struct: StructType => struct.fieldNames }.flatten

  /** Delta hides `row_index` unless the table has row tracking or deletion vectors. Spark's Parquet
    * reader nevertheless fills the column if it is requested by Spark's internal name.
    */
  private def withReadersRowIndex(
      relation: LogicalRelation): (LogicalRelation, Option[Attribute]) =
    relation.relation match {
      case files: HadoopFsRelation =>
        val name = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME
        val rowIndex = AttributeReference(name, LongType)()
        val widened =
          files.copy(dataSchema = files.dataSchema.add(name, LongType))(files.sparkSession)
        (relation.copy(relation = widened, output = relation.output :+ rowIndex), Some(rowIndex))
      case other => throw ZCubeErrors.internal(s"a scan of ${other.getClass.getName}")
    }

  /** Spark's reader puts its own numbers into columns with these names, whatever the file contains.
    */
  private def rejectReservedColumns(table: String, snapshot: Snapshot): Unit =
    snapshot.schema.foreach { field =>
      val names = Seq(field.name, DeltaColumnMapping.getPhysicalName(field))
      names.find(Reserved).foreach { reserved =>
        throw ZCubeErrors.reservedColumn(table, field.name, reserved)
      }
    }

  private val Reserved = Set(
    ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME,
    DeltaParquetFileFormat.ROW_INDEX_COLUMN_NAME,
    DeltaParquetFileFormat.IS_ROW_DELETED_COLUMN_NAME)
}
