package io.zcube.sql

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSessionExtensions

/** A part of the extension that needs more than Spark, found with [[java.util.ServiceLoader]]. So
  * the functions and `zcube.cluster` work without Delta on the class path.
  */
trait SessionExtensionPart {

  /** A class that this part requires. */
  def requires: String

  def inject(extensions: SparkSessionExtensions): Unit
}

object SessionExtensionPart {

  /** The parts whose requirements are on the class path. */
  def available(): Seq[SessionExtensionPart] = {
    val loader = getClass.getClassLoader
    ServiceLoader
      .load(classOf[SessionExtensionPart], loader)
      .asScala
      .filter(part => isPresent(part.requires))
      .toSeq
  }

  private def isPresent(className: String): Boolean =
    Seq(Thread.currentThread().getContextClassLoader, getClass.getClassLoader)
      .filter(_ != null)
      .exists(loader => loader.getResource(className.replace('.', '/') + ".class") != null)
}
