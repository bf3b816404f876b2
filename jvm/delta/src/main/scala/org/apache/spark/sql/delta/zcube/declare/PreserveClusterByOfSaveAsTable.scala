package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException, ResolvedIdentifier}
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, ReplaceTableAsSelect}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.connector.expressions.FieldReference
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.schema.SchemaUtils.DELTA_COL_RESOLVER
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.SkippingEligibleDataType
import org.apache.spark.sql.delta.{ColumnWithDefaultExprUtils, DeltaOptions, GeneratedColumn, Snapshot}
import org.apache.spark.sql.types.{NullType, StructField, StructType}
import org.apache.spark.sql.{AnalysisException, SparkSession}

import io.zcube.sql.rules.SwitchableRule

/** `df.write.mode("overwrite").saveAsTable` without `clusterBy` keeps the table's clustering
  * columns, which Delta 4.4.0 loses: Spark plans it as a REPLACE TABLE, although it overwrites the
  * table.
  */
case class PreserveClusterByOfSaveAsTable(session: SparkSession) extends SwitchableRule {
  import PreserveClusterByOfSaveAsTable._

  override protected def rewrite(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case replace: ReplaceTableAsSelect
        if mayKeep(replace) && CreatesDelta(replace, sessionConf) =>
      keeping(replace).getOrElse(replace)
  }

  private def mayKeep(replace: ReplaceTableAsSelect): Boolean =
    replace.partitioning.isEmpty && replace.query.resolved &&
      replace.getTagValue(NothingToKeep).isEmpty && savesAsTable(replace)

  private def keeping(replace: ReplaceTableAsSelect): Option[LogicalPlan] =
    replace.name match {
      case ResolvedIdentifier(catalog: TableCatalog, identifier) =>
        val existing =
          try Some(catalog.loadTable(identifier))
          // Any other failure must not look like a table without columns.
          catch { case _: NoSuchTableException | _: NoSuchNamespaceException => None }
        // Wrong ones are Delta's error, unless there is a table.
        lazy val options = new DeltaOptions(replace.writeOptions, sessionConf)
        val kept = existing
          .collect { case table: DeltaTableV2 => table }
          // What replaces a part doesn't change the columns.
          .filterNot(_ => options.isInsertAtomicReplaceOp)
          .flatMap { table =>
            val snapshot = table.initialSnapshot
            val rows =
              if (options.canOverwriteSchema) replace.query else withNulls(snapshot, replace.query)
            val schema = Option.when(options.canOverwriteSchema)(rows.schema.asNullable)
            val limit = sessionConf.getConf(DeltaSQLConf.DELTA_NUM_CLUSTERING_COLUMNS_LIMIT)
            keptBy(snapshot, rows.schema).filterNot { columns =>
              columns.columns.size > limit || PreservedColumns.lackStatistics(
                snapshot.protocol,
                schema.fold(snapshot.metadata)(withSchema(snapshot.metadata, _)),
                columns.columns)
            }.map { columns =>
              replace.copy(partitioning = Seq(columns), query = rows)
            }
          }
        // Else the table would be loaded once more, to find that the plan has stopped changing.
        if (kept.isEmpty) replace.setTagValue(NothingToKeep, ())
        kept
      case _ => None
    }
}

object PreserveClusterByOfSaveAsTable {

  private val NothingToKeep = TreeNodeTag[Unit]("zcube_nothing_to_keep")

  /** None if the table has no clustering columns, or if the new rows lack one of them or have it
    * with a type that can't be clustered by: then Delta's behaviour applies.
    */
  private def keptBy(snapshot: Snapshot, schema: StructType): Option[PreservedClusterBy] = {
    val columns = PreservedColumns.of(snapshot)
    def find(name: String) =
      try
        schema.findNestedField(FieldReference(name).fieldNames.toSeq, resolver = DELTA_COL_RESOLVER)
      // Of two columns of a name. Spark rejects them with an error of its own.
      catch { case _: AnalysisException => None }
    val inRows = columns.flatMap(find(_).collect {
      case (parents, field) if SkippingEligibleDataType(field.dataType) => parents :+ field.name
    })
    Option.when(columns.nonEmpty && inRows.size == columns.size)(
      PreservedClusterBy(columns, inRows))
  }

  private def withSchema(metadata: Metadata, schema: StructType): Metadata = metadata.copy(
    schemaString = schema.json,
    configuration = PreservedColumns.unmapped(metadata.configuration))

  /** The rows with a NULL of the right type for each clustering column that is missing, or that is
    * an untyped NULL, which the table will get anyway. Delta looks for the columns in the rows,
    * even if the schema stays. If Delta would insert something other than NULL, or reject the rows,
    * they are not changed.
    */
  private def withNulls(snapshot: Snapshot, rows: LogicalPlan): LogicalPlan = {
    val wanted = PreservedColumns.of(snapshot).map(FieldReference(_).fieldNames.head)
    def inRows(field: StructField) =
      rows.output.filter(column => DELTA_COL_RESOLVER(field.name, column.name))
    val open = snapshot.schema.filter { field =>
      wanted.exists(DELTA_COL_RESOLVER(field.name, _)) &&
      inRows(field).forall(_.dataType == NullType) &&
      field.nullable &&
      !ColumnWithDefaultExprUtils
        .columnHasDefaultExpr(snapshot.protocol, field, nullAsDefault = false)
    }
    // Delta rejects rows without a column that others are generated from.
    if (open.isEmpty || areGeneratedFrom(snapshot.schema, open)) rows
    else {
      def ofNulls(field: StructField, name: String) = Alias(Literal(null, field.dataType), name)()
      val present = rows.output.map { column =>
        open.find(inRows(_).contains(column)).fold[NamedExpression](column)(ofNulls(_, column.name))
      }
      val missing = open.filter(inRows(_).isEmpty).map(field => ofNulls(field, field.name))
      Project(present ++ missing, rows)
    }
  }

  private def areGeneratedFrom(schema: StructType, columns: Seq[StructField]): Boolean =
    GeneratedColumn.hasGeneratedColumns(schema) &&
      GeneratedColumn.getGeneratedColumnsAndColumnsUsedByGeneratedColumns(schema)
        .exists(name => columns.exists(column => DELTA_COL_RESOLVER(column.name, name)))

  /** Spark's marker (since 4.1) for `df.write.mode("overwrite").saveAsTable`, which overwrites a
    * table and doesn't replace it.
    */
  private val SavesAsTable = "__v1_save_as_table_overwrite"

  private def savesAsTable(replace: ReplaceTableAsSelect): Boolean =
    replace.writeOptions.contains(SavesAsTable) ||
      // Spark 4.0 has no marker. Delta's code for it inspects the call stack too.
      SPARK_VERSION.startsWith("4.0.") && Thread.currentThread.getStackTrace.exists(call =>
        call.getClassName.endsWith("DataFrameWriter") && call.getMethodName == "saveAsTable")
}
