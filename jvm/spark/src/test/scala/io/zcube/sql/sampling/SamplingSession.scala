package io.zcube.sql.sampling

import org.apache.spark.sql.{DataFrame, classic}
import org.scalatest.Suite

import io.zcube.sql.ZCubeSparkSession

/** Samples queries as the rules of ZCube do. */
trait SamplingSession extends ZCubeSparkSession { self: Suite =>

  /** A sample of some columns of a query, or of all. */
  protected def sampled(rows: DataFrame, limit: Int, columns: String*): RowSample = {
    val plan = rows.asInstanceOf[classic.DataFrame].queryExecution.analyzed
    val named = columns.map(name => plan.output.find(_.name == name).get)
    RowSampler.sample(
      spark.asInstanceOf[classic.SparkSession],
      plan,
      if (columns.isEmpty) plan.output else named,
      SampleLimits.ofRows(limit),
      "test",
      identity)
  }
}
