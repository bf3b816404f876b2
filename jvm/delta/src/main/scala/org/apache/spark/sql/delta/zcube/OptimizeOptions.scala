package org.apache.spark.sql.delta.zcube

import java.util.Locale

import org.apache.spark.sql.internal.SQLConf

import io.zcube.layout.CurveName
import io.zcube.sql.ZCubeConf
import io.zcube.sql.errors.ZCubeErrors

/** The OPTIONS of OPTIMIZE … ZORDER BY; what they leave open, the session's settings decide. */
final case class OptimizeOptions(curve: CurveName)

object OptimizeOptions {

  private val Curve = "curve"
  private val Known = Seq(Curve)

  /** Refuses unknown options, values that an option can't have, and options given twice. */
  def check(options: Seq[(String, String)]): Unit = {
    val keys = options.map(_._1.toLowerCase(Locale.ROOT))
    options.foreach { case (key, value) =>
      key.toLowerCase(Locale.ROOT) match {
        case Curve if CurveName.find(value).isEmpty =>
          throw ZCubeErrors.invalidOption(key, value, CurveName.all.map(_.name).mkString(" or "))
        case known if Known.contains(known) =>
          if (keys.count(_ == known) > 1) throw ZCubeErrors.invalidOption(key, value, "given once")
        case _ => throw ZCubeErrors.unknownOption(key, Known)
      }
    }
  }

  def of(options: Seq[(String, String)], conf: SQLConf): OptimizeOptions = {
    check(options)
    val name = options
      .collectFirst { case (key, value) if key.toLowerCase(Locale.ROOT) == Curve => value }
      .getOrElse(conf.getConf(ZCubeConf.Curve))
    OptimizeOptions(CurveName.find(name).get)
  }
}
