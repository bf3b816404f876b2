package org.apache.spark.sql.delta.zcube.commit

import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.delta.zcube.ThrowingLogStore
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Caught

/** Readers without a Delta reader read what a table's symlink manifests name. */
class SymlinkManifestSuite extends AnyFunSuite with CommitFaults {
  import SymlinkManifestSuite._

  private def tableWithManifest(name: String, partitions: Int = 1): String = {
    val path = table(name, partitions)
    spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ($On)")
    spark.sql(s"GENERATE symlink_format_manifest FOR TABLE delta.`$path`")
    path
  }

  private def manifests(path: String, partition: String = ""): Seq[LocalPath] = {
    val walk = Files.walk(Paths.get(path, "_symlink_format_manifest"))
    try walk.iterator().asScala.toList
        .filter(f => f.getFileName.toString == "manifest" && f.toString.contains(partition))
    finally walk.close()
  }

  private def namesIn(manifests: Seq[LocalPath]): Set[String] =
    manifests.flatMap(Files.readAllLines(_).asScala).map(_.split('/').last).toSet

  /** The names of the files that the manifests show to other readers. */
  private def inManifest(path: String): Set[String] = namesIn(manifests(path))

  private def insert(path: String, values: String): Unit =
    spark.sql(s"INSERT INTO delta.`$path` VALUES $values"): Unit

  /** Delta's hook fails, and the next time a manifest is written, `fault` happens. */
  private def hookFails(fault: ThrowingLogStore.Fault) =
    ThrowingLogStore.before(lost).copy(
      act = (_, _) => {
        ThrowingLogStore.instead.set(Some(fault))
        throw lost
      },
      ofFile = IsManifest)

  /** Something that another writer does before a manifest is written. A task writes it, and can't
    * itself run a statement.
    */
  private def meanwhile(body: => Unit) = ThrowingLogStore.Fault(
    (lines, write) => {
      val other = new Thread(() => body)
      other.start()
      other.join()
      write(lines)
    },
    IsManifest)

  test("an error of a hook after the commit is not a failure of the commit") {
    val path = tableWithManifest("hook")
    val before = rows(path)
    val fault = ThrowingLogStore.before(lost).copy(ofFile = IsManifest)
    assert(failing(fault)(optimize(path)).isEmpty)
    assert(version(path) === 2)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
    assert(inManifest(path) === liveFiles(path))
    assert(rows(path) === before)
  }

  test("a manifest that can't be written at all is reported, and the commit stays") {
    val path = tableWithManifest("no-manifest")
    val before = rows(path)
    val first = hookFails(ThrowingLogStore.before(lost).copy(ofFile = IsManifest))
    assert(conditionOf(failing(first)(optimize(path))) === Some("DELTA_POST_COMMIT_HOOK_FAILED"))
    assert(version(path) === 2)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
    assert(rows(path) === before)
  }

  test("an interrupted commit whose manifest can't be written says both") {
    val path = tableWithManifest("interrupted-manifest")
    val before = rows(path)
    val caller = Thread.currentThread()
    val fault = ThrowingLogStore.Fault { (lines, write) =>
      write(lines)
      ThrowingLogStore.instead.set(
        Some(ThrowingLogStore.before(lost).copy(ofFile = IsManifest)))
      caller.interrupt()
      Thread.sleep(60000)
    }
    val error = failing(fault)(optimize(path))
    assert(error.exists(_.isInstanceOf[InterruptedException]))
    assert(within(error.get).flatMap(e => conditionOf(Some(e)))
      .contains("DELTA_POST_COMMIT_HOOK_FAILED"))
    assert(version(path) === 2)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
    assert(rows(path) === before)
  }

  test("a manifest is of the newest version, even if another writes meanwhile") {
    val path = tableWithManifest("overtaken-manifest")
    val before = rows(path)
    val first = hookFails(meanwhile(insert(path, "(-1L, 0, 0)")))
    assert(failing(first)(optimize(path)).isEmpty)
    assert(version(path) === 3)
    assert(inManifest(path) === liveFiles(path))
    assert(rows(path).size === before.size + 1)
  }

