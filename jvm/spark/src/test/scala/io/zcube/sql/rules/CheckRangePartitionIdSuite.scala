package io.zcube.sql.rules

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.logical.{OneRowRelation, Project}
import org.apache.spark.sql.zcube.AnalyzedPlans
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.expressions.RangePartitionId

class CheckRangePartitionIdSuite extends AnyFunSuite {

  test("each node is checked once, when it is new") {
    val wrong =
      Project(
        Seq(Alias(RangePartitionId(Rand(Literal(1L)), Literal(3)), "r")()),
        OneRowRelation())
    for (plan <- Seq(wrong, Project(wrong.output, wrong))) {
      val error = intercept[AnalysisException](CheckRangePartitionId(plan))
      assert(error.getCondition === "ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.NONDETERMINISTIC")
    }
    CheckRangePartitionId(Project(wrong.output, AnalyzedPlans.copyOf(wrong)))
  }
}
