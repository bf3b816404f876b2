package org.apache.spark.sql.delta.zcube.declare

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{ResolvedIdentifier, ResolvedTable}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.delta.catalog.{AbstractDeltaCatalog, DeltaTableV2}
import org.apache.spark.sql.delta.commands.CreateDeltaTableCommand
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.skipping.clustering.temp.ClusterBySpec
import org.apache.spark.sql.delta.sources.DeltaSourceUtils
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog, NoMapping, Snapshot}
import org.apache.spark.sql.execution.command.CreateTableLikeCommand

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.parser.DelegatingParser
import io.zcube.sql.rules.SwitchableRule

/** `CREATE TABLE b LIKE a` keeps a's clustering columns, which Delta 4.4.0 loses. Delta's command
  * no longer knows the source, so the source is stored in a tag on the statement before anything is
  * resolved; tags survive the rules that replace a plan's node.
  */
object PreserveClusterByLike {

  private val Source = TreeNodeTag[Seq[String]]("zcube_like_source")

  private def note(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case like: CreateTableLikeCommand => like.setTagValue(Source, like.sourceTable.nameParts)
      case _ =>
    }
    plan
  }

  /** Runs with the hint rules, which come first. It also sees statements that don't come directly
    * from a parser, such as those of EXECUTE IMMEDIATE.
    */
  case class Note(session: SparkSession) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = note(plan)
  }

  /** On Spark 4.1 and older, a session with Hive's catalog has no hint rules of extensions. */
  final class NotingParser(delegate: ParserInterface) extends DelegatingParser(delegate) {
    override protected def takeOver(
        sqlText: String,
        parseWhole: (ParserInterface, String) => LogicalPlan): Option[LogicalPlan] =
      Some(note(parseWhole(delegate, sqlText)))
  }

  /** Passes the columns to Delta's command; since Spark 4.2, to the statement itself, which goes to
    * Delta's catalog.
    */
  case class Keep(session: SparkSession) extends SwitchableRule {
    override protected def rewrite(plan: LogicalPlan): LogicalPlan = plan match {
      case create: CreateDeltaTableCommand =>
        val table = create.table
        create.getTagValue(Source).map(properties(_, table.properties)).filter(_.nonEmpty) match {
          case Some(more) => create.copy(table = table.copy(properties = table.properties ++ more))
          case None => create
        }
      // By name, because older Spark lines lack this class.
      case like if like.nodeName == "CreateTableLike" && like.resolved && isForDelta(like) =>
        like.children.collectFirst { case ResolvedTable(_, _, source: DeltaTableV2, _) =>
          source
        } match {
          case Some(source) =>
            withProperties(like, clustering(source.initialSnapshot, propertiesOf(like)))
          case None => like
        }
      case other => other
    }

    /** Other catalogs would take the columns for a property of the table. */
    private def isForDelta(like: LogicalPlan): Boolean = like.children.exists {
      case ResolvedIdentifier(_: AbstractDeltaCatalog, _) => true
      case _ => false
    }

    private def propertiesOf(like: LogicalPlan): Map[String, String] =
      like.productIterator.collectFirst { case properties: Map[_, _] =>
        properties.asInstanceOf[Map[String, String]]
      }.getOrElse(Map.empty)

    private def withProperties(like: LogicalPlan, more: Map[String, String]): LogicalPlan =
      like.makeCopy(like.productIterator.map {
        case _: Map[_, _] => propertiesOf(like) ++ more
        case other => other.asInstanceOf[AnyRef]
      }.toArray)

    private def properties(source: Seq[String], own: Map[String, String]): Map[String, String] =
      source.takeRight(2) match {
        case parts if source.length <= 3 && parts.nonEmpty =>
          val table = session.sessionState.catalog.getTempViewOrPermanentTableMetadata(
            TableIdentifier(parts.last, parts.dropRight(1).headOption))
          val columns =
            if (table.provider.exists(DeltaSourceUtils.isDeltaDataSourceName)) {
              clustering(DeltaLog.forTable(session, table).update(), own)
            } else Map.empty[String, String]
          if (columns.isEmpty) columns
          else columns ++ ClusteredTableUtils.getTableFeatureProperties(Map.empty)
        case _ => throw ZCubeErrors.internal(s"CREATE TABLE LIKE of ${source.quoted}")
      }

    /** None if Delta would reject them: then its behaviour applies.
      *
      * @param own the properties that the statement gives the new table
      */
    private def clustering(source: Snapshot, own: Map[String, String]): Map[String, String] = {
      val names = PreservedColumns.of(source)
      // What Delta rejects itself has no configuration.
      def configuration = Try(
        DeltaConfigs.mergeGlobalConfigs(
          sessionConf,
          source.metadata.configuration ++ DeltaConfigs.validateConfigurations(own)))
      def areValid = configuration.toOption.exists { configuration =>
        val isMapped = source.metadata.columnMappingMode != NoMapping
        val metadata = source.metadata.copy(configuration =
          if (isMapped) configuration else PreservedColumns.unmapped(configuration))
        !PreservedColumns.lackStatistics(source.protocol, metadata, names)
      }
      ClusteredTableUtils
        .getClusteringColumnsAsProperty(
          Option.when(names.nonEmpty && areValid)(ClusterBySpec.fromColumnNames(names)))
        .toMap
    }
  }
}
