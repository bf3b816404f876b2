package org.apache.spark.sql.delta.zcube.format

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import io.delta.tables.{DeltaTable => DeltaDDL}
import org.apache.commons.io.FileUtils
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.{DeltaSparkSession, ThrowingLogStore}
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.zcube.{Sessions, SparkEvents}

import io.zcube.Night
import io.zcube.clustering.run.{LayoutSession, OptimizePasses}
import io.zcube.clustering.table.{ClusterableTable, ClusterableTableContract, FileSelection, WhereClause}
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeExecutionException

/** Delta tables satisfy the engine's assumptions. */
class DeltaClusterableTableSuite extends ClusterableTableContract with DeltaSparkSession {

  override protected def settings: Map[String, String] =
    Map("spark.delta.logStore.file.impl" -> classOf[ThrowingLogStore].getName)

  override protected def exhaustive: Boolean = Night.all

  private val numbers = new AtomicInteger

  override protected def session: classic.SparkSession =
    spark.asInstanceOf[classic.SparkSession]

  override protected def newTable(partitioned: Boolean): ContractTable = new ContractTable {
    private val path = folder.resolve(s"contract-${numbers.incrementAndGet()}").toString
    private val log = DeltaLog.forTable(spark, path)
    spark.sql(
      s"CREATE TABLE delta.`$path` (id BIGINT, x INT, y BIGINT, p INT) USING delta " +
        (if (partitioned) "PARTITIONED BY (p) " else "") +
        "TBLPROPERTIES ('delta.enableDeletionVectors' = true)")

    override val table: ClusterableTable = new DeltaClusterableTable(log, None)

    override def append(ids: Range): Unit = {
      val rows = ids.map(id => rowOf(id.toLong))
      spark.createDataFrame(rows).toDF("id", "x", "y", "p").coalesce(1)
        .write.format("delta").mode("append").save(path)
    }

    override def delete(id: Long): Unit =
      spark.sql(s"DELETE FROM delta.`$path` WHERE id = $id").collect(): Unit

    override def ids: Seq[Long] =
      spark.read.format("delta").load(path).select("id").collect().map(_.getLong(0)).sorted.toSeq

    override def query: classic.DataFrame = session.read.format("delta").load(path)

    override def liveFiles: Set[String] = log.update().allFiles.collect().map(_.path).toSet

    override def storedFiles: Set[String] = dataFiles(path)

    override def loseNextAnswer(): Unit =
      ThrowingLogStore.instead.set(Some(ThrowingLogStore.after(new IOException("lost"))))

    override def failNextCommit(): Unit =
      ThrowingLogStore.instead.set(Some(ThrowingLogStore.before(new IOException("no way"))))
  }

  /** The number of Spark jobs that the body starts. */
  private def jobsOf(body: => Unit): Int = SparkEvents.jobsOf(session.sparkContext)(body)._2.size

  test("what the log has on files is read once, and only for those that are used") {
    val made = newTable(partitioned = false)
    (0 until 3).foreach(i => made.append(10 * i until 10 * i + 10))
    val version = made.table.latest()
    val clone = LayoutSession.cloneOf(session, version)
    Sessions.within(clone) {
      def files(of: FileSelection) = of.files(None).sortBy(_.path)
      val prepared = version.select(WhereClause.Everything)
      val Seq(first, second, third) = files(prepared)
      val chosen = Seq(first, second)
      assert(jobsOf(prepared.prepare(chosen)) == 1)
      assert(jobsOf(prepared.prepare(chosen)) == 0)
      assert(jobsOf(prepared.begin(clone, chosen).abort()) == 0)
      assert(jobsOf(prepared.scan(clone, chosen): Unit) == 0)
      assert(jobsOf(prepared.begin(clone, Seq(second, third)).abort()) == 1)
      prepared.release(Seq(first, third))
      assert(jobsOf(prepared.prepare(Seq(second))) == 0)
      assert(jobsOf(prepared.prepare(Seq(first, second, third))) == 1)
      val unprepared = version.select(WhereClause.Everything)
      val same = files(unprepared).take(2)
      assert(jobsOf(unprepared.begin(clone, same).abort()) == 1)
      val rows = Seq(prepared, unprepared).map { selection =>
        Sessions.rowsOf(clone, selection.scan(clone, same).plan).collect().map(_.getLong(0)).toSet
      }
      assert(rows.head == rows.last && rows.head.size == 20)
    }
  }

