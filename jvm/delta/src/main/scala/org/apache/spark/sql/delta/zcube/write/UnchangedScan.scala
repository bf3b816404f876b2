package org.apache.spark.sql.delta.zcube.write

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.delta.DeltaParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

import io.zcube.sql.errors.ZCubeErrors

/** Whether a scan has the stored rows. A row filter or a mask that an extension adds to each scan would
  * become permanent. What the analyzer adds is seen here, and relations that are read in another way. The
  * log's counts tell later filters ([[io.zcube.clustering.run.GroupSampler]]); for files without counts the
  * optimizer's plan shows them.
  */
private[write] object UnchangedScan {

  /** Throws ZCUBE_SCAN_CHANGED if anything has changed it.
    *
    * @param table     its name, for the error
    * @param relation  the files
    * @param bare      the plan before any rule of the session has changed it
    * @param isCounted whether the log has the number of rows of each file
    */
  def require(
      table: String,
      scan: DataFrame,
      relation: LogicalRelation,
      bare: LogicalPlan,
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
}
