package org.apache.spark.sql.delta.zcube.commit

import java.nio.file.{Files, Paths}
import java.util.ConcurrentModificationException

import scala.util.Try

import io.delta.exceptions.ConcurrentDeleteReadException
import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.zcube.format.{DeltaClusterableTable, DeltaSettings}
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations, Snapshot}
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.plan.{OptimizeOptions, OptimizeTask, RewriteGroup, RewritePlan}
import io.zcube.clustering.run.{LayoutSession, OptimizeRunner, RewriteResult, RunListener, RunResult}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind

/** Which versions a commit is checked against. What must not be lost if it is too few,
  * ClusterableTableContract shows.
  */
class CommitsSincePlanSuite extends AnyFunSuite with DeltaSparkSession {

  private var count = 0

  /** A table of five files, planned at this version. */
  private class Planned {
    count += 1
    val path: String = folder.resolve(s"t$count").toString
    for (file <- 0 until 5) append(file * 10)
    spark.sql(s"ALTER TABLE delta.`$path` " +
      "SET TBLPROPERTIES ('delta.enableDeletionVectors' = true)")
    val log: DeltaLog = DeltaLog.forTable(spark, path)
    val read: Snapshot = log.update()
    val since = new CommitsSincePlan(read, "t", None, path => files.exists(_.path == path))
    val files: IndexedSeq[AddFile] = read.allFiles.collect().sortBy(_.stats).toIndexedSeq

    def append(from: Int): Unit =
      spark.range(from.toLong, from + 10L, 1, 1).write.format("delta").mode("append").save(path)

    def sql(statement: String): Unit =
      spark.sql(statement.replace("THIS", s"delta.`$path`")).collect(): Unit

    def version: Long = log.update().version

    def base(number: Int): Long = since.baseOf(Seq(files(number))).version

    def conflict(number: Int): Option[Throwable] = since.conflictOf(Seq(files(number).path))

    /** A commit of the run, which removes a file. */
    def commit(number: Int, from: Snapshot = since.baseOf(files), isFit: Boolean = false): Unit = {
      val txn = new DeltaTransaction(spark.sparkContext, log, None, from)
      txn.trackFilesRead(Seq(files(number)))
      txn.commit(
        Seq(files(number).removeWithTimestamp(dataChange = false)),
        DeltaOperations.ManualUpdate): Unit
      since.add(txn, _ => isFit)
    }
  }

  test("a check begins after the run's own commits, and after others' that name no file of it") {
    val table = new Planned
    table.commit(0)
    assert(table.base(1) == table.version)
    table.append(100)
    assert(table.base(1) == table.version - 1)
    table.commit(1)
    assert(table.base(2) == table.version)
    table.append(200)
    table.append(300)
    table.commit(2)
    assert(table.base(3) == table.version)
    assert((0 until 5).forall(table.conflict(_).isEmpty))
  }

  for ((vectors, row) <- Seq((false, "id >= 30 AND id < 40"), (true, "id = 33")))
    test(s"a file that others removed is checked from the plan on; deletion vector: $vectors") {
      val table = new Planned
      table.append(100)
      table.sql(s"DELETE FROM THIS WHERE $row")
      // Nobody has read that yet.
      assert(table.conflict(3).isEmpty)
      table.commit(0)
      assert(table.base(1) == table.version && table.base(4) == table.version)
      assert(table.base(3) == table.read.version)
      val conflict = table.conflict(3).get
      assert(conflict.getMessage.contains(s"${table.version - 1}"))
      assert(table.conflict(1).isEmpty && table.conflict(4).isEmpty)
      // It stays so.
      table.commit(1, table.since.baseOf(Seq(table.files(1))))
      assert(table.base(3) == table.read.version && table.base(4) == table.version)
    }

