package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, GetStructField, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.MetadataColumnHelper
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType

/** A scan of files, perhaps with filters and projections, with two more columns: the path of each
  * row's file below the scan's folders, and the row's position in it.
  */
final private[sql] case class PositionedScan(plan: LogicalPlan, position: Seq[NamedExpression])

private[sql] object PositionedScan {

  /** None if the rows aren't unchanged rows of files, or the file format doesn't number them. */
  def of(plan: LogicalPlan): Option[PositionedScan] = plan match {
    case Project(list, child) if list.forall(_.deterministic) =>
      of(child).map(scan => scan.copy(plan = Project(list ++ scan.position, scan.plan)))
    case Filter(condition, child) if condition.deterministic =>
      of(child).map(scan => scan.copy(plan = Filter(condition, scan.plan)))
    // A sample isn't observed.
    case observed: CollectMetrics => of(observed.child)
    case relation: LogicalRelation => ofRelation(relation)
    case _ => None
  }

  private def ofRelation(relation: LogicalRelation): Option[PositionedScan] =
    relation.relation match {
      case files: HadoopFsRelation if files.fileFormat.getClass == classOf[ParquetFileFormat] =>
        relation.withMetadataColumns() match {
          case wide: LogicalRelation =>
            for {
              path <- wide.output.flatMap(field(_, "file_path")).headOption
              index <- wide.output.flatMap(field(_, ParquetFileFormat.ROW_INDEX)).headOption
            } yield {
              val named = Seq(
                Alias(PathBelow.all(path, files.location.rootPaths), "__zcube_file")(),
                Alias(index, "__zcube_row_index")())
              PositionedScan(Project(relation.output ++ named, wide), named.map(_.toAttribute))
            }
          case _ => None
        }
      case _ => None
    }

  private def field(attribute: Attribute, name: String): Option[Expression] =
    attribute.dataType match {
      case fields: StructType if attribute.isMetadataCol && fields.fieldNames.contains(name) =>
        Some(GetStructField(attribute, fields.fieldIndex(name), Some(name)))
      case _ => None
    }
}