  for (partitions <- Seq(1, 2)) test(
    s"after a lost answer, the manifests name the new files, partitions: $partitions") {
    val path = tableWithManifest(s"lost-manifest-$partitions", partitions)
    val known = inManifest(path)
    assert(failing(ThrowingLogStore.after(lost))(optimize(path)).isEmpty)
    assert(version(path) === 2)
    assert(inManifest(path) === liveFiles(path))
    assert(inManifest(path).intersect(known).isEmpty)
  }

  test("manifests of other partitions are left to their writers") {
    val path = tableWithManifest("other-partitions", 2)
    val other = manifests(path, "p=1").head
    // As a writer of a later version would have left it.
    Files.writeString(other, "theirs")
    Files.createDirectories(other.resolveSibling("../p=7"))
    val added = Files.writeString(other.resolveSibling("../p=7/manifest"), "theirs")
    val failure = failing(ThrowingLogStore.after(lost)) {
      spark.sql(s"OPTIMIZE delta.`$path` WHERE p = 0 ZORDER BY (id, x)").collect(): Unit
    }
    assert(failure.isEmpty)
    assert(Files.readString(other) === "theirs")
    assert(Files.readString(added) === "theirs")
    assert(namesIn(manifests(path, "p=0")) ===
      liveFiles(path).intersect(dataFiles(s"$path/p=0")))
  }

  for ((partition, times) <- Seq(0 -> 2, 1 -> 1)) test(
    s"manifests are written again only for commits to the same partitions: $partition") {
    val path = tableWithManifest(s"busy-$partition", 2)
    val before = rows(path)
    val writes = new AtomicInteger
    lazy val count: ThrowingLogStore.Fault = ThrowingLogStore.Fault(
      (lines, write) => {
        writes.incrementAndGet()
        ThrowingLogStore.instead.set(Some(count))
        write(lines)
      },
      IsManifest)
    val other = meanwhile(insert(path, s"(-1L, 0, $partition)"))
    val first = hookFails(other.copy(act = (lines, write) => {
      other.act(lines, write)
      ThrowingLogStore.instead.set(Some(count))
      writes.incrementAndGet(): Unit
    }))
    ThrowingLogStore.instead.set(Some(first))
    try spark.sql(s"OPTIMIZE delta.`$path` WHERE p = 0 ZORDER BY (id, x)").collect(): Unit
    finally ThrowingLogStore.instead.set(None)
    assert(writes.get === times)
    assert(version(path) === 3)
    assert(inManifest(path) === liveFiles(path))
    assert(rows(path).size === before.size + 1)
  }

  test("the manifests of a table that was partitioned by another column") {
    val path = tableWithManifest("repartitioned", 2)
    spark.read.format("delta").load(path).selectExpr("*", "id % 3 AS q")
      .write.format("delta").mode("overwrite").option("overwriteSchema", "true")
      .partitionBy("q").save(path)
    // Delta leaves the old ones, and then its pass over all manifests fails.
    assert(namesIn(manifests(path, "p=")).nonEmpty)
    assert(failing(ThrowingLogStore.after(lost))(optimize(path)).isEmpty)
    assert(namesIn(manifests(path, "q=")) === liveFiles(path))
  }

  private def firstManifests(name: String, partitions: Int): String = {
    val path = table(name, partitions)
    spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ($On)")
    path
  }

  private def optimizeFirst(path: String): Unit =
    spark.sql(s"OPTIMIZE delta.`$path` WHERE p = 0 ZORDER BY (id, x)").collect(): Unit

  test("the first manifests, of which Delta has written some, are all written") {
    val path = firstManifests("first", 6)
    assert(failing(ThrowingLogStore.before(lost).copy(ofFile =
      IsManifest))(optimizeFirst(path)).isEmpty)
    assert(inManifest(path) === liveFiles(path))
  }