  test("rows of files with the same name in several folders have different positions") {
    val path = folder.resolve("same names")
    spark.range(0, 1000, 1, 1).selectExpr("concat('a b%', id % 4) p", "id x")
      .sortWithinPartitions("p", "x").write.partitionBy("p").parquet(path.toString)
    spark.sql(s"CONVERT TO DELTA parquet.`$path` PARTITIONED BY (p STRING)")
    val copy = folder.resolve("a copy, 100% like it")
    FileUtils.copyDirectory(path.toFile, copy.toFile)
    val Seq(found, copied) = Seq(path, copy).map { folder =>
      val version =
        new DeltaClusterableTable(DeltaLog.forTable(spark, folder.toString), None).latest()
      val clone = LayoutSession.cloneOf(session, version)
      Sessions.within(clone) {
        val selection = version.select(WhereClause.Everything)
        val scan = selection.scan(clone, selection.files(None))
        val read = Sessions.rowsOf(clone, Project(scan.position ++ scan.columns, scan.plan))
        read.collect().map(row => (row.getString(0), row.getLong(1)) -> row.getAs[Long]("x")).toMap
      }
    }
    assert(found.size == 1000 && found.keys.map(_._1).toSet.size == 4)
    assert(copied == found)
  }

  test("a file that WHERE excludes, or of another table, is refused") {
    val made = newTable(partitioned = true)
    made.append(0 until 10)
    val version = made.table.latest()
    val clone = LayoutSession.cloneOf(session, version)
    def refused(selection: FileSelection, file: DataFile): Unit = {
      val scanned = intercept[ZCubeExecutionException](selection.scan(clone, Seq(file)))
      assert(scanned.getMessage.contains(s"${file.path} is not of this selection"))
      intercept[ZCubeExecutionException](selection.begin(clone, Seq(file))): Unit
    }
    Sessions.within(clone) {
      val everything = version.select(WhereClause.Everything)
      val all = everything.files(None)
      refused(everything, all.head.copy(path = "part-of-another-table.parquet"))
      val p = AttributeReference("p", IntegerType)()
      val one = Seq(EqualTo(p, Literal(0)))
      val selection = version.select(WhereClause(one, one))
      val selected = selection.files(None).map(_.path).toSet
      val (within, without) = all.partition(file => selected(file.path))
      assert(within.nonEmpty && without.nonEmpty)
      without.foreach(refused(selection, _))
      selection.begin(clone, within).abort()
    }
  }

  test("new values of an identity column leave the columns as they are; other columns don't") {
    val path = folder.resolve(s"identity-${numbers.incrementAndGet()}").toString
    DeltaDDL.create(spark).location(path)
      .addColumn("x", "INT")
      .addColumn(DeltaDDL.columnBuilder(spark, "number").dataType("BIGINT")
        .generatedAlwaysAsIdentity(1L, 1L).build())
      .property("delta.columnMapping.mode", "name").execute()
    val table = new DeltaClusterableTable(DeltaLog.forTable(spark, path), None)
    def latest() = Sessions.within(session)(table.latest())
    def changed(statement: String) = {
      val before = latest()
      spark.sql(statement.replace("THIS", s"delta.`$path`")).collect()
      val after = latest()
      assert(before.schema != after.schema)
      val x = before.column(Seq("x"), _ == _).toSeq
      !Sessions.within(session)(OptimizePasses.isSame(before, after, x, _ == _))
    }
    assert(!changed("INSERT INTO THIS (x) VALUES (1), (2)"))
    assert(!changed("ALTER TABLE THIS ALTER COLUMN x COMMENT 'some'"))
    assert(changed("ALTER TABLE THIS ADD COLUMN y INT"))
    assert(changed("ALTER TABLE THIS RENAME COLUMN x TO z"))
    val x = latest()
    spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN y TO x")
    val before = latest()
    Seq("DROP COLUMN x", "ADD COLUMN x INT").foreach(change =>
      spark.sql(s"ALTER TABLE delta.`$path` $change"))
    // Of the same name and type.
    val column = before.column(Seq("x"), _ == _).toSeq
    assert(column.nonEmpty && x.column(Seq("x"), _ == _).isEmpty)
    Sessions.within(session)(
      assert(!OptimizePasses.isSame(before, latest(), column, _ == _)))
  }
}
