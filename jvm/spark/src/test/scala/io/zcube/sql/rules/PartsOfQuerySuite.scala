package io.zcube.sql.rules

import java.util.concurrent.ConcurrentLinkedQueue

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.XxHash64
import org.apache.spark.sql.catalyst.plans.logical.{CollectMetrics, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.util.QueryExecutionListener
import org.apache.spark.sql.zcube.SparkEvents
import org.apache.spark.sql.{AnalysisException, Observation, Row, SparkSessionExtensions}
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.{ZCubeSparkSession, ZCubeSparkSessionExtension}

/** Samples of parts of a query: with common tables, observed, beside another extension. */
class PartsOfQuerySuite extends AnyFunSuite with ZCubeSparkSession {
  import PartsOfQuerySuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" ->
      Seq(classOf[ZCubeSparkSessionExtension], classOf[NotingExtension]).map(_.getName)
        .mkString(","))

  private def rows(sql: String): Seq[Row] = spark.sql(sql).collect().toSeq

  /** The optimizer doesn't put it in the place of its references, which would give each other values. */
  private val random = "t AS (SELECT id, rand() x FROM range(100))"

  private val hint = """/*+ ZCUBE_CLUSTER('{"columns": [["x"]], "numPartitions": 2}') */"""

  test("a common table with random values that is used twice can be laid out") {
    assert(
      rows(s"WITH $random SELECT $hint a.x, b.x y FROM t a JOIN t b ON a.id = b.id")
        .map(row => row(0) == row(1)) === Seq.fill(100)(true))
  }

  test("ids over it are the same in all places") {
    assert(
      rows(s"""WITH $random, u AS (SELECT id, x, range_partition_id(x, 10) r FROM t)
        SELECT count(*), count(DISTINCT a.r) FROM u a JOIN u b ON a.x = b.x AND a.r = b.r""")
        === Seq(Row(100L, 10L)))
  }

  test("ids over the ids of a common table are sampled after these, each once") {
    val (found, jobs) = SparkEvents.jobsOf(spark.sparkContext)(
      rows("""WITH t AS (SELECT id, rand() x, range_partition_id(id, 10) r FROM range(100))
        SELECT a.r, range_partition_id(a.r, 5), b.r FROM t a JOIN t b ON a.x = b.x ORDER BY a.id"""))
    assert(found === (0 until 100).map(i => Row(i / 10, i / 20, i / 10)))
    // The second sample takes several jobs, because it is of a join.
    val sampled = jobs.filter(_.startsWith("ZCube: sampling")).map(_.split(' ')(2))
    assert(sampled.head === "id" && sampled.tail.forall(_ == "t.r"), sampled)
  }

  test("a subquery below a call may use a common table from outside") {
    assert(
      rows(s"""WITH $random SELECT range_partition_id(id, 3) r FROM range(60, 160)
        WHERE id IN (SELECT id FROM t) OR id IN (SELECT id + 1 FROM t WHERE x < 0) ORDER BY id""")
        .map(_.getInt(0)).groupBy(identity).keySet === Set(0, 1, 2))
  }

  for ((what, of) <- Seq(
      "ids" -> "SELECT range_partition_id(id, 3) FROM t",
      "a layout" -> s"SELECT $hint CAST(10 * x AS INT) x FROM t"))
    test(s"$what in a subquery whose common table is outside are rejected, inside they work") {
      val inside = s"(WITH $random $of UNION ALL SELECT -1 FROM t WHERE x < 0)"
      assert(rows(s"SELECT id FROM range(9) WHERE id IN $inside").nonEmpty)
      val query = spark.sql(s"WITH $random SELECT id FROM t WHERE id IN ($of)")
      val error = intercept[AnalysisException](query.collect())
      assert(error.getCondition === "ZCUBE_COMMON_TABLE_OUTSIDE")
    }

  test("a constant to group by isn't taken for a position") {
    assert(
      rows("""SELECT range_partition_id(n, 2) FROM
        (SELECT count(*) n FROM (SELECT 7 y FROM range(9)) GROUP BY y)""") === Seq(Row(0)))
  }

  test("other extensions' rules of analysis don't see the sample") {
    spark.range(100).selectExpr("id", "range_partition_id(id, 4) r").collect()
    rows(s"SELECT $hint * FROM (SELECT id, id * 2 x FROM range(100))")
    assert(analyzedSamples.isEmpty)
    spark.range(1).selectExpr("xxhash64(id)").collect()
    assert(!analyzedSamples.isEmpty)
  }

  test("a sample isn't observed, and listeners see only the query") {
    val seen = new ConcurrentLinkedQueue[(String, Seq[Long])]
    val listener = new QueryExecutionListener {
      override def onSuccess(name: String, query: QueryExecution, nanos: Long): Unit =
        seen.add(name -> query.observedMetrics.values.map(_.getLong(0)).toSeq): Unit
      override def onFailure(name: String, query: QueryExecution, error: Exception): Unit = ()
    }
    // Of another session, listeners don't hear of the queries before, which may be told late.
    val session = spark.newSession()
    val observation = Observation("rows")
    val observed = session.range(0, 1000, 1, 2).observe(observation, count(lit(1)).as("n"))
    val twice = observed.observe("again", count(lit(1))).queryExecution.analyzed
    assert(!new PartsOfQuery(twice).alone(twice).exists(_.isInstanceOf[CollectMetrics]))
    session.listenerManager.register(listener)
    try {
      observed.selectExpr("range_partition_id(id, 10) r").collect()
      assert(observation.get("n") === 1000L)
      // Listeners hear of queries in the order of their ends.
      eventually(timeout(10.seconds))(assert(seen.asScala.exists(_._1 == "collect")))
      assert(seen.asScala.toSeq === Seq("collect" -> Seq(1000L)))
    } finally session.listenerManager.unregister(listener)
  }
}

object PartsOfQuerySuite {

  /** Plans with the hash by which rows are sampled. */
  private val analyzedSamples = new ConcurrentLinkedQueue[LogicalPlan]

  private object Note extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = {
      if (plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[XxHash64])))) {
        analyzedSamples.add(plan)
      }
      plan
    }
  }

  final class NotingExtension extends (SparkSessionExtensions => Unit) {
    override def apply(extensions: SparkSessionExtensions): Unit =
      extensions.injectResolutionRule(_ => Note)
  }
}
