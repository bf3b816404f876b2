package org.apache.spark.sql.delta.zcube.write

import org.apache.hadoop.fs.Path
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project, SubqueryAlias}
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
    rejectChanges(scan, relation, bare, table, isCounted)
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

  /** A row filter or a mask that an extension adds to each scan would become permanent. This
    * detects what the analyzer adds, and relations that are read in another way. The log's counts
    * detect later filters ([[GroupSampler]]); for files without counts the optimizer's plan shows
    * them.
    *
    * @param bare      the plan before any rule of the session has changed it
    * @param isCounted whether the log has the number of rows of each file
    */
  private def rejectChanges(
      scan: DataFrame,
      relation: LogicalRelation,
      bare: LogicalPlan,
      table: String,
      isCounted: Boolean): Unit = {
    val ours = bare.collectFirst { case FilesOf(files) => files }
    def asStored(column: Expression): Boolean = column match {
      case _: Attribute => true
      case Alias(_: Attribute, _) => true
      case _ => false
    }
    def inAnalysis = scan.queryExecution.analyzed match {
      case plan @ Project(_, child) if holdsAllOf(relation, plan) =>
        child.find {
          case Project(inner, _) => !inner.forall(asStored)
          case _: SubqueryAlias => false
          case FilesOf(files) => !ours.exists(isSame(files, _))
          case _ => true
        }
      case other => Some(other)
    }
    def later = scan.queryExecution.optimizedPlan.find {
      case FilesOf(files) => !ours.exists(isReadAlike(files, _))
      case _: LeafNode => true
      case node => !isCounted && !node.isInstanceOf[Project]
    }
    inAnalysis.orElse(later).foreach { node =>
      val what = node.simpleString(SimpleStringFields).linesIterator.next()
      throw ZCubeErrors.scanChanged(table, what)
    }
  }

  private object FilesOf {
    def unapply(leaf: LogicalRelation): Option[HadoopFsRelation] =
      Some(leaf.relation).collect { case files: HadoopFsRelation => files }
  }

  /** A relation of other files, or with another index of these, may have other rows. A relation of
    * the same files in another format may have other values, or rows that are deleted.
    */
  private def isSame(scanned: HadoopFsRelation, ours: HadoopFsRelation): Boolean =
    isReadAlike(scanned, ours) && (scanned.fileFormat eq ours.fileFormat) &&
      scanned.dataSchema == ours.dataSchema && scanned.partitionSchema == ours.partitionSchema

  /** Spark prunes schemas, and Delta's optimizer rules copy the format of tables with deletion
    * vectors, so these need not be the same.
    */
  private def isReadAlike(scanned: HadoopFsRelation, ours: HadoopFsRelation): Boolean = {
    def readBy(files: HadoopFsRelation) = files.fileFormat match {
      case delta: DeltaParquetFileFormat => (delta.getClass, Some((delta.protocol, delta.metadata)))
      case other => (other.getClass, None)
    }
    (scanned.location eq ours.location) && scanned.options == ours.options &&
    readBy(scanned) == readBy(ours)
  }

  /** Whether the first columns of a plan are the relation's, each with its own values. A mask may be
    * another column of the table under this column's name.
    */
  private def holdsAllOf(relation: LogicalRelation, plan: LogicalPlan): Boolean = {
    val sources = sourcesOf(plan)
    val columns = plan.output.take(relation.output.size)
    columns.size == relation.output.size && columns.zip(relation.output).forall {
      case (column, stored) => sources.get(column.exprId).contains(stored.name)
    }
  }

  /** For each column that is nothing but a stored column: the stored column's name. */
  private def sourcesOf(plan: LogicalPlan): Map[ExprId, String] = plan match {
    case relation: LogicalRelation => relation.output.map(a => a.exprId -> a.name).toMap
    case SubqueryAlias(_, child) => sourcesOf(child)
    case Project(columns, child) =>
      val sources = sourcesOf(child)
      columns.flatMap {
        case column: Attribute => sources.get(column.exprId).map(column.exprId -> _)
        case named @ Alias(column: Attribute, _) =>
          sources.get(column.exprId).map(named.exprId -> _)
        case _ => None
      }.toMap
    case _ => Map.empty
  }

  private val SimpleStringFields = 25

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
