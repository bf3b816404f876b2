package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.{BitwiseAnd, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.{LeftAnti, LeftSemi}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{SparkSession, classic}

import io.zcube.layout.FileCount
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.{BoxedQuery, LayoutPlan, LayoutWriter}
import io.zcube.sql.plans.ClusterRows
import io.zcube.sql.predicates.{DeclaredNames, PredicateReader, SimplifiedCondition}
import io.zcube.sql.sampling.{ContentHash, RowSampler}

/** Samples the child of each [[ClusterRows]] with one job and replaces the node with the layout's
  * shuffle.
  */
case class ClusterRowsRewrite(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val parts = new PartsOfQuery(plan)
    plan.transformUp { case rows: ClusterRows => rewrite(rows, parts) }
  }

  private def rewrite(rows: ClusterRows, parts: PartsOfQuery): LogicalPlan = {
    val files = rows.partitions.getOrElse(filesFor(rows))
    val workload = workloadOf(rows)
    val names = rows.columns.map(_.sql).mkString(", ")
    val sample = RowSampler.sample(
      session.asInstanceOf[classic.SparkSession],
      rows.child,
      rows.columns,
      LayoutPlan.limits(files, conf.getConf(ZCubeConf.SampleRowsPerFile)),
      s"ZCube: sampling $names for ${rows.request.curve.name} order",
      parts.alone
    )
    if (!sample.isEnoughFor(files)) {
      val columns = rows.columns.map(_.sql)
      throw ZCubeErrors.sampleTooSmall("CLUSTER", columns, sample.rows.length.toLong, files)
    }
    LayoutWriter.layOut(
      rows.child,
      rows.child.output,
      rows.columns,
      // Hashes the row's contents: if rows come from a shuffle, their positions may change when a
      // task is rerun, and a row must not be sent elsewhere the second time.
      BitwiseAnd(ContentHash.of(rows.child.output), Literal(Long.MaxValue)),
      LayoutPlan.of(sample, files, rows.request.copy(workload = workload)),
      rows.sort
    )
  }

  private def workloadOf(rows: ClusterRows): Seq[BoxedQuery] = {
    def named(expression: Expression) = DeclaredNames.in(expression, rows.child.output)
    // If the optimizer has replaced a column by an expression, it can't be found by name.
    val reader =
      new PredicateReader(rows.columns.map(c => PredicateReader.path(named(c)).getOrElse(Nil)))
    val boxes = rows.workload.map { predicate =>
      reader.read(SimplifiedCondition.of(named(predicate), rows.child.output))
    }
    if (boxes.nonEmpty && boxes.forall(_.isAnything)) {
      throw ZCubeErrors.workloadWithoutRanges(rows.columns.map(_.sql))
    }
    boxes.zip(rows.workloadWeights).map { case (query, weight) => BoxedQuery(query.boxes, weight) }
  }

  private def filesFor(rows: ClusterRows): Int = {
    val bytes = rows.child.stats.sizeInBytes
    if (bytes >= Long.MaxValue || hasUnknownSize(rows.child)) {
      throw ZCubeErrors.clusterInputSizeUnknown()
    }
    FileCount.of(bytes.toLong, rows.targetFileBytes, Long.MaxValue, maxRecords = 0)
  }

  /** Whether an input has the size that Spark takes for unknown ones, and the rows' size depends on it.
    * A session may lower that size, and a projection has a part of it.
    */
  private def hasUnknownSize(plan: LogicalPlan): Boolean = plan match {
    case leaf: LeafNode => leaf.stats.sizeInBytes == conf.defaultSizeInBytes
    // As of LIMIT.
    case other if other.stats.rowCount.isDefined => false
    case Join(left, _, LeftSemi | LeftAnti, _, _) => hasUnknownSize(left)
    case other => other.children.exists(hasUnknownSize)
  }
}
