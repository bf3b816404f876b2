package io.zcube.sql.sampling

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, ExpressionEvalHelper}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

class PathBelowSuite extends SparkFunSuite with ExpressionEvalHelper {

  private val path = BoundReference(0, StringType, nullable = true)

  private def below(folders: String*)(file: String): String = {
    val expression = PathBelow.all(path, folders.map(new Path(_)))
    val found = expression.eval(InternalRow(UTF8String.fromString(file)))
    checkEvaluation(expression, found.toString, InternalRow(UTF8String.fromString(file)))
    found.toString
  }

  test("a file below the folder has the rest of its path") {
    for (folder <- Seq("file:/a/t", "file:/a/t/", "file:///a/t")) {
      assert(below(folder)("file:/a/t/f") == "f")
      assert(below(folder)("file:/a/t/p=1/f") == "p=1/f")
      assert(below(folder)("file:/a/t/p=é%2520/f") == "p=é%2520/f")
      // The folder's name is the beginning of another's.
      assert(below(folder)("file:/a/tt/f") == "file:/a/tt/f")
      assert(below(folder)("file:/a/f") == "file:/a/f")
    }
    assert(below("s3a://bucket")("s3a://bucket/f") == "f")
    assert(below("s3a://bucket/")("s3a://bucket/p=1/f") == "p=1/f")
    assert(below("file:/")("file:/f") == "f")
  }

  test("scans report folders with special characters in escaped form") {
    assert(below("file:/a b/t%20")("file:/a%20b/t%2520/p=1/f") == "p=1/f")
  }

  test("a folder may be a file") {
    assert(below("file:/a/t/f")("file:/a/t/f") == "f")
    assert(below("file:/a/t/f", "file:/a/t/g")("file:/a/t/g") == "g")
  }

  test("the folder of several is the deepest that has all") {
    assert(below(
      "file:/a/t/p=1",
      "file:/a/t/p=2",
      "file:/a/t/p=10")("file:/a/t/p=10/f") == "p=10/f")
    assert(below("file:/a/t/p=1", "file:/a/t/p=1/q=2")("file:/a/t/p=1/q=2/f") == "q=2/f")
    assert(below("file:/a", "file:/b")("file:/b/f") == "b/f")
    assert(below("file:/a", "hdfs://n/a")("hdfs://n/a/f") == "hdfs://n/a/f")
    assert(below()("file:/f") == "file:/f")
  }

  test("a missing path is NULL") {
    checkEvaluation(PathBelow(path, "file:/a"), null, InternalRow(null))
  }
}
