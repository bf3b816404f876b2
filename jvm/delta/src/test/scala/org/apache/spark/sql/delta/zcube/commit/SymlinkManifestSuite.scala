package org.apache.spark.sql.delta.zcube.commit

import java.nio.file.{Files, Path => LocalPath, Paths}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.delta.zcube.ThrowingLogStore
import org.apache.spark.sql.delta.zcube.auto.ManifestHook
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.concurrent.{Caught, Causes}

/** Readers without a Delta reader read what a table's symlink manifests name. */
class SymlinkManifestSuite extends AnyFunSuite with CommitFaults {
  import SymlinkManifestSuite._

  private def tableWithManifest(name: String, partitions: Int = 1): String = {
    val path = table(name, partitions)
    spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ($On)")
    spark.sql(s"GENERATE symlink_format_manifest FOR TABLE delta.`$path`")
    path
  }

  private def manifests(path: String, partition: String = ""): Seq[LocalPath] =
    walk(Paths.get(path, "_symlink_format_manifest"))
      .filter(f => f.getFileName.toString == "manifest" && f.toString.contains(partition))

  private def namesIn(manifests: Seq[LocalPath]): Set[String] =
    manifests.flatMap(Files.readAllLines(_).asScala).map(_.split('/').last).toSet

  /** The names of the files that the manifests show to other readers. */
  private def inManifest(path: String): Set[String] = namesIn(manifests(path))

  private def logFile(path: String, version: Long): Path =
    FileNames.unsafeDeltaFile(DeltaLog.forTable(spark, path).logPath, version)

  /** As another system sets it: Delta's own ALTER TABLE refuses some values. */
  private def setByOther(path: String, property: String, value: String): Unit = {
    val log = DeltaLog.forTable(spark, path)
    val now = log.update()
    val metadata =
      now.metadata.copy(configuration = now.metadata.configuration + (property -> value))
    log.store.write(
      logFile(path, now.version + 1),
      Iterator(metadata.json),
      overwrite = false,
      log.newDeltaHadoopConf())
    DeltaLog.clearCache()
  }

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

