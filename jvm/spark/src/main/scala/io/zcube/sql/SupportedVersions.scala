package io.zcube.sql

import java.util.Properties

import scala.util.Using

import io.zcube.sql.errors.ZCubeErrors

/** Refuses a Spark or a Delta that this jar was not built for, when the session starts: later it would be
  * a NoSuchMethodError somewhere. Patch releases of a version are alike.
  *
  * Spark passes on what an extension throws, but for a missing class, which it only logs. So whoever
  * starts the session sees the error.
  */
object SupportedVersions {

  private lazy val builtFor: Properties = {
    val properties = new Properties
    Using.resource(getClass.getResourceAsStream("versions.properties"))(properties.load(_))
    properties
  }

  def requireSpark(running: String): Unit = require("Spark", running)

  def requireDelta(running: String): Unit = require("Delta", running)

  private def require(product: String, running: String): Unit = {
    val supported =
      builtFor.getProperty(product.toLowerCase(java.util.Locale.ROOT)).split(',').toSeq
    if (!supported.exists(line => running == line || running.startsWith(s"$line."))) {
      throw refusal(product, running, supported)
    }
  }

  private def refusal(product: String, running: String, supported: Seq[String]): Throwable =
    try ZCubeErrors.unsupportedVersion(product, running, supported)
    catch {
      // Even what errors are made of may be another in such a Spark, and a missing class is not shown.
      case _: LinkageError => new UnsupportedOperationException(
          s"[ZCUBE_UNSUPPORTED_VERSION] This jar of ZCube is for $product " +
            s"${supported.mkString(" or ")}, and the session has $product $running. SQLSTATE: 0A000")
    }
}
