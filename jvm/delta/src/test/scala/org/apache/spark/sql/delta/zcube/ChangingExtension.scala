package org.apache.spark.sql.delta.zcube

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation, PartitionDirectory}
import org.apache.spark.sql.types.StructType

/** A foreign extension, which changes what is read from each table with columns `id` and `s`. */
final class ChangingExtension extends (SparkSessionExtensions => Unit) {
  import ChangingExtension._

  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPostHocResolutionRule(_ => new Changing("filter", filter))
    extensions.injectPostHocResolutionRule(_ => new Changing("mask", mask))
    extensions.injectPostHocResolutionRule(_ => new Changing("alias", SubqueryAlias("t", _)))
    extensions.injectPostHocResolutionRule(_ => new Changing("swap", swap))
    extensions.injectPostHocResolutionRule(_ => new Changing("copy", copyOfSome))
    extensions.injectPostHocResolutionRule(_ => new Changing("format", asPlainParquet))
    extensions.injectOptimizerRule(_ => new Changing("late format", asPlainParquet))
    extensions.injectOptimizerRule(_ => new Changing("late filter", filter))
    extensions.injectOptimizerRule(_ => new Changing("late copy", copyOfSome))
    extensions.injectOptimizerRule(_ => new Changing("late end", Filter(Literal(false), _)))
  }
}

object ChangingExtension {

  /** The current kind of change. */
  @volatile var mode = ""

  private val Done = TreeNodeTag[Boolean]("changed")

  final private class Changing(when: String, change: LogicalRelation => LogicalPlan)
      extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      if (mode != when) plan
      else plan.transformUpWithNewOutput {
        case r: LogicalRelation
            if Seq("id", "s").forall(n => r.output.exists(_.name == n)) &&
              r.getTagValue(Done).isEmpty =>
          val copy = r.copy()
          copy.setTagValue(Done, true)
          val changed = change(copy)
          if (changed.isInstanceOf[LogicalRelation]) changed.setTagValue(Done, true)
          (changed, r.output.zip(changed.output))
      }
  }

  private def filter(r: LogicalRelation): LogicalPlan =
    Filter(GreaterThan(r.output.find(_.name == "id").get, Literal(10L)), r)

  /** A relation of all files but one. */
  private def copyOfSome(r: LogicalRelation): LogicalPlan = r.relation match {
    case all: HadoopFsRelation =>
      r.copy(relation = all.copy(location = new Fewer(all.location))(all.sparkSession))
    case _ => r
  }

  /** The same files, read without Delta's names of columns and deletion vectors. */
  private def asPlainParquet(r: LogicalRelation): LogicalPlan = r.relation match {
    case all: HadoopFsRelation =>
      r.copy(relation = all.copy(fileFormat = new PlainParquet)(all.sparkSession))
    case _ => r
  }

  /** Spark's own is equal to Delta's format, so that Catalyst takes one for the other. */
  final private class PlainParquet extends ParquetFileFormat {
    override def equals(other: Any): Boolean = other.isInstanceOf[PlainParquet]
    override def hashCode: Int = getClass.hashCode
  }

  final private class Fewer(all: FileIndex) extends FileIndex {
    override def listFiles(
        partitionFilters: Seq[Expression],
        dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
      all.listFiles(partitionFilters, dataFilters).map(d => d.copy(files = d.files.drop(1)))
    override def rootPaths: Seq[Path] = all.rootPaths
    override def inputFiles: Array[String] = all.inputFiles.drop(1)
    override def refresh(): Unit = all.refresh()
    override def sizeInBytes: Long = all.sizeInBytes
    override def partitionSchema: StructType = all.partitionSchema
  }

  /** Another column's values under a column's name. */
  private def swap(r: LogicalRelation): LogicalPlan = Project(
    r.output.map {
      case a if a.name == "s" => Alias(r.output.find(_.name == "masked").get, "s")()
      case a => a
    },
    r)

  private def mask(r: LogicalRelation): LogicalPlan = Project(
    r.output.map {
      case a if a.name == "s" => Alias(Literal("***"), "s")()
      case a => a
    },
    r)
}
