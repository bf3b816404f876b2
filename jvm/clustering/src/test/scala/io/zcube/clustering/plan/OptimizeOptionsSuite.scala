package io.zcube.clustering.plan

import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.{MergePolicy, PlanOptions}
import io.zcube.sql.predicates.ParsedQuery

class OptimizeOptionsSuite extends AnyFunSuite {

  private def of(options: (String, String)*): OptimizeOptions =
    OptimizeOptions.of(options, LayoutKind.KdTree)

  private def refused(options: (String, String)*): (String, String) = {
    val error = intercept[Exception](OptimizeOptions.check(options))
    error.asInstanceOf[SparkThrowable].getCondition -> error.getMessage
  }

  /** What each option changes in the defaults. */
  private val effects: Map[String, (String, OptimizeOptions => OptimizeOptions)] = Map(
    "curve" -> ("hilbert", _.copy(curve = LayoutKind.Hilbert, namesLayout = true)),
    "weights" -> (
      "a=2,b.c=1",
      _.copy(weights = Seq(Seq("a") -> 2.0, Seq("b", "c") -> 1.0), namesLayout = true)),
    "workload" -> (
      """["a = 1", {"predicate": "b < 2", "weight": 3}]""",
      _.copy(
        workload = Seq(ParsedQuery("a = 1", 1.0), ParsedQuery("b < 2", 3.0)),
        namesLayout = true)),
    "mergePolicy" -> (
      MergePolicy.all.last.name,
      _.copy(mergePolicy = Some(MergePolicy.all.last))),
    "maxBytes" -> ("10g", _.copy(maxBytes = Some(10L << 30))),
    "maxDuration" -> ("45min", _.copy(maxDuration = Some(45 * 60 * 1000L))),
    "minCubeSize" -> ("2k", _.copy(minCubeSize = Some(2048L))),
    "targetCubeSize" -> ("12", _.copy(targetCubeSize = Some(12L))),
    "maxFileSize" -> (" 1mb ", _.copy(maxFileSize = Some(1L << 20))),
    "forecast" -> ("true", _.copy(forecast = true)),
    "details" -> ("TRUE", _.copy(details = true)),
    // The format reads it, together with the clause.
    "where" -> ("a = 1", identity)
  )

  test("each option in the list has its effect, in any case of its name") {
    assert(OptimizeOptions.names.toSet === effects.keySet)
    effects.foreach { case (name, (value, effect)) =>
      Seq(name, name.toLowerCase, name.toUpperCase).foreach { written =>
        assert(of(written -> value) === effect(of()), written)
      }
    }
  }

  test("the default curve applies only without the option") {
    assert(OptimizeOptions.of(Nil, LayoutKind.ZOrder).curve === LayoutKind.ZOrder)
    assert(OptimizeOptions.of(Seq("curve" -> "linear"), LayoutKind.ZOrder).curve
      === LayoutKind.Linear)
  }

  test("what the statement says goes over the session's settings, and nothing else changes") {
    val session = PlanOptions(
      targetFileBytes = 1,
      minCubeBytes = 2,
      targetCubeBytes = 3,
      maxBytes = Some(4),
      fanOut = 5,
      maxJobBytes = 6)
    assert(of().over(session) === session)
    val changes = Seq[((String, String), PlanOptions)](
      "mergePolicy" -> MergePolicy.all.last.name -> session.copy(policy = MergePolicy.all.last),
      "maxFileSize" -> "7" -> session.copy(targetFileBytes = 7),
      "minCubeSize" -> "7" -> session.copy(minCubeBytes = 7),
      "targetCubeSize" -> "7" -> session.copy(targetCubeBytes = 7),
      "maxBytes" -> "7" -> session.copy(maxBytes = Some(7))
    )
    changes.foreach { case (option, expected) => assert(of(option).over(session) === expected) }
  }

  test("an unknown option is refused by its name, with the known ones") {
    val (condition, message) = refused("Curvee" -> "zorder")
    assert(condition === "ZCUBE_UNKNOWN_OPTION")
    assert(message.contains("Curvee"))
    OptimizeOptions.names.foreach(name => assert(message.contains(name)))
  }

  test("an option that is given twice is refused, in whatever case") {
    val (condition, message) = refused("maxBytes" -> "1g", "MAXBYTES" -> "1g")
    assert(condition === "ZCUBE_INVALID_OPTION")
    assert(message.contains("maxBytes") && message.contains("given once"))
  }

  test("invalid values are refused with the option's name and the value") {
    Seq(
      "curve" -> "peano",
      "weights" -> "a=0",
      "weights" -> "a=1,a=2",
      "workload" -> "a = 1",
      "workload" -> """[{"predicate": "a = 1", "weight": -1}]""",
      "mergePolicy" -> "none",
      "maxBytes" -> "0",
      "maxBytes" -> "-1g",
      "maxBytes" -> "ten",
      "maxBytes" -> "9999999999g",
      // Spark would take a number without a unit for seconds or milliseconds.
      "maxDuration" -> "90",
      "maxDuration" -> "0s",
      "maxDuration" -> "soon",
      "minCubeSize" -> "",
      "targetCubeSize" -> "1.5g",
      "maxFileSize" -> "1 g b",
      "forecast" -> "yes",
      "details" -> "1"
    ).foreach { case (name, value) =>
      val (condition, message) = refused(name -> value)
      assert(condition === "ZCUBE_INVALID_OPTION", s"$name = $value")
      assert(message.contains(name) && message.contains(value), s"$name = $value")
    }
  }

  test("weights and a workload are refused with a curve that can't use them") {
    LayoutKind.all.filterNot(_.takesWeights).foreach { curve =>
      assert(refused("weights" -> "a=2", "curve" -> curve.name)._1 === "ZCUBE_WEIGHTS_NOT_TAKEN")
    }
    LayoutKind.all.filterNot(_.takesWorkload).foreach { curve =>
      assert(refused("workload" -> """["a = 1"]""", "curve" -> curve.name)._1
        === "ZCUBE_WORKLOAD_NOT_TAKEN")
    }
    // Also if the curve is the session's.
    val error = intercept[Exception](OptimizeOptions.of(Seq("weights" -> "a=2"), LayoutKind.ZOrder))
    assert(error.asInstanceOf[SparkThrowable].getCondition === "ZCUBE_WEIGHTS_NOT_TAKEN")
  }
}
