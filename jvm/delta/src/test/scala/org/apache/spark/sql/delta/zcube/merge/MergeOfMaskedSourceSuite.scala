package org.apache.spark.sql.delta.zcube.merge

import io.delta.tables.DeltaTable
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions.{Add, Alias, GreaterThanOrEqual, Literal, Rand}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.scalatest.funsuite.AnyFunSuite

/** Another extension's rule changes what is read, each time that a plan is analyzed anew. */
class MergeOfMaskedSourceSuite extends AnyFunSuite with MergeSession {
  import MergeOfMaskedSourceSuite._

  override protected def settings: Map[String, String] = super.settings + (
    "spark.sql.extensions" -> Seq(
      "io.delta.sql.DeltaSparkSessionExtension",
      "io.zcube.sql.ZCubeSparkSessionExtension",
      classOf[Extension].getName).mkString(","))

  private def withMask[T](tables: String*)(body: => T): T = {
    masked = tables.toSet
    try body
    finally masked = Set.empty
  }

  test("the keys and Delta's plans see the rows that Delta sees without pruning") {
    val path =
      create("(k BIGINT, v STRING) USING delta", 6, "k", rows = 60)("id AS k", "'old' AS v")
    val (plain, json) = (newPath(), newPath())
    spark.sql(s"CREATE TABLE delta.`$plain` (k BIGINT, v STRING) USING delta")
    // A key at each edge between two files of the target, so that another one is in another file.
    spark.sql(s"INSERT INTO delta.`$plain` SELECT 10 * id + 8, 'new' FROM range(2)")
    spark.sql(s"CREATE TABLE delta.`$json` (k BIGINT, v STRING) USING delta")
    spark.sql(
      s"INSERT INTO delta.`$json` SELECT 10 * id + 8, '{\"v\": \"new\"}' FROM range(2)")
    val (read, all) = withMask(plain) {
      compared(path) { target =>
        val source = spark.read.format("delta").load(plain).selectExpr("k AS kk", "v")
        DeltaTable.forPath(spark, target).as("t").merge(source.as("s"), "t.k = s.kk")
          .whenNotMatched().insertExpr(Map("k" -> "s.kk", "v" -> "s.v")).execute(): Unit
      }
    }
    assert(read < all)
    val (ofJson, _) = withMask(json) {
      compared(path) { target =>
        val source = spark.read.format("delta").load(json)
          .selectExpr("k AS kk", "from_json(v, 'v STRING').v AS v").where("v = 'new'")
        DeltaTable.forPath(spark, target).as("t").merge(source.as("s"), "t.k = s.kk")
          .whenMatched().updateExpr(Map("v" -> "s.v"))
          .whenNotMatched().insertExpr(Map("k" -> "s.kk", "v" -> "s.v")).execute(): Unit
      }
    }
    assert(ofJson < all)
  }

  test("a target with columns that are padded when it is read is pruned by the others") {
    val path = create("(k BIGINT, n BIGINT, c CHAR(5)) USING delta", 6, "k", rows = 60)(
      "id AS k",
      "id AS n",
      "'a' AS c")
    def merged(
        on: String,
        set: String,
        fails: Option[String] = None) = compared(path, fails = fails) { target =>
      spark.sql(
        s"MERGE INTO delta.`$target` t USING (SELECT * FROM VALUES (8L), (18L) AS s(n)) s ON $on " +
          s"WHEN MATCHED THEN UPDATE SET $set WHEN NOT MATCHED THEN INSERT (k, n) VALUES (n, 0)")
        .collect(): Unit
    }
    // Spark pads values of CHAR.
    for (set <- Seq("c = 'b'", "n = t.n + 1")) {
      val (read, all) = merged("t.k = s.n", set)
      assert(read < all)
    }
    // Delta itself can't insert into these.
    targetsMasked = true
    try {
      merged("t.k = s.n", "c = 'b'", Some("DELTA_MERGE_RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"))
      merged(
        "t.n = s.n",
        "c = 'b'",
        Some("MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"))
    } finally targetsMasked = false
    // And into these only by chance: Spark drops the mask.
    masksKeepIds = true
    try {
      val (read, all) = merged("t.n = s.n", "c = 'b'")
      assert(read < all)
      assert(merged("t.k = s.n", "c = 'b'") == ((all, all)))
    } finally masksKeepIds = false
  }

  test("a filter of another extension that isn't repeatable prunes nothing") {
    val path =
      create("(k BIGINT, v STRING) USING delta", 6, "k", rows = 60)("id AS k", "'old' AS v")
    val source = newPath()
    spark.sql(s"CREATE TABLE delta.`$source` (k BIGINT, v STRING) USING delta")
    spark.sql(s"INSERT INTO delta.`$source` SELECT 10 * id + 8, 'new' FROM range(2)")
    def merged() = compared(path) { target =>
      spark.sql(
        s"MERGE INTO delta.`$target` t USING delta.`$source` s ON t.k = s.k " +
          "WHEN NOT MATCHED THEN INSERT *").collect(): Unit
    }
    val (read, all) = merged()
    assert(read < all)
    filtered = Set(source)
    try assert(merged() == ((all, all)))
    finally filtered = Set.empty
  }
}

object MergeOfMaskedSourceSuite {

  /** Tables of whose column `k` one more is read, once for each time that the rule sees them. */
  @volatile private var masked = Set.empty[String]

  /** Whether the same is done to each table with a column `c`. */
  @volatile private var targetsMasked = false

  /** The same, under the columns' ids. */
  @volatile private var masksKeepIds = false

  /** Tables that are read through a filter of which nobody knows what it lets through. */
  @volatile private var filtered = Set.empty[String]

  class Extension extends (SparkSessionExtensions => Unit) {
    override def apply(extensions: SparkSessionExtensions): Unit =
      extensions.injectPostHocResolutionRule(_ => Mask)
  }

  private object Mask extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithNewOutput {
      case table: LogicalRelation
          if isIn(masked, table) ||
            (targetsMasked && table.output.exists(_.name == "c")) =>
        val columns = table.output.map {
          case k if k.name == "k" => Alias(Add(k, Literal(1L)), "k")()
          case other => other
        }
        Project(columns, table) -> table.output.zip(columns.map(_.toAttribute))
      case table: LogicalRelation if masksKeepIds && table.output.exists(_.name == "c") =>
        Project(
          table.output.map {
            case k if k.name == "k" => Alias(Add(k, Literal(1L)), "k")(exprId = k.exprId)
            case other => other
          },
          table) -> Nil
      case table: LogicalRelation if isIn(filtered, table) =>
        Filter(GreaterThanOrEqual(Rand(0L), Literal(0.0)), table) -> Nil
    }

    private def isIn(tables: Set[String], table: LogicalRelation): Boolean = table.relation match {
      case files: HadoopFsRelation =>
        files.location.rootPaths.exists(path => tables.exists(path.toString.endsWith))
      case _ => false
    }
  }
}
