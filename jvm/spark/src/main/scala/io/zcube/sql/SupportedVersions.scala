package io.zcube.sql

import java.util.Properties

import scala.util.Using

import io.zcube.sql.errors.ZCubeErrors

/** Rejects a Spark or Delta version that this jar was not built for when the session starts: later
  * it would cause a NoSuchMethodError somewhere. Patch releases are interchangeable.
  *
  * Spark propagates what an extension throws, except for a missing class, which it only logs. So
  * the error is visible when the session starts.
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
      throw rejection(product, running, supported)
    }
  }

  private def rejection(product: String, running: String, supported: Seq[String]): Throwable =
    try ZCubeErrors.unsupportedVersion(product, running, supported)
    catch {
      // ZCube's error classes may not work with such a Spark version, and a missing class would not
      // be shown.
      case _: LinkageError => new UnsupportedOperationException(
          s"[ZCUBE_UNSUPPORTED_VERSION] This ZCube jar is for $product " +
            s"${supported.mkString(" or ")}, but the session has $product $running. SQLSTATE: 0A000")
    }
}
