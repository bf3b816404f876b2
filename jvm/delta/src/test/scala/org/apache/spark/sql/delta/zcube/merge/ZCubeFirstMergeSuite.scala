package org.apache.spark.sql.delta.zcube.merge

import org.scalactic.source.Position
import org.scalatest.Tag

import io.zcube.Night
import io.zcube.sql.ZCubeSparkSessionExtension

/** The same guards where a user names ZCube's extension before Delta's, so that its rules run first. By
  * day only range ids, which depend most on the order of rules.
  */
class ZCubeFirstMergeSuite extends MergeGuardsSuite {

  override protected def settings: Map[String, String] = super.settings + (
    "spark.sql.extensions" -> s"${classOf[ZCubeSparkSessionExtension].getName},io.delta.sql.DeltaSparkSessionExtension")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    require(spark.conf.get("spark.sql.extensions").startsWith("io.zcube"))
  }

  override protected def test(text: String, tags: Tag*)(body: => Any)(implicit
      position: Position): Unit =
    if (Night.all || text.startsWith("range ids")) super.test(text, tags: _*)(body)

  // The names of tests decide which of them run.
  assert(testNames.nonEmpty)
}
