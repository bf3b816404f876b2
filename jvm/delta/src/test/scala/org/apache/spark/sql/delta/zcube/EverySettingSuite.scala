package org.apache.spark.sql.delta.zcube

import java.nio.file.Path

import scala.util.control.NonFatal

import org.apache.spark.sql.zcube.Sessions

import io.zcube.sql.conf.ZCubeConf

/** OPTIMIZE under each setting: the rows and the statistics, read in a session without it, are right.
  * It may fail only where Delta's own OPTIMIZE fails.
  */
class EverySettingSuite extends SettingsSweep {
  import SettingsSweep._

  private lazy val template: Path = tableOfEveryType()

  private lazy val rows: Seq[String] = read(template.toString).rows

  private def read(path: String) = new EveryType(fresh(), path)

  override protected def outcome(settings: Seq[Setting]): Result = {
    val path = copyOf(template)
    val session = fresh(settings)
    val error =
      try {
        Sessions.within(session)(
          session.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id, s, ts)").collect())
        None
      } catch { case NonFatal(e) => Some(e) }
    val same = read(path.toString).rows == rows
    val untrue = if (error.isEmpty) read(path.toString).untrueStatistics else Nil
    deleteAll(path)
    (untrue ++ Option.unless(same)("other rows"), error)
  }

  override protected def failsWithDelta(settings: Seq[Setting]): Boolean =
    outcome(settings :+ (ZCubeConf.Enabled.key -> "false"))._2.nonEmpty

  test("rows and statistics are right whatever is set") {
    assert(outcome(Nil) == (Nil, None))
    assert(wrong == Nil)
  }
}