  test("after a change of metadata, a check begins before it until files are known to fit") {
    val table = new Planned
    table.commit(0)
    val before = table.version
    table.sql("DELETE FROM THIS WHERE id >= 30 AND id < 40")
    table.sql("ALTER TABLE THIS SET TBLPROPERTIES ('k' = 'v')")
    // As after the conflict that this is.
    val now = table.log.update()
    table.commit(1, now)
    assert(table.base(2) == before && table.conflict(2).isEmpty)
    table.since.accept(now)
    assert(table.base(2) == now.version)
    assert(table.base(3) == table.read.version && table.conflict(3).isDefined)
    table.commit(2, now)
    assert(table.base(4) == table.version)
    table.since.accept(now)
    assert(table.base(4) == table.version)
  }

  test("a change of metadata that a commit passes is none for others, if files still fit") {
    for (isFit <- Seq(false, true)) {
      val table = new Planned
      table.sql("ALTER TABLE THIS SET TBLPROPERTIES ('k' = 'v')")
      table.commit(0, table.log.update(), isFit)
      assert(table.base(1) == (if (isFit) table.version else table.read.version))
    }
  }

  test("a file that comes back isn't lost, but is checked from the plan on") {
    val table = new Planned
    table.sql("DELETE FROM THIS WHERE id >= 30 AND id < 40")
    table.commit(0)
    assert(table.conflict(3).isDefined)
    table.sql(s"RESTORE TABLE THIS TO VERSION AS OF ${table.read.version}")
    table.commit(1, table.log.update(), isFit = true)
    assert(table.conflict(3).isEmpty)
    assert(table.base(3) == table.read.version && table.base(2) == table.version)
  }

  test("a version that can't be read proves nothing") {
    val table = new Planned
    table.append(100)
    val lost = Paths.get(table.path, "_delta_log", f"${table.version}%020d.json")
    val content = Files.readAllBytes(lost)
    table.append(200)
    val before = table.read.version
    val txn = new DeltaTransaction(spark.sparkContext, table.log, None, table.log.update())
    txn.commit(Nil, DeltaOperations.ManualUpdate): Unit
    Files.delete(lost)
    table.since.add(txn, _ => false)
    assert(table.base(2) == before)
    Files.write(lost, Array.emptyByteArray): Unit
    table.since.add(txn, _ => false)
    assert(table.base(2) == before)
    Files.write(lost, content): Unit
    table.since.add(txn, _ => false)
    assert(table.base(2) == table.version)
  }

  test("if nothing can be committed any more, that is said of every file") {
    val table = new Planned
    val first = new ConcurrentModificationException("first")
    table.since.refuseAll(first)
    table.since.refuseAll(new ConcurrentModificationException("second"))
    assert((0 until 5).forall(table.conflict(_).exists(_ eq first)))
  }

