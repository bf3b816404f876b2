package io.zcube.sql.errors

import scala.io.Source
import scala.util.Using

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.types.IntegerType
import org.json4s.JsonAST.{JObject, JString}
import org.json4s.jackson.JsonMethods
import org.scalatest.funsuite.AnyFunSuite

class ErrorConditionsSuite extends AnyFunSuite {

  private val conditions: Seq[(String, JObject)] =
    Using.resource(Source.fromResource(
      "error/zcube-error-conditions.json",
      getClass.getClassLoader)) {
      source =>
        JsonMethods.parse(source.mkString).asInstanceOf[JObject].obj.map { case (name, value) =>
          name -> value.asInstanceOf[JObject]
        }
    }

  private val thrown: Seq[Throwable] = Seq(
    ZCubeErrors.clusterInputSizeUnknown(),
    ZCubeErrors.clusteringMismatch(Seq("a"), Nil),
    ZCubeErrors.columnNotFound("c", "t", Seq("a", "b")),
    ZCubeErrors.autoCompactionFailed("t", new OutOfMemoryError("heap")),
    ZCubeErrors.commitUnknown("t", Set(3L), 2, "it isn't in the log", new RuntimeException("lost")),
    ZCubeErrors.commonTableOutside(),
    ZCubeErrors.dryRunNotSupported(None),
    ZCubeErrors.dryRunNotSupported(Some("t")),
    ZCubeErrors.forecastNotTaken(),
    ZCubeErrors.hilbertValueOutOfRange(5, 2),
    ZCubeErrors.internal("a plan"),
    ZCubeErrors.invalidOption("curve", "x", "y"),
    ZCubeErrors.invalidPredicate("a b", "why"),
    ZCubeErrors.loggedRowsMismatch("t", 2, 1, Seq("f.parquet: 2 in the log, 1 read")),
    ZCubeErrors.noClusteringColumns("t"),
    ZCubeErrors.nondeterministicPredicate("rand() < 1"),
    ZCubeErrors.notAClusteringColumn("c > 1", "c", Seq("a")),
    ZCubeErrors.notAText("x"),
    ZCubeErrors.notOfTheForm("OPTIMIZE table", Some(new RuntimeException("syntax error"))),
    ZCubeErrors.optionsNotSupported(None),
    ZCubeErrors.optionsNotSupported(Some("t")),
    ZCubeErrors.recommendNeedsNewest("/data/t@v1"),
    ZCubeErrors.recommendNothingUnderstood("t", Seq("what?")),
    ZCubeErrors.regroupFailed("t", new RuntimeException("disk full")),
    ZCubeErrors.reservedColumn("t", "c", "_c"),
    ZCubeErrors.rewriteFailed("t", new RuntimeException("job", new RuntimeException("disk full"))),
    ZCubeErrors.rowCountMismatch("t", 1, 2),
    ZCubeErrors.sampleFailed("t", new RuntimeException("disk full")),
    ZCubeErrors.scanChanged("t", "Filter true"),
    ZCubeErrors.statementNotSupported("DESCRIBE CLUSTERING"),
    ZCubeErrors.streamingNotSupported(),
    ZCubeErrors.tooManyColumns(64, 63),
    ZCubeErrors.unknownOption("a", Seq("b")),
    ZCubeErrors.unknownWeight("a", Seq("b")),
    ZCubeErrors.unorderedType("c", IntegerType),
    ZCubeErrors.unsupportedVersion("Spark", "3.5.1", Seq("4.2")),
    ZCubeErrors.weightsNotTaken("zorder"),
    ZCubeErrors.workloadNotTaken("zorder"),
    ZCubeErrors.workloadWithoutRanges(Seq("a", "b")),
    ZCubeErrors.whereGivenTwice("a = 1", "a = 2"),
    ZCubeErrors.whereNeedsSkipping("a = 1"),
    ZCubeErrors.writtenFileMissing("t", "f.parquet")
  ) ++
    Seq(
      "AGGREGATE",
      "BOTH_SIDES_OF_JOIN",
      "COMMAND",
      "CORRELATED",
      "LAMBDA",
      "NONDETERMINISTIC",
      "REPEATED",
      "STREAMING").map(ZCubeErrors.rangePartitionIdUnsupported("f(x)", _)) ++
    Seq("CLUSTER", "OPTIMIZE", "RANGES").map(ZCubeErrors.sampleTooSmall(_, Seq("a"), 1, 2))

  test("conditions are sorted, named ZCUBE_, and have a SQLSTATE of five characters") {
    assert(conditions.map(_._1) === conditions.map(_._1).sorted)
    conditions.foreach { case (name, fields) =>
      assert(name.matches("ZCUBE_[A-Z_]+"))
      assert((fields \ "sqlState").asInstanceOf[JString].s.matches("[0-9A-Z]{5}"), name)
    }
  }

  test("every condition has a factory, and every parameter of its message has a value") {
    val raised = thrown.map(_.asInstanceOf[SparkThrowable])
    assert(raised.map(_.getCondition.takeWhile(_ != '.')).toSet === conditions.map(_._1).toSet)
    raised.foreach { e =>
      val message = e.asInstanceOf[Throwable].getMessage
      assert(message.startsWith(s"[${e.getCondition}]"))
      assert(!message.matches("(?s).*<[a-zA-Z]+>.*"), message)
      assert(message.contains(e.getSqlState))
    }
  }
}
