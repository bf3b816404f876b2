package io.zcube.delta

import scala.util.Try

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.{SparkContext, SparkThrowable}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.matchers.should.Matchers

import io.zcube.sql.ZCubeSparkSessionExtension

/** Sessions with a Spark or Delta version that the jar doesn't support. */
class SupportedVersionsSuite extends AnyFunSuite with Matchers {
  import SupportedVersionsSuite._

  private def assertRefused(product: String, running: String)(body: => Any): Assertion = {
    val e = intercept[Exception](body)
    val refusal = e.asInstanceOf[SparkThrowable]
    assert(refusal.getCondition === "ZCUBE_UNSUPPORTED_VERSION")
    assert(refusal.getSqlState === "0A000")
    assert(e.getMessage.contains(s"the session has $product $running"))
    assert(e.getMessage.contains(classOf[ZCubeSparkSessionExtension].getName))
  }

  test("a session with another Spark doesn't start, and says why") {
    assertRefused("Spark", "3.5.1") {
      SparkSession
        .builder()
        .master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.extensions", classOf[OnOldSpark].getName)
        .getOrCreate()
        .range(1)
        .count()
    }
    // The context has started before its session.
    Try(SparkContext.getOrCreate().stop())
  }

  test("another Delta is rejected; a patch release or vendor build of the same version is not") {
    def inject(version: String): Unit = new WithDelta(version).inject(new SparkSessionExtensions)
    Seq("3.3.0", "40.1.0", "5.0.0").foreach(v => assertRefused("Delta", v)(inject(v)))
    val line = io.delta.VERSION.split('.').take(2).mkString(".")
    Seq(s"$line.99", s"$line.0-SNAPSHOT", s"$line.0.7-vendor").foreach(inject)
  }

  test("the versions in this test are supported") {
    noException should be thrownBy
      new ZCubeSparkSessionExtension().apply(new SparkSessionExtensions)
  }
}

object SupportedVersionsSuite {

  class OnOldSpark extends ZCubeSparkSessionExtension {
    override protected def sparkVersion: String = "3.5.1"
  }

  class WithDelta(version: String) extends DeltaSessionExtensionPart {
    override protected def deltaVersion: String = version
  }
}