  /** Four partitions, each a commit; others change the table after the first.
    *
    * @param lost   how many rows they delete
    * @param change from the partition of the second group
    */
  private def runAmong(lost: Long = 0)(change: (String, String) => Unit): RunResult = {
    count += 1
    val path = folder.resolve(s"t$count").toString
    spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, x BIGINT, p BIGINT) USING delta " +
      "PARTITIONED BY (p) TBLPROPERTIES " +
      "('delta.enableDeletionVectors' = true, 'delta.enableTypeWidening' = true)")
    for (_ <- 0 until 2)
      spark.range(0, 400, 1, 1).selectExpr("id", "id * 7919 % 101 AS x", "id % 4 AS p")
        .write.format("delta").mode("append").save(path)
    spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN n STRUCT<i: INT, a: ARRAY<INT>>")
    val rows = spark.read.format("delta").load(path).count()
    val session = spark.asInstanceOf[classic.SparkSession]
    val log = DeltaLog.forTable(spark, path)
    val changes = new RunListener {
      private var second: Option[String] = None
      private var commits = 0
      override def planned(plan: RewritePlan): Unit = second = Some(plan.groups(1).partition("p"))
      override def committed(results: Seq[RewriteResult]): Unit = {
        commits += 1
        if (commits == 1) change(s"delta.`$path`", second.get)
      }
      override def dropped(groups: Seq[RewriteGroup]): Unit = ()
    }
    val outcome = Try(withSettings(
      "spark.databricks.delta.optimize.maxThreads" -> "1",
      "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold" -> "1") {
      Sessions.within(session) {
        val version = new DeltaClusterableTable(log, None).latest()
        val task = OptimizeTask.of(
          session,
          version,
          WhereClause.Everything,
          Seq("id", "x").map(name => version.column(Seq(name), _ == _).get),
          declared = false,
          isFull = false,
          OptimizeOptions.of(Nil, LayoutKind.KdTree),
          DeltaSettings.of(session.sessionState.conf, DeltaOptimizeContext())
        )
        val result =
          new OptimizeRunner(LayoutSession.cloneOf(session, version), task, Seq(changes)).run()
        assert(result.outcomes.size == 4)
        result
      }
    })
    // As another process sees the table.
    DeltaLog.clearCache()
    assert(spark.read.format("delta").load(path).count() == rows - lost)
    outcome.get
  }

  /** Removes the newest version from the log, as it is removed once it is old, after a later checkpoint. */
  private def forgetNewest(table: String): Unit = {
    val log = DeltaLog.forTable(spark, table.stripPrefix("delta.`").stripSuffix("`"))
    val newest = log.update().version
    spark.sql(s"ALTER TABLE $table SET TBLPROPERTIES ('k' = 'v')")
    log.checkpoint(log.update())
    Files.delete(Paths.get(log.logPath.toUri).resolve(f"$newest%020d.json"))
  }

  test("a protocol that grows, which Delta tolerates, drops only the group of a real conflict") {
    val result = runAmong(lost = 2) { (table, partition) =>
      spark.sql(
        s"ALTER TABLE $table SET TBLPROPERTIES ('delta.feature.vacuumProtocolCheck' = 'supported')")
      spark.sql(s"DELETE FROM $table WHERE p = $partition AND id < 4").collect(): Unit
    }
    assert(result.committed.size == 3 && result.conflicts.size == 1)
    assert(result.conflicts.head.isInstanceOf[ConcurrentDeleteReadException])
  }

  for (change <- Seq(
      "SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
      "ALTER COLUMN n.i TYPE BIGINT",
      "ALTER COLUMN n.a.element TYPE BIGINT"))
    test(s"after a change that the files of the plan don't fit, no group is written: $change") {
      val result = runAmong()((table, _) => spark.sql(s"ALTER TABLE $table $change"): Unit)
      assert(result.committed.size == 1 && result.conflicts.size == 3)
      // The conflict of the one that tried.
      assert(result.conflicts.forall(_ eq result.conflicts.head))
    }

  for (change <- Seq("ADD COLUMN n.j INT", "ADD COLUMN m INT", "SET TBLPROPERTIES ('k' = 'v')"))
    test(s"a change that they fit holds up no group: $change") {
      val result = runAmong()((table, _) => spark.sql(s"ALTER TABLE $table $change"): Unit)
      assert(result.committed.size == 4 && result.conflicts.isEmpty)
    }

  test(
    "files that have a column that RESTORE took away aren't committed: it may come back as another") {
    val result =
      runAmong()((table, _) => spark.sql(s"RESTORE $table TO VERSION AS OF 2").collect(): Unit)
    assert(result.committed.size == 1 && result.conflicts.size == 3)
  }

  test("where the log no longer has what others did, nothing is committed that they touched") {
    val result = runAmong(lost = 2) { (table, partition) =>
      spark.sql(s"DELETE FROM $table WHERE p = $partition AND id < 4").collect(): Unit
      forgetNewest(table)
    }
    assert(result.committed.size == 3 && result.conflicts.size == 1)
    assert(result.conflicts.head.isInstanceOf[ConcurrentDeleteReadException])
  }

  test("what others didn't touch is committed, though the log no longer has what they did") {
    val result = runAmong(lost = -1) { (table, _) =>
      spark.sql(s"INSERT INTO $table (id, x, p) VALUES (1, 1, 1)").collect(): Unit
      forgetNewest(table)
    }
    assert(result.committed.size == 4 && result.conflicts.isEmpty)
  }
}
