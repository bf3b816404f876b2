package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.delta.zcube.Meanwhile
import org.apache.spark.sql.delta.{DeltaLog, TransactionExecutionObserver}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.sql.conf.ZCubeConf

/** Another writer commits between a MERGE's pruning and its commit. The outcome is Delta's, or
  * success where Delta's conflict was a false alarm; then the rows are those of one after the
  * other.
  */
class MergeConflictsSuite extends AnyFunSuite with MergeSession {
  import MergeConflictsSuite._

  private val templates = scala.collection.mutable.Map.empty[Kind, String]

  private def template(kind: Kind): String = templates.getOrElseUpdate(
    kind, {
      val properties = s"TBLPROPERTIES ('delta.isolationLevel' = '${kind.isolation}', " +
        s"'delta.enableDeletionVectors' = '${kind.vectors}')"
      val partitions = if (kind.partitioned) "PARTITIONED BY (k)" else ""
      val path = create(
        s"(id BIGINT, k BIGINT, v STRING) USING delta $partitions $properties",
        Files,
        "k",
        rows = 60)("id", "id AS k", "'old' AS v")
      if (kind.partitioned) spark.sql(s"INSERT INTO delta.`$path` VALUES (1001, 55, 'old')")
      path
    }
  )

  /** Of the keys 13 and 15. */
  private def merge(path: String): Unit = spark.sql(
    s"MERGE INTO delta.`$path` t USING (SELECT k, 'new' AS v FROM VALUES (13L), (15L) AS s(k)) s " +
      "ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v " +
      "WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (s.k, s.k, s.v)").collect(): Unit

  private def run(path: String, other: String => String): Outcome = {
    var before = -1L
    val meanwhile = new Meanwhile(
      false,
      () => {
        before = DeltaLog.forTable(spark, path).update().version
        spark.sql(other(path)).collect(): Unit
      })
    val seen =
      outcome(path, _ => TransactionExecutionObserver.withObserver(meanwhile)(merge(path)))
    // It did commit, after pruning and before the MERGE.
    val after = DeltaLog.forTable(spark, path).update().version
    assert(before >= 0 && after == before + (if (seen.error.isEmpty) 2 else 1))
    seen
  }

  for {
    (other, i) <- Others.filter(all || _.always).zipWithIndex
    // The only level that this Delta accepts in a table's properties.
    isolation <- Seq("Serializable")
    partitioned <- Seq(false, true)
    if other.onlyIfPartitioned.fold(all || partitioned == (i / 2 % 2 == 0))(_ == partitioned)
    vectors <- if (all) Seq(false, true) else Seq(partitioned)
    kind = Kind(isolation, partitioned, vectors)
  } test(s"another ${other.name} meanwhile, $kind") {
    val path = template(kind)
    val pruned = run(copyOf(path), other.statement)
    val plain =
      withSettings(ZCubeConf.MergeIntoPruning.key -> "false")(run(copyOf(path), other.statement))
    info(s"Delta: ${plain.error.getOrElse("succeeds")}, " +
      s"pruned: ${pruned.error.getOrElse("succeeds")}")
    if (pruned.error == plain.error) {
      assert(pruned.rows == plain.rows)
    } else {
      assert(pruned.error.isEmpty, plain.error)
      assert(!other.ofKey, plain.error)
    }
    if (pruned.error.isEmpty) assert(serial(path, other).contains(pruned.rows))
    // A file that holds a key can't be exchanged unnoticed, nor, if strict, added.
    if (other.ofKey && (other.removes || isolation == "Serializable"))
      assert(pruned.error.isDefined)
    // What can't concern the MERGE doesn't, where Delta's check looks at the files themselves.
    if (!other.ofKey && (partitioned || other.spares)) assert(pruned.error.isEmpty)
  }

  /** The rows of both, one after the other. */
  private def serial(path: String, other: Other): Seq[Seq[String]] = {
    def after(steps: (String => Unit)*) = {
      val copied = copyOf(path)
      steps.foreach(_(copied))
      rowsOf(copied)
    }
    val second: String => Unit = copied => spark.sql(other.statement(copied)).collect(): Unit
    Seq(after(second, merge), after(merge, second))
  }
}

object MergeConflictsSuite {

  private val Files = 6

  private val all = Night.all

  private case class Kind(isolation: String, partitioned: Boolean, vectors: Boolean) {
    override def toString: String =
      isolation + (if (partitioned) ", partitioned" else "") + (if (vectors) ", with vectors"
                                                                else "")
  }

  /** @param ofKey   whether it concerns files that hold a key of the MERGE
    * @param removes whether it removes a file, or exchanges it
    * @param spares  whether Delta compares only the files that it removes with those that were
    *   read: without partitions, every other writer that adds files conflicts, unless it only
    *   appends and the isolation level permits that
    * @param onlyIfPartitioned on which tables it is done, if not on all
    * @param always  whether it is among those that differ most in what they add and remove
    */
  private case class Other(
      name: String,
      ofKey: Boolean,
      removes: Boolean,
      spares: Boolean,
      statement: String => String,
      onlyIfPartitioned: Option[Boolean] = None,
      always: Boolean = true)

  private val Others: Seq[Other] = Seq(
    Other(
      "appends a key",
      true,
      false,
      false,
      t => s"INSERT INTO delta.`$t` VALUES (13, 13, 'other')"),
    Other(
      "appends another key",
      false,
      false,
      false,
      t => s"INSERT INTO delta.`$t` VALUES (1000, 55, 'other')",
      always = false),
    Other("deletes a key", true, true, false, t => s"DELETE FROM delta.`$t` WHERE k = 13"),
    Other(
      "deletes another key",
      false,
      true,
      false,
      t => s"DELETE FROM delta.`$t` WHERE k = 55",
      always = false),
    // All rows of a file.
    Other("deletes a whole file", false, true, true, t => s"DELETE FROM delta.`$t` WHERE k >= 50"),
    Other(
      "updates a key",
      true,
      true,
      false,
      t => s"UPDATE delta.`$t` SET v = 'other' WHERE k = 15",
      always = false),
    Other(
      "updates another key",
      false,
      true,
      false,
      t => s"UPDATE delta.`$t` SET v = 'other' WHERE k = 55",
      always = false),
    Other(
      "gives another row a key",
      true,
      true,
      false,
      t => s"UPDATE delta.`$t` SET k = 13 WHERE k = 55",
      always = false),
    Other(
      "merges a key",
      true,
      true,
      false,
      t =>
        s"MERGE INTO delta.`$t` t USING (SELECT 15L AS k) s ON t.k = s.k WHEN MATCHED THEN DELETE",
      always = false),
    Other(
      "merges another key",
      false,
      true,
      false,
      t =>
        s"MERGE INTO delta.`$t` t USING (SELECT 55L AS k) s ON t.k = s.k WHEN MATCHED THEN DELETE",
      always = false),
    // In partitions, only the key 55 has two files.
    Other("optimizes", true, true, false, t => s"OPTIMIZE delta.`$t`", Some(false)),
    Other(
      "optimizes another key",
      false,
      true,
      true,
      t => s"OPTIMIZE delta.`$t`",
      Some(true),
      always = false)
  )
}