  test("the first manifests are of the newest version, whichever partitions others write to") {
    val path = firstManifests("first-overtaken", 2)
    val other = meanwhile(insert(path, "(-1L, 0, 1)"))
    val first = ThrowingLogStore.after(lost).copy(act = (lines, write) => {
      write(lines)
      ThrowingLogStore.instead.set(Some(other))
      throw lost
    })
    assert(failing(first)(optimizeFirst(path)).isEmpty)
    assert(version(path) === 3)
    assert(inManifest(path) === liveFiles(path))
  }

  private def append(path: String): Unit =
    spark.range(3000, 3300, 1, 3).selectExpr("id", "hash(id) AS x", "0L AS p")
      .write.format("delta").mode("append").save(path)

  private def lastOperation(path: String): String =
    spark.sql(s"DESCRIBE HISTORY delta.`$path` LIMIT 1").head().getAs[String]("operation")

  for {
    by <- Seq("ZCube", "Delta")
    write <- Seq("append", "INSERT", "stream")
  } test(s"after a write that $by compacts, the manifest is of the newest version: $write") {
    val path = tableWithManifest(s"auto-$by-$write")
    if (by == "ZCube") optimize(path)
    withSettings(AutoCompact -> "true", FewestFiles -> "2") {
      write match {
        case "append" => append(path)
        case "INSERT" =>
          spark.sql(
            s"INSERT INTO delta.`$path` SELECT /*+ REPARTITION(3) */ id, 0, 0 FROM range(9)")
        case "stream" =>
          spark.readStream.format("delta").load(table(s"source-$by")).repartition(3)
            .writeStream.format("delta").trigger(Trigger.AvailableNow())
            .option("checkpointLocation", s"$path/_checkpoints").start(path).awaitTermination()
      }
    }
    assert(lastOperation(path) === "OPTIMIZE")
    assert(inManifest(path) === liveFiles(path))
  }

  test("a manifest that fails after a write is reported as by Delta, after auto compaction") {
    for (enabled <- Seq(true, false)) {
      val path = tableWithManifest(s"auto-failing-$enabled")
      optimize(path)
      lazy val always: ThrowingLogStore.Fault = ThrowingLogStore.Fault(
        (_, _) => {
          ThrowingLogStore.instead.set(Some(always))
          throw lost
        },
        IsManifest)
      ThrowingLogStore.instead.set(Some(always))
      val error =
        try withSettings(
            "spark.zcube.enabled" -> enabled.toString,
            AutoCompact -> "true",
            FewestFiles -> "2")(Caught(append(path)).failed.toOption)
        finally ThrowingLogStore.instead.set(None)
      assert(conditionOf(error) === Some("DELTA_POST_COMMIT_HOOK_FAILED"), enabled)
      assert(lastOperation(path) === "OPTIMIZE", enabled)
    }
  }

  test("a write to a table with an auto compaction that Delta doesn't know succeeds") {
    val path = tableWithManifest("auto-unknown")
    // As another system writes it; Delta's own ALTER TABLE refuses the value.
    val log = DeltaLog.forTable(spark, path)
    val now = log.update()
    val metadata = now.metadata.copy(configuration =
      now.metadata.configuration + ("delta.autoOptimize.autoCompact" -> "legacy"))
    log.store.write(
      FileNames.unsafeDeltaFile(log.logPath, now.version + 1),
      Iterator(metadata.json),
      overwrite = false,
      log.newDeltaHadoopConf())
    DeltaLog.clearCache()
    append(path)
    assert(inManifest(path) === liveFiles(path))
  }

  test("a commit without files writes no manifests") {
    val path = firstManifests("no-files", 1)
    withSettings(AutoCompact -> "true") {
      spark.sql(s"DELETE FROM delta.`$path` WHERE id = -7")
      spark.sql(s"ALTER TABLE delta.`$path` ADD CONSTRAINT c CHECK (id > -100)")
    }
    assert(!Files.exists(Paths.get(path, "_symlink_format_manifest")))
  }
}

object SymlinkManifestSuite {
  private val IsManifest: String => Boolean = _ == "manifest"
  private val On = "'delta.compatibility.symlinkFormatManifest.enabled' = true"
  private val AutoCompact = "spark.databricks.delta.autoCompact.enabled"
  private val FewestFiles = "spark.databricks.delta.autoCompact.minNumFiles"
}