  if (Night.all) test("an error of a hook after the commit is not a failure of the commit") {
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

  if (Night.all) test("an interrupted commit whose manifest can't be written says both") {
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
    val conditions = Causes.withSuppressed(error.get).flatMap(e => conditionOf(Some(e)))
    assert(conditions.contains("DELTA_POST_COMMIT_HOOK_FAILED"))
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

  if (Night.all) test("manifests that others overtake each time are reported, and end") {
    val path = tableWithManifest("always-overtaken")
    val before = rows(path)
    val other = meanwhile(insert(path, "(-1L, 0, 0)"))
    val left = new AtomicInteger(10)
    lazy val overtaking: ThrowingLogStore.Fault = other.copy(act = (lines, write) => {
      other.act(lines, write)
      if (left.decrementAndGet() > 0) ThrowingLogStore.instead.set(Some(overtaking))
    })
    val failure = failing(hookFails(overtaking))(optimize(path))
    assert(conditionOf(failure) === Some("DELTA_POST_COMMIT_HOOK_FAILED"))
    assert(Causes.of(failure.get).exists(_.getMessage.contains("each of 10 attempts")))
    // The commit, and an insert in each attempt.
    assert(version(path) === 12)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
    assert(spark.read.format("delta").load(path).count() === before.size + 10)
  }

  for (partitions <- 2 +: Night.only(1)) test(
    s"after a lost answer, the manifests name the new files, partitions: $partitions") {
    val path = tableWithManifest(s"lost-manifest-$partitions", partitions)
    val known = inManifest(path)
    assert(failing(ThrowingLogStore.after(lost))(optimize(path)).isEmpty)
    assert(version(path) === 2)
    assert(inManifest(path) === liveFiles(path))
    assert(inManifest(path).intersect(known).isEmpty)
  }

  if (Night.all) test("manifests of other partitions are left to their writers") {
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

  for ((partition, times) <- Night.only(0 -> 2, 1 -> 1)) test(
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

  if (Night.all) test("the manifests of a table that was partitioned by another column") {
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

  if (Night.all) test("the first manifests, of which Delta has written some, are all written") {
    val path = firstManifests("first", 6)
    assert(failing(ThrowingLogStore.before(lost).copy(ofFile =
      IsManifest))(optimizeFirst(path)).isEmpty)
    assert(inManifest(path) === liveFiles(path))
  }

  if (Night.all)
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
    (by, write) <- ("ZCube" -> "append") +: Night.only(
      "ZCube" -> "stream",
      "ZCube" -> "INSERT",
      "Delta" -> "INSERT",
      "Delta" -> "append",
      "Delta" -> "stream")
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

  private def threeFiles = spark.range(0, 300, 1, 3).selectExpr("id", "hash(id) AS x")

  for {
    (name, write) <- Seq[(String, String => Unit)](
      "CREATE TABLE AS SELECT" -> { table =>
        spark.sql(s"CREATE TABLE $table USING delta CLUSTER BY (id) " +
          s"TBLPROPERTIES ($On) AS SELECT /*+ REPARTITION(3) */ * FROM three_files"): Unit
      },
      "CREATE OR REPLACE TABLE AS SELECT" -> { table =>
        spark.sql(s"CREATE TABLE $table (id BIGINT) USING delta")
        spark.sql(s"CREATE OR REPLACE TABLE $table USING delta CLUSTER BY (id) " +
          s"TBLPROPERTIES ($On) AS SELECT /*+ REPARTITION(3) */ * FROM three_files"): Unit
      },
      "saveAsTable" -> { table =>
        threeFiles.write.format("delta").clusterBy("id")
          .option("delta.compatibility.symlinkFormatManifest.enabled", "true")
          .saveAsTable(table)
      },
      "the first batch of a stream" -> { table =>
        val source = folder.resolve(s"source_$table").toString
        threeFiles.write.format("delta").save(source)
        withSettings(
          "spark.databricks.delta.properties.defaults.compatibility.symlinkFormatManifest.enabled" ->
            "true") {
          spark.readStream.format("delta").load(source).repartition(3)
            .writeStream.format("delta").clusterBy("id").trigger(Trigger.AvailableNow())
            .option("checkpointLocation", s"${source}_checkpoints").toTable(table)
            .awaitTermination(): Unit
        }
      }
    )
    if Night.all
  } test(s"a commit that switches manifests on, and is compacted, writes the newest: $name") {
    threeFiles.createOrReplaceTempView("three_files")
    val table = s"made_by_${name.toLowerCase.replace(' ', '_')}"
    withSettings(AutoCompact -> "true", FewestFiles -> "2")(write(table))
    val path = folder.resolve(s"warehouse/$table").toString
    assert(lastOperation(path) === "OPTIMIZE")
    assert(inManifest(path) === liveFiles(path))
  }

  private def withListing[T](in: String, of: Iterator[FileStatus] => Iterator[FileStatus])(
      body: => T): T = {
    ThrowingLogStore.listing.set(
      Some(ThrowingLogStore.Listing(of, _.exists(_.startsWith(in)))))
    try body
    finally ThrowingLogStore.listing.set(None)
  }

  for {
    (name, listing) <- Night.only[(String, Iterator[FileStatus] => Iterator[FileStatus])](
      "fails" -> (_ => throw refused),
      "is empty" -> (_ => Iterator.empty)
    )
  } test(s"a write that is compacted succeeds, with its manifest, if the log's listing $name") {
    val path = tableWithManifest(s"listing-${name.replace(' ', '-')}")
    val before = rows(path)
    optimize(path)
    withSettings(AutoCompact -> "true", FewestFiles -> "2") {
      withListing(classOf[ManifestHook].getName, listing)(append(path))
    }
    assert(lastOperation(path) === "OPTIMIZE")
    assert(inManifest(path) === liveFiles(path))
    assert(rows(path).size === before.size + 300)
  }

  if (Night.all)
    test("a write succeeds even if another writer maps columns before it is compacted") {
      val path = tableWithManifest("mapped")
      val before = rows(path)
      optimize(path)
      val mapping = ThrowingLogStore.Fault { (lines, write) =>
        // The compaction's own log object is locked.
        DeltaLog.clearCache()
        val other = new Thread(() =>
          spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES " +
            "('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', " +
            "'delta.minWriterVersion' = '5')"): Unit)
        other.start()
        other.join()
        write(lines)
      }
      withSettings(AutoCompact -> "true", FewestFiles -> "2") {
        ThrowingLogStore.instead.set(Some(ThrowingLogStore.Fault { (lines, write) =>
          write(lines)
          ThrowingLogStore.instead.set(Some(mapping))
        }))
        try append(path)
        finally ThrowingLogStore.instead.set(None)
      }
      assert(rows(path).size === before.size + 300)
      assert(DeltaLog.forTable(spark, path).update().metadata.columnMappingMode.name === "name")
    }

  for ((times, name) <- Night.only(1 -> "once", 100 -> "always"))
    test(s"manifests are not written of a version without the commit: listings lag $name") {
      val path = tableWithManifest(s"lagging-$name")
      val left = new AtomicInteger(times)
      val failure = withListing(
        classOf[SymlinkManifest].getName,
        files =>
          if (left.getAndDecrement() <= 0) files
          else files.filterNot(_.getPath.getName.startsWith(f"${2}%020d"))) {
        failing(ThrowingLogStore.after(lost))(optimize(path))
      }
      assert(version(path) === 2)
      if (times == 1) {
        assert(failure.isEmpty)
        assert(inManifest(path) === liveFiles(path))
      } else {
        assert(conditionOf(failure) === Some("DELTA_POST_COMMIT_HOOK_FAILED"))
      }
    }

  test("a property that Delta can't read refuses the commit and leaves no files") {
    val path = table("unreadable-property")
    val before = dataFiles(path)
    setByOther(path, "delta.compatibility.symlinkFormatManifest.enabled", "yes")
    intercept[IllegalArgumentException](optimize(path))
    assert(version(path) === 1)
    assert(dataFiles(path) === before)
  }

  if (Night.all) test("after an interrupt no task writes manifests any more") {
    val path = tableWithManifest("interrupted-hook")
    val caller = Thread.currentThread()
    val ended = new AtomicBoolean(false)
    val slow = ThrowingLogStore.Fault(
      (lines, write) => {
        caller.interrupt()
        // The job of a hook that was interrupted goes on.
        try Thread.sleep(5000)
        finally {
          write(lines)
          ended.set(true)
        }
      },
      IsManifest
    )
    assert(failing(slow)(optimize(path)).exists(_.isInstanceOf[InterruptedException]))
    assert(ended.get)
    assert(version(path) === 2)
    assert(inManifest(path) === liveFiles(path))
  }

  if (Night.all)
    test("a manifest that fails after a write is reported as by Delta, after auto compaction") {
      for (enabled <- true +: Night.only(false)) {
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

  if (Night.all)
    test("a write to a table with an auto compaction that Delta doesn't know succeeds") {
      val path = tableWithManifest("auto-unknown")
      setByOther(path, "delta.autoOptimize.autoCompact", "legacy")
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
