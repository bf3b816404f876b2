package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.scalatest.funsuite.AnyFunSuite

class CheckConstraintsSuite extends AnyFunSuite with DeltaSparkSession {

  test("a CHECK constraint may call a curve function, but not range_partition_id") {
    spark.sql("CREATE TABLE checked (id INT) USING delta")
    for (call <- Seq("range_partition_id(id, 10)", "abs(1 + Range_Partition_Id(id, 10))")) {
      val error = intercept[AnalysisException] {
        spark.sql(s"ALTER TABLE checked ADD CONSTRAINT c CHECK ($call < 10)")
      }
      assert(error.getCondition === "ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.COMMAND")
    }
    spark.sql("ALTER TABLE checked ADD CONSTRAINT d CHECK (hilbert_index(8, id, id) >= 0)")
    spark.sql("INSERT INTO checked VALUES (1), (2)")
    assert(spark.table("checked").count() === 2)
  }
}
