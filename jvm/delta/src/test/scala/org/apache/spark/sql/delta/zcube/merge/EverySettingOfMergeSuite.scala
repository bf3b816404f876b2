package org.apache.spark.sql.delta.zcube.merge

import java.nio.file.Path

import scala.util.Try

import org.apache.spark.sql.delta.zcube.SettingsSweep
import org.apache.spark.sql.zcube.Sessions

import io.zcube.Night
import io.zcube.sql.conf.ZCubeConf

/** MERGE by columns of every type under each setting, with pruning and with plain Delta: the same
  * rows, and an error only where plain Delta has one.
  */
class EverySettingOfMergeSuite extends SettingsSweep with MergeSession {
  import EverySettingOfMergeSuite._
  import SettingsSweep._

  private lazy val template: Path = {
    val path = tableOfEveryType()
    // Delta can't merge by CHAR. RandomMergesSuite has tables with such columns.
    spark.sql(s"ALTER TABLE delta.`$path` DROP COLUMN c").collect()
    path
  }

  private def statement(path: String, keys: Seq[String]): String = {
    val on = ("id" +: keys).map(key => s"t.$key <=> s.$key").mkString(" AND ")
    s"MERGE INTO delta.`$path` t USING (SELECT * FROM delta.`$template` WHERE id < 60 AND id % 2 = 0) s " +
      s"ON $on WHEN MATCHED THEN UPDATE SET m = map('merged', 1) " +
      "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 'new')"
  }

  /** The rows after the MERGEs, and their first error. */
  private def merged(settings: Seq[Setting], pruning: Boolean): (Seq[String], Option[Throwable]) = {
    val path = copyOf(template)
    val session = fresh(
      settings ++ Seq(
        ZCubeConf.MergeIntoPruning.key -> pruning.toString,
        ZCubeConf.MergeIntoMinTableBytes.key -> "0"))
    val error = Try(Sessions.within(session)(
      Keys.foreach(keys => session.sql(statement(path.toString, keys)).collect()))).failed.toOption
    val rows = fresh().read.format("delta").load(path.toString)
      .selectExpr("to_json(struct(*, unix_micros(ts) AS micros, CAST(ntz AS STRING) AS text))")
      .collect().map(_.getString(0)).toSeq.sorted
    deleteAll(path)
    (rows, error)
  }

  override protected def outcome(settings: Seq[Setting]): Result = {
    val (mine, error) = merged(settings, pruning = true)
    val (deltas, other) = merged(settings, pruning = false)
    (Option.unless(other.nonEmpty || mine == deltas)("other rows").toSeq, error)
  }

  override protected def failsWithDelta(settings: Seq[Setting]): Boolean =
    merged(settings, pruning = false)._2.nonEmpty

  // Twenty minutes.
  if (Night.all) test("the same rows whatever is set") {
    assert(outcome(Nil) == (Nil, None))
    // There is something to prune.
    for (keys <- Keys) {
      val (pruned, plain) =
        compared(template.toString)(path => spark.sql(statement(path, keys)).collect(): Unit)
      assert(pruned < plain, keys)
    }
    assert(wrong == Nil)
  }
}

private object EverySettingOfMergeSuite {

  private val Keys = Seq(
    Seq("b", "sh", "i", "s", "vc"),
    Seq("d", "ts", "ntz", "dec", "wide", "pt"),
    Seq("f", "dbl", "n.k", "n.t", "p", "bool"))
}
