package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, CreateArray, EqualTo, Explode, Literal}
import org.apache.spark.sql.catalyst.plans.FullOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor, FileAction}
import org.apache.spark.sql.delta.zcube.table.LastLayout
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations}
import org.apache.spark.sql.functions.input_file_name
import org.apache.spark.sql.types.{LongType, MetadataBuilder}
import org.apache.spark.sql.zcube.SparkEvents
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Files that a MERGE without deletion vectors copies stay in their cubes. */
class CopiedFilesSuite extends AnyFunSuite with KeyedTables {
  import CopiedFilesSuite._

  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.files.openCostInBytes" -> "0")

  private def filesOf(path: String): Seq[AddFile] =
    DeltaLog.forTable(spark, path).update().allFiles.collect().toSeq

  private def cubeOf(file: AddFile): Option[String] =
    Option(file.tags).flatMap(_.get(AddFile.tag(AddFile.Tags.ZCUBE_ID)))

  /** Without what each file has of its own, and what its copies have besides. */
  private def tagsOf(file: AddFile): (Map[String, String], Option[String]) =
    (Option(file.tags).getOrElse(Map.empty) -- OfFile, file.clusteringProvider)

  private lazy val size = filesOf(withoutVectors).map(_.size).sum / 6

  /** How many files an OPTIMIZE rewrites. */
  private def rewritten(path: String, by: String): Long =
    spark.sql(s"OPTIMIZE delta.`$path` $by OPTIONS ('maxFileSize' = '$size')")
      .select("metrics.numFilesRemoved").head().getLong(0)

  /** A copy of a table, whose files are a cube. */
  private def clustered(table: String, by: String): String = {
    val path = copyOf(table)
    assert(rewritten(path, by) > 0)
    val files = filesOf(path)
    val cubes = files.flatMap(cubeOf).distinct
    assert(files.size >= 6 && cubes.size == files.map(_.partitionValues).distinct.size)
    path
  }

  private lazy val ordered = clustered(withoutVectors, ZOrder)

  private def laidOut(layout: String): String =
    table("BIGINT", "id", vectors = false, layout = layout)

  /** Compares a MERGE with Delta's, and shows that what it copies stays in its cube, and nothing else. */
  private def keeps(path: String, by: String, source: String = Scattered): Assertion = {
    assert(isSaid(SplitOuterJoinSuite.Copied, path, source, "t.k = s.k", Upsert))
    val before = filesOf(path)
    val merged = copyOf(path)
    merge(source, "t.k = s.k", Upsert)(merged)
    val (kept, fresh) = filesOf(merged).partition(cubeOf(_).isDefined)
    assert(kept.map(tagsOf).toSet == before.map(tagsOf).toSet)
    // Each with most rows of one that it replaces.
    assert(kept.size == before.size)
    def origins(of: Seq[AddFile])(rows: AddFile => Long, time: AddFile => Long) =
      of.map(file => (rows(file), time(file))).sorted
    assert(origins(kept)(_.tags(ClusteredRows).toLong, _.tags(ClusteredTime).toLong) ==
      origins(before)(_.numLogicalRecords.get, _.modificationTime))
    assert(kept.map(_.path).toSet.intersect(before.map(_.path).toSet).isEmpty)
    val changed = spark.read.format("delta").load(merged).where("v = 'new'")
    assert(changed.count() == 30 && fresh.flatMap(_.numLogicalRecords).sum == 30)
    val names = changed.select(input_file_name()).distinct().collect().map(_.getString(0))
    assert(names.forall(name => fresh.exists(file => name.endsWith(file.path))))
    val rows = rowsOf(merged)
    assert(rewritten(merged, by) == fresh.size)
    assert(rowsOf(merged) == rows)
  }

  test("what is copied stays in its cube, what is changed doesn't") {
    keeps(ordered, ZOrder)
  }

  test("so it does in a clustered table") {
    val table = laidOut("CLUSTER BY (id, k)")
    val path = clustered(table, "")
    assert(filesOf(path).forall(_.clusteringProvider.isDefined))
    keeps(path, "")
  }

  private val Partitioned = "PARTITIONED BY (p)"

  test("so it does in a table with partitions, where only changed rows are shuffled") {
    val path = clustered(laidOut(Partitioned), ZOrder)
    withSettings("spark.sql.planChangeValidation" -> "true")(keeps(path, ZOrder))
    // Delta shuffles all of them for the join, too.
    assert(shuffled(path, Upsert, isPruned = false) > 1200)
    assert(shuffled(path, Upsert, isPruned = true) < 200)
    // Of each partition, the changed rows are in one file, though several tasks join them.
    withSettings(
      "spark.sql.shuffle.partitions" -> "7",
      "spark.sql.adaptive.enabled" -> "false")(merge(Scattered, "t.k = s.k", Upsert)(path))
    val fresh = filesOf(path).filter(cubeOf(_).isEmpty).map(_.partitionValues("p"))
    assert(fresh.sortBy(Option(_)) == Seq(null, "0", "1"))
  }

  test("so it does with change rows and row ids of rows that change their partition") {
    val path = clustered(
      table(
        "BIGINT",
        "id",
        Seq(
          "'delta.enableChangeDataFeed' = 'true'",
          "'delta.enableRowTracking' = 'true'",
          "'delta.columnMapping.mode' = 'name'"),
        vectors = false,
        layout = Partitioned
      ),
      ZOrder
    )
    val clauses =
      "WHEN MATCHED AND s.k > 400 THEN DELETE WHEN MATCHED THEN UPDATE SET p = 1 - t.p, v = s.v " +
        "WHEN NOT MATCHED AND s.k < 800 THEN INSERT (k, p, v) VALUES (s.k, s.k DIV 100, s.v)"
    withSettings("spark.sql.planChangeValidation" -> "true")(
      assert(isSaid(SplitOuterJoinSuite.Copied, path, Scattered, "t.k = s.k", clauses)))
    val before = filesOf(path)
    merge(Scattered, "t.k = s.k", clauses)(path)
    val (kept, fresh) = filesOf(path).partition(cubeOf(_).isDefined)
    assert(kept.map(tagsOf).toSet == before.map(tagsOf).toSet && kept.size == before.size)
    assert(fresh.map(_.partitionValues.values.head).sorted == Seq("0", "1", "6", "7"))
  }

  private val Update = "WHEN MATCHED THEN UPDATE SET v = s.v"

  private val UpdateOrDelete = s"WHEN MATCHED AND t.id % 2 = 0 THEN DELETE $Update"

  /** Compares a MERGE without WHEN NOT MATCHED with Delta's, and shows that all files stay in their cubes. */
  private def staysWhole(
      path: String,
      by: String,
      clauses: String = UpdateOrDelete): Assertion = {
    assert(isSaid(ByFile, path, Scattered, "t.k = s.k", clauses))
    val before = filesOf(path)
    val merged = copyOf(path)
    merge(Scattered, "t.k = s.k", clauses)(merged)
    val after = filesOf(merged)
    assert(after.map(tagsOf).sortBy(_.toString) == before.map(tagsOf).sortBy(_.toString))
    assert(after.map(_.partitionValues).groupBy(identity) ==
      before.map(_.partitionValues).groupBy(identity))
    assert(after.map(_.path).intersect(before.map(_.path)).isEmpty)
    assert(after.flatMap(_.numLogicalRecords).sum == rowsOf(merged).size)
    assert(rewritten(merged, by) == 0)
  }

  for (layout <- Seq("", Partitioned)) {
    val where = if (layout.isEmpty) "" else ", in a table with partitions, too"

    test(s"with only WHEN MATCHED, whole files stay in their cubes$where") {
      val path = clustered(laidOut(layout), ZOrder)
      withSettings("spark.sql.planChangeValidation" -> "true")(staysWhole(path, ZOrder))
      withSettings("spark.sql.adaptive.enabled" -> "true", "spark.sql.shuffle.partitions" -> "7")(
        staysWhole(path, ZOrder, Update))
      // Rows that change their ranges take their files along.
      val source = "SELECT id AS k FROM range(599)"
      val far = "WHEN MATCHED AND t.id = 7 THEN UPDATE SET id = 599"
      assert(isSaid(ByFile, path, source, "t.id = s.k AND t.k < 300", far))
      merge(source, "t.id = s.k AND t.k < 300", far)(path)
      val (kept, fresh) = filesOf(path).partition(cubeOf(_).isDefined)
      assert(fresh.size == 1 && kept.size >= 5)
    }

    test(s"so they do with row ids and stored names, in a clustered table$where") {
      val path = clustered(
        table(
          "BIGINT",
          "id",
          Seq("'delta.enableRowTracking' = 'true'", "'delta.columnMapping.mode' = 'name'"),
          vectors = false,
          layout = if (layout.isEmpty) "CLUSTER BY (id, k)" else layout
        ),
        if (layout.isEmpty) "" else ZOrder
      )
      staysWhole(path, if (layout.isEmpty) "" else ZOrder)
      def ids(isPruned: Boolean): Seq[String] = {
        val copy = copyOf(path)
        withSettings("spark.zcube.mergeInto.pruning" -> isPruned.toString)(
          merge(Scattered, "t.k = s.k", UpdateOrDelete)(copy))
        spark.read.format("delta").load(copy)
          .selectExpr("id", "v", "_metadata.row_id", "_metadata.row_commit_version")
          .collect().map(_.toString).toSeq.sorted
      }
      assert(ids(isPruned = true) == ids(isPruned = false))
    }
  }

  test("with change rows, whole files stay in their cubes unless the table has partitions") {
    for (layout <- Seq("", Partitioned)) {
      val path = clustered(
        table(
          "BIGINT",
          "id",
          Seq("'delta.enableChangeDataFeed' = 'true'"),
          vectors = false,
          layout = layout),
        ZOrder)
      if (layout.isEmpty) staysWhole(path, ZOrder)
      else assert(!isSaid(ByFile, path, Scattered, "t.k = s.k", UpdateOrDelete))
    }
  }

  test("rows are shuffled by partition where they change it, or the source isn't broadcast") {
    val path = clustered(laidOut(Partitioned), ZOrder)
    assert(shuffled(path, Update, isPruned = true) < 200)
    assert(shuffled(path, Update, isPruned = false) > 500)
    val moves = "WHEN MATCHED THEN UPDATE SET v = s.v, p = t.p + 1"
    assert(shuffled(path, moves, isPruned = true) > 500)
    assert(!isSaid(ByFile, path, Scattered, "t.k = s.k", moves))
    // Set to what it is.
    staysWhole(path, ZOrder, "WHEN MATCHED THEN UPDATE SET v = s.v, p = t.p")
    // ON says that it is the same.
    val both = Scattered.replace("id * 29 AS k", "id * 29 AS k, CAST(id % 2 AS INT) AS p")
    val all = "WHEN MATCHED THEN UPDATE SET v = s.v, p = s.p"
    assert(isSaid(ByFile, path, both, "t.k = s.k AND s.p <=> t.p", all))
    assert(!isSaid(ByFile, path, both, "t.k = s.k", all))
    // Spark knows the size of a shuffled source only when it has run.
    val read = s"SELECT * FROM delta.`$scattered`"
    assert(isSaid(ByFile, path, s"$read WHERE k >= 0", "t.k = s.k", Update))
    assert(!isSaid(ByFile, path, read.replace("*", "DISTINCT *"), "t.k = s.k", Update))
    for (setting <- Seq("-1", "10"))
      withSettings("spark.sql.autoBroadcastJoinThreshold" -> setting) {
        assert(!isSaid(ByFile, path, Scattered, "t.k = s.k", Update))
        val hinted = s"SELECT /*+ BROADCAST(b) */ * FROM ($Scattered) b"
        assert(isSaid(ByFile, path, hinted, "t.k = s.k", Update), setting)
      }
  }

  test("a file of rows that were shuffled isn't in its cube, though it has the ranges of one") {
    val path = copyOf(laidOut(Partitioned))
    spark.sql(s"OPTIMIZE delta.`$path` $ZOrder").collect()
    assert(filesOf(path).size == 2 && filesOf(path).forall(cubeOf(_).isDefined))
    def cubes(threshold: Int): Int = {
      val merged = copyOf(path)
      withSettings("spark.sql.autoBroadcastJoinThreshold" -> threshold.toString)(
        merge(Scattered, "t.k = s.k", Update)(merged))
      assert(filesOf(merged).size == 2)
      filesOf(merged).count(cubeOf(_).isDefined)
    }
    assert(cubes(-1) == 0 && cubes(40000) == 2)
  }

  test("rows are shuffled where Spark can't hash a key, whatever is broadcast") {
    val key = "STRING COLLATE UTF8_LCASE"
    val source = "SELECT concat('k', id * 29) COLLATE UTF8_LCASE AS k, id * 29 AS n, 'new' AS v " +
      "FROM range(30)"
    withSettings("spark.databricks.delta.schema.typeCheck.enabled" -> "false") {
      val path = clustered(
        table(key, "concat('K', id)", vectors = false, layout = Partitioned),
        "ZORDER BY (id)")
      assert(!isSaid(ByFile, path, source, "t.id = s.n AND trim(t.k) = s.k", Update))
      assert(isSaid(ByFile, path, source, "t.id = s.n AND s.v = 'new'", Update))
    }
  }

  test("of whole files, few may be small ones outside cubes, and it is no matter if that fails") {
    val MB = 1L << 20
    val snapshot = DeltaLog.forTable(spark, ordered).update()
    val plan =
      snapshot.deltaLog.createDataFrame(snapshot, filesOf(ordered)).queryExecution.optimizedPlan
    def files(sizes: Seq[Long], partitions: Int) = sizes.zipWithIndex.map { case (size, i) =>
      file(s"$size-$i", 1)
        .copy(size = size * MB, partitionValues = Map("p" -> (i % partitions).toString))
    }
    val byFile = new FileByFile(spark.asInstanceOf[SparkSession], new MergeLog("t"))
    def isWhole(
        sizes: Seq[Long],
        partitions: Int = 1,
        mayStay: AddFile => Boolean = _.size > 20 * MB) = {
      val made = byFile.planOf(files(sizes, partitions), mayStay)(plan)
      assert((made eq plan) != FileByFile.of(made).isDefined)
      !byFile.isUsed && FileByFile.of(made).isDefined
    }
    withSettings("spark.sql.files.openCostInBytes" -> "4m") {
      val large = Seq.fill(30)(100L)
      assert(isWhole(large) && isWhole(large ++ Seq.fill(9)(20L)))
      assert(isWhole(large ++ Seq.fill(4)(1L)) && !isWhole(large ++ Seq.fill(5)(1L)))
      assert(isWhole(large ++ Seq.fill(8)(1L), partitions = 5))
      assert(!isWhole(large ++ Seq.fill(9)(1L), partitions = 5))
      assert(!isWhole(large, mayStay = _ => false))
      assert(!isWhole(large, mayStay = _ => throw new IllegalStateException("no columns")))
    }
    byFile.close()
  }

  test("without WHEN NOT MATCHED, too, files are left to Delta where that costs less") {
    for (setting <- Seq(
        "spark.sql.files.openCostInBytes" -> (size / 3).toString,
        "spark.zcube.mergeInto.minTableBytes" -> "1g",
        "spark.databricks.delta.optimizeWrite.enabled" -> "true",
        "spark.databricks.delta.merge.optimizeMatchedOnlyMerge.enabled" -> "false"
      )) withSettings(setting)(
      assert(!isSaid(ByFile, ordered, Scattered, "t.k = s.k", Update), setting))
    assert(!isSaid(ByFile, withoutVectors, Scattered, "t.k = s.k", Update))
  }

  test("files that aren't of a cube are put together, as Delta does") {
    val path = clustered(laidOut(Partitioned), ZOrder)
    val before = filesOf(path)
    // Of the rows of each earlier MERGE, two: each of its new files has one, and others.
    for (round <- 1 to 6) {
      val source = s"SELECT id * 29 + $round AS k, 'of $round' AS v FROM range(20) UNION ALL " +
        s"SELECT id % 2 * 29 + id DIV 2 AS k, 'again' AS v FROM range(2, 2 * $round)"
      merge(source, "t.k = s.k", Upsert)(path)
      val (kept, fresh) = filesOf(path).partition(cubeOf(_).isDefined)
      // One in each partition.
      assert(kept.size == before.size && fresh.size == 2, round)
      assert(fresh.flatMap(_.numLogicalRecords).sum == 20 * round)
    }
    compared(path)(merge(Scattered, "t.k = s.k", Upsert))
  }

  test("deleted rows stay so, and rows keep their ids, in files of cubes and in others") {
    for (layout <- Seq("", Partitioned)) {
      val path = clustered(
        table("BIGINT", "id", Seq("'delta.enableRowTracking' = 'true'"), layout = layout),
        ZOrder)
      merge(Scattered, "t.k = s.k", Upsert)(path)
      spark.sql(s"DELETE FROM delta.`$path` WHERE k % 7 = 1").collect()
      val (cube, others) = filesOf(path).partition(cubeOf(_).isDefined)
      assert(cube.forall(_.deletionVector != null) && others.exists(_.deletionVector != null))
      spark.sql(
        s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')")
      val source = "SELECT k, 'last' AS v FROM " +
        "(SELECT id * 31 AS k FROM range(40) UNION SELECT id * 58 AS k FROM range(15))"
      def merged(isPruned: Boolean): (Seq[String], Seq[AddFile]) = {
        val copy = copyOf(path)
        withSettings("spark.zcube.mergeInto.pruning" -> isPruned.toString)(
          merge(source, "t.k = s.k", Upsert)(copy))
        // Ids of new rows depend on the order of files.
        val rows = spark.read.format("delta").load(copy)
          .selectExpr(
            "*",
            "CASE WHEN v != 'last' OR id IS NOT NULL THEN _metadata.row_id END",
            "_metadata.row_commit_version")
        (rows.collect().map(_.toString).toSeq.sorted, filesOf(copy))
      }
      val ((rows, files), (ofDelta, _)) = (merged(isPruned = true), merged(isPruned = false))
      assert(rows.size > 500 && rows == ofDelta)
      val (copies, fresh) = files.partition(cubeOf(_).isDefined)
      assert(copies.size == cube.size && copies.forall(_.deletionVector == null))
      assert(others.map(_.path).diff(fresh.map(_.path)).nonEmpty)
    }
  }

  test(
    "files are copied file by file only if what is between them and a shuffle leaves rows alone") {
    val session = spark.asInstanceOf[SparkSession]
    val snapshot = DeltaLog.forTable(spark, ordered).update()
    val files = filesOf(ordered)
    val source = spark.range(9).toDF("s").queryExecution.analyzed
    def isUsed(between: LogicalPlan => LogicalPlan): Boolean = {
      val byFile = new FileByFile(session, new MergeLog("t"))
      try {
        val scan = byFile.scanOf(files, _ => true)
        assert(scan.isDefined)
        val target =
          snapshot.deltaLog.createDataFrame(snapshot, files).queryExecution.optimizedPlan
        val on = EqualTo(target.output(1), source.output.head)
        val rows = TargetWithKeys(target, source, on, "t", scan)
        val join = Join(source, rows, FullOuter, Some(on), JoinHint.NONE)
        val below = between(join)
        val plan = SplitOuterJoin(RepartitionByExpression(below.output.take(1), below, None))
        assert(plan.resolved && plan.collect { case rows: TargetWithKeys => rows }.isEmpty)
        assert(plan.collect { case node if node.missingInput.nonEmpty => node }.isEmpty)
        assert(plan.isInstanceOf[Union] == byFile.isUsed)
        if (byFile.isUsed) {
          assert(plan.children.combinations(2).forall { two =>
            two.head.outputSet.intersect(two.last.outputSet).isEmpty
          })
          assert(plan.children.map(_.output.map(_.metadata)).distinct.size == 1)
        }
        byFile.isUsed
      } finally byFile.close()
    }
    assert(isUsed(identity) && isUsed { rows =>
      Project(rows.output, Filter(EqualTo(rows.output.head, Literal(1L)), rows))
    })
    // What they make has ids of its own, in a union.
    val metadata = new MetadataBuilder().putString("a", "b").build()
    assert(isUsed { rows =>
      val each = Explode(CreateArray(Seq(rows.output.head, rows.output(1))))
      val made = AttributeReference("each", LongType)()
      val exploded = Generate(each, Nil, outer = false, None, Seq(made), rows)
      Project(Seq(made, Alias(made, "twice")(explicitMetadata = Some(metadata))), exploded)
    })
    assert(!isUsed(Distinct(_)) && !isUsed(rows =>
      Project(rows.output, LocalLimit(Literal(9), rows))))
  }

  test("rows are in their partitions, whatever these are called and however tasks write") {
    val path = create(
      "(id BIGINT, k BIGINT, v STRING, p STRING, t TIMESTAMP) USING delta " +
        "PARTITIONED BY (p, t) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
      4,
      "id"
    )(
      "id",
      "id AS k",
      "concat_ws(' ', md5(CAST(id AS STRING)), sha2(CAST(id AS STRING), 512)) AS v",
      "element_at(array('', NULL, '%2F = /', 'é'), CAST(id % 2 * 2 + id % 200 DIV 100 + 1 AS INT)) AS p",
      "IF(id % 4 < 2, NULL, timestamp_millis(id % 4)) AS t"
    )
    assert(rewritten(path, ZOrder) > 0)
    val before = filesOf(path)
    def partitions(of: Seq[AddFile]) = of.groupMapReduce(_.partitionValues)(_ => 1)(_ + _)
    // Delta writes '' as NULL.
    assert(partitions(before).size == 6)
    val source = "SELECT id * 7 AS k, 'new' AS v FROM range(100)"
    val moves = "WHEN MATCHED THEN UPDATE SET p = 'é', t = if(t.p IS NULL, NULL, t.t) " +
      "WHEN NOT MATCHED THEN INSERT (k, v, p) VALUES (s.k, s.v, '')"
    // Of joined rows, none is left.
    val deletes = "WHEN MATCHED THEN DELETE " +
      "WHEN NOT MATCHED AND s.k < 0 THEN INSERT (k, v, p) VALUES (s.k, s.v, '')"
    for ((setting, clauses) <- Seq(
        ("spark.sql.adaptive.enabled" -> "false", moves),
        ("spark.sql.maxConcurrentOutputFileWriters" -> "5", moves),
        ("spark.sql.adaptive.enabled" -> "true", deletes)
      )) withSettings(setting, "spark.sql.shuffle.partitions" -> "7") {
      assert(isSaid(SplitOuterJoinSuite.Copied, path, source, "t.k = s.k", clauses))
      val merged = copyOf(path)
      merge(source, "t.k = s.k", clauses)(merged)
      assert(partitions(filesOf(merged).filter(cubeOf(_).isDefined)) == partitions(before), setting)
    }
  }

  test("in a table that is clustered by other columns since, all are fresh") {
    val path = clustered(
      laidOut("CLUSTER BY (id, k)"),
      "")
    val first = filesOf(path).head
    def copies(removed: AddFile*) = copiesOf(
      path,
      removed,
      file("a", 100, "id" -> bounds(first, "id"), "k" -> bounds(first, "k")))
    spark.sql(s"ALTER TABLE delta.`$path` CLUSTER BY NONE")
    assert(copies(first).nonEmpty)
    spark.sql(s"ALTER TABLE delta.`$path` CLUSTER BY (k)")
    // Among others, too.
    val present = first.copy(tags =
      first.tags ++ Map(
        "ZCUBE_PHYSICAL_COLUMNS" -> "[[\"k\"]]",
        AddFile.tag(AddFile.Tags.ZCUBE_ID) -> "k"))
    assert(copies(first).isEmpty && copies(first, present) == Map("a" -> "k"))
    assert(isSaid(SplitOuterJoinSuite.Copied, path, Scattered, "t.k = s.k", Upsert))
    merge(Scattered, "t.k = s.k", Upsert)(path)
    assert(filesOf(path).flatMap(cubeOf).isEmpty)
    rewritten(path, "")
    assert(filesOf(path).flatMap(_.getTag("ZCUBE_PHYSICAL_COLUMNS")).distinct == Seq("[[\"k\"]]"))
  }

  test("so it does with change rows, row ids and stored names, after a column was renamed") {
    val path = clustered(
      table(
        "STRING",
        "lpad(id, 40, '0')",
        Seq(
          "'delta.enableChangeDataFeed' = 'true'",
          "'delta.enableRowTracking' = 'true'",
          "'delta.columnMapping.mode' = 'name'"),
        vectors = false
      ),
      ZOrder
    )
    spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN id TO `an \"odd\" id`")
    val source = "SELECT lpad(id * 29, 40, '0') AS k, 'new' AS v FROM range(30)"
    keeps(path, "ZORDER BY (`an \"odd\" id`, k)", source)
  }

  test("by Delta, or with several files to a task, all are fresh") {
    for (setting <- Seq(
        "spark.zcube.mergeInto.pruning" -> "false",
        // Small files, at this cost.
        "spark.sql.files.openCostInBytes" -> (size / 3).toString)) withSettings(setting) {
      val path = copyOf(ordered)
      merge(Scattered, "t.k = s.k", Upsert)(path)
      assert(filesOf(path).flatMap(cubeOf).isEmpty, setting)
    }
  }

  test("a task copies a file, if few files are small, and none takes longer than the rest") {
    val MB = 1L << 20
    def sized(sizes: Long*) =
      sizes.zipWithIndex.map { case (size, i) =>
        file(i.toString, 1).copy(size = size * MB, tags = Map("in a cube" -> ""))
      }
    withSettings(
      "spark.sql.files.openCostInBytes" -> "4m",
      "spark.sql.files.maxPartitionBytes" -> "128m",
      "spark.sql.leafNodeDefaultParallelism" -> "3"
    ) {
      val session = spark.asInstanceOf[SparkSession]
      val byFile = new FileByFile(session, new MergeLog("t"))
      def by(files: Seq[AddFile]) = byFile.scanOf(files, _.tags.contains("in a cube"))
      def isByFile(sizes: Long*) = by(sized(sizes: _*)).isDefined
      assert(isByFile(128) && !isByFile(129) && isByFile(128, 128, 1))
      // The largest takes at most half as long as all on three cores.
      assert(isByFile(Seq.fill(6)(1000L): _*) && !isByFile(Seq.fill(5)(1000L): _*))
      assert(isByFile(16, 16, 16, 16, 15, 15, 15, 15) && !isByFile(16, 16, 16, 15, 15, 15, 15))
      // As many as cores don't matter.
      assert(isByFile(15, 15, 15) && !isByFile())
      assert(by(sized(Seq.fill(10000)(16L): _*)).isDefined)
      assert(by(sized(Seq.fill(10001)(16L): _*)).isEmpty)
      // A tenth of the bytes may stay in cubes.
      val of = sized(100, 60, 40)
      def inCubes(at: Int*) = of.zipWithIndex.map { case (file, i) =>
        if (at.contains(i)) file else file.copy(tags = Map.empty)
      }
      assert(by(inCubes(2)).isDefined && by(inCubes()).isEmpty)
      def others(sizes: Long*) = sized(sizes: _*).map(_.copy(tags = Map.empty))
      assert(by(sized(100) ++ others(890)).isDefined && by(sized(100) ++ others(910)).isEmpty)
      // Of others, any number may be small; and they take their time, too.
      val small = others(Seq.fill(9)(1L): _*)
      assert(by(sized(16) ++ small).isDefined && by(sized(16, 1, 1, 1, 1) ++ small).isEmpty)
      assert(by(sized(200) ++ others(1000)).isDefined && by(sized(200) ++ others(990)).isEmpty)
      // Who sets the number of tasks has it.
      for ((setting, of, isUsed) <-
          Seq(("min", 2, true), ("min", 3, false), ("max", 2, true), ("max", 1, false)))
        withSettings(s"spark.sql.files.${setting}PartitionNum" -> of.toString)(
          assert(by(sized(100, 100) ++ small).isDefined == isUsed, (setting, of)))
      val conf = withSettings("spark.sql.files.maxPartitionNum" -> "9")(
        by(sized(128, 20, 50)).get.session.sessionState.conf)
      // No two files fit into a task, and none is split.
      assert(conf.filesMaxPartitionBytes == 128 * MB && conf.filesOpenCostInBytes == 128 * MB)
      assert(conf.filesMaxPartitionNum.isEmpty)
      // The user's session isn't changed.
      assert(session.sessionState.conf.filesOpenCostInBytes == 4 * MB)
      byFile.close()
    }
  }

  test("cubes of Delta aren't continued") {
    val path = copyOf(withoutVectors)
    withSettings(
      "spark.zcube.enabled" -> "false",
      "spark.databricks.delta.optimize.maxFileSize" -> size.toString)(
      spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id, k)").collect())
    merge(Scattered, "t.k = s.k", Upsert)(path)
    assert(filesOf(path).flatMap(cubeOf).isEmpty)
  }

  test("copies of copies leave the cube when half of the rows are gone") {
    val path = copyOf(ordered)
    val rows = filesOf(path).head.numLogicalRecords.get
    // Of each key, and so of each file, some are left.
    val left = (1 to 5).map { round =>
      val keys = s"SELECT id AS k, 'new' AS v FROM range(600) WHERE id % 9 = $round"
      merge(keys, "t.k = s.k", Upsert)(path)
      filesOf(path).count(cubeOf(_).isDefined)
    }
    // A ninth of the rows each time: never a share for which all rows would be joined.
    assert(rows == 100 && left == Seq(6, 6, 6, 6, 0))
  }

  test("a copy doesn't make an older ZORDER BY the last one") {
    val path = copyOf(laidOut(Partitioned))
    Seq(0 -> "id, k", 1 -> "k").foreach { case (p, columns) =>
      spark.sql(s"OPTIMIZE delta.`$path` WHERE p = $p ZORDER BY ($columns) " +
        s"OPTIONS ('maxFileSize' = '$size')").collect()
    }
    def columns() = {
      val snapshot = DeltaLog.forTable(spark, path).update()
      val session = spark.asInstanceOf[SparkSession]
      Seq(
        LastLayout.zOrder(session, snapshot).map(_.columns),
        LastLayout.columns(session, snapshot))
        .map(_.map(_.map(_.name)))
    }
    val before = filesOf(path).flatMap(cubeOf).groupBy(identity).view.mapValues(_.size).toMap
    assert(before.size == 2 && columns() == Seq.fill(2)(Some(Seq("k"))))
    // Keys of the first partition.
    def source(round: Int) = s"SELECT id * 58 + 2 * $round AS k, 'new' AS v FROM range(10)"
    // Then copies of copies.
    for (round <- 1 to 2)
      withSettings(
        "spark.databricks.delta.merge.repartitionBeforeWrite.enabled" -> s"${round == 1}") {
        val lines = LogLines.of("io.zcube.merge")(
          merge(source(round), "t.k = s.k AND t.p = 0", Upsert)(path))
        assert(lines.exists(_.contains("new files belong to the cubes")), lines)
      }
    assert(filesOf(path).flatMap(cubeOf).groupBy(identity).view.mapValues(_.size).toMap == before)
    assert(columns() == Seq.fill(2)(Some(Seq("k"))))
  }

  test("nothing is copied by file where all rows are shuffled before they are written") {
    val path = copyOf(ordered)
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.autoOptimize.optimizeWrite' = 'true')")
    val twice = s"SELECT *, v FROM delta.`$scattered`"
    for ((of, source, said) <- Seq(
        (path, Scattered, SplitOuterJoinSuite.Copied),
        (clustered(laidOut(Partitioned), ZOrder), twice, "a column of the source comes twice"))) {
      assert(isSaid(said, of, source, "t.k = s.k", Upsert))
      val (_, jobs) = SparkEvents.jobsOf(spark.sparkContext)(
        merge(source, "t.k = s.k", Upsert)(of))
      assert(filesOf(of).flatMap(cubeOf).isEmpty && !jobs.exists(_.contains("ranges of")))
    }
  }

  test("if the log can't be read, all are fresh") {
    val path = copyOf(ordered)
    val snapshot = DeltaLog.forTable(spark, path).update()
    val removed = snapshot.allFiles.collect().toSeq
    val log = new CopiedFiles(spark.asInstanceOf[SparkSession], snapshot, new MergeLog(path))
    // Not only the table's columns.
    assert(log.mayStay(removed.head))
    snapshot.uncache()
    deleteAll(java.nio.file.Paths.get(path, "_delta_log"))
    val written = removed.map(file => file.copy(path = s"new-${file.path}", tags = null))
    var after = Seq.empty[FileAction]
    val lines = LogLines.of("io.zcube.merge") { after = log.inCubes(removed, written) }
    assert(after == written)
    assert(lines.exists(_.contains("no new files belong to the cubes")))
  }

  /** The new files that get tags, and of which file. */
  private def copiesOf(
      path: String,
      removed: Seq[AddFile],
      written: AddFile*): Map[String, String] = {
    val snapshot = DeltaLog.forTable(spark, path).update()
    val copied = new CopiedFiles(spark.asInstanceOf[SparkSession], snapshot, new MergeLog(path))
    // Delta's scan leaves them the number of rows.
    val scanned =
      removed.map(f => f.copy(stats = s"""{"numRecords":${f.numPhysicalRecords.get}}"""))
    val files = copied.inCubes(scanned, written).collect { case file: AddFile => file }
    // Nothing else is changed, and their order isn't.
    assert(files.map(_.copy(tags = null, clusteringProvider = None)) ==
      written.map(_.copy(tags = null, clusteringProvider = None)))
    files.flatMap(file => cubeOf(file).map(file.path -> _)).toMap
  }

  /** A new file with these rows. */
  private def file(name: String, rows: Long, of: (String, (Any, Any))*): AddFile = {
    def values(at: ((Any, Any)) => Any) = of.collect {
      case (column, bounds) if at(bounds) != null => s""""$column":${at(bounds)}"""
    }.mkString("{", ",", "}")
    val nulls = of.map { case (column, (min, _)) =>
      s""""$column":${if (min == null) rows else 0}"""
    }
    AddFile(
      name,
      Map.empty,
      1,
      1,
      dataChange = true,
      s"""{"numRecords":$rows,"minValues":${values(_._1)},"maxValues":${values(_._2)},""" +
        s""""nullCount":${nulls.mkString("{", ",", "}")}}"""
    )
  }

  test("a copy is within the ranges, has half of the rows, and each file has one") {
    val path = copyOf(ordered)
    val files = filesOf(path).sortBy(bounds(_, "id"))
    val (first, second) = (files.head, files(1))
    val rows = first.numLogicalRecords.get
    val (low, high) = bounds(first, "id")
    def like(name: String, rows: Long, low: Long = low, high: Long = high, k: Long = high) =
      file(name, rows, "id" -> ((low, high)), "k" -> ((low, k)))
    val only = like("a", rows)
    def isCopy(written: AddFile, removed: AddFile = first) =
      copiesOf(path, Seq(removed), written).nonEmpty
    assert(isCopy(only) && isCopy(like("a", (rows + 1) / 2)))
    assert(!isCopy(like("a", rows / 2 - 1)) && !isCopy(like("a", rows + 1)))
    assert(!isCopy(like("a", rows, low = low - 1)) && !isCopy(like("a", rows, high = high + 1)))
    assert(!isCopy(like(
      "a",
      rows,
      k = high + 1)) && isCopy(like("a", rows, low + 1, high - 1, high - 1)))
    assert(!isCopy(only, second) && copiesOf(path, Seq(first, second), only).size == 1)
    // Each is a copy of one, and one has one copy.
    assert(copiesOf(path, Seq(first, second), only, like("b", rows)).size == 1)
    // One without values is within any range, one without statistics in none.
    assert(isCopy(file("a", rows, "id" -> ((low, high)), "k" -> ((null, null)))))
    assert(!isCopy(file("a", rows, "id" -> ((low, high)))) && !isCopy(file("a", rows)))
    assert(!isCopy(only.copy(stats = null)) && !isCopy(only.copy(stats = "{}")))
    // One that was in a cube already, or in another partition.
    assert(!isCopy(only.copy(clusteringProvider = Some("other"))))
    assert(!isCopy(only.copy(partitionValues = Map("p" -> "1"))))
    assert(copiesOf(
      path,
      Seq(first),
      only.copy(tags = second.tags)) == Map("a" -> cubeOf(second).get))
    // The file that was removed was in no cube, or in one of columns that aren't there any more.
    assert(!isCopy(only, first.copy(tags = null)))
    assert(!isCopy(
      only,
      first.copy(tags = first.tags + ("ZCUBE_PHYSICAL_COLUMNS" -> "[[\"id\"],[\"x\"]]"))))
    assert(!isCopy(only, first.copy(tags = first.tags + ("ZCUBE_PHYSICAL_COLUMNS" -> "[["))))
  }

  test("deleted rows were clustered, too, and each cube has its columns") {
    val path = copyOf(ordered)
    val files = filesOf(path).sortBy(bounds(_, "id"))
    val Seq(first, second) = files.take(2)
    // Of 100 rows, 45 are left.
    val marked = first.copy(deletionVector =
      DeletionVectorDescriptor.inlineInLog(Array[Byte](1), first.numLogicalRecords.get - 45))
    def like(of: AddFile, name: String, rows: Long) =
      file(name, rows, "id" -> bounds(of, "id"), "k" -> bounds(of, "k"))
    assert(first.numLogicalRecords.contains(100L) && marked.numLogicalRecords.contains(45L))
    assert(copiesOf(path, Seq(marked), like(first, "a", 45)).isEmpty)
    assert(copiesOf(path, Seq(first), like(first, "a", 50)).size == 1)
    val other = second.copy(tags = second.tags ++
      Map("ZCUBE_PHYSICAL_COLUMNS" -> "[[\"k\"]]", AddFile.tag(AddFile.Tags.ZCUBE_ID) -> "other"))
    assert(copiesOf(path, Seq(first, other), like(second, "b", 90), like(first, "a", 90)) ==
      Map("a" -> cubeOf(first).get, "b" -> "other"))
    // Both have the same ranges, and only one the rows.
    val (large, small) = (like(first, first.path, 100), like(first, second.path, 90))
    DeltaLog.forTable(spark, path).startTransaction(None).commit(
      Seq(first.copy(stats = large.stats), second.copy(stats = small.stats)),
      DeltaOperations.ManualUpdate)
    val removed = Seq(
      first.copy(stats = large.stats),
      other.copy(
        stats = small.stats,
        tags =
          first.tags + (AddFile.tag(AddFile.Tags.ZCUBE_ID) -> "other")))
    assert(copiesOf(path, removed, like(first, "x", 99), like(first, "w", 89)) ==
      Map("x" -> cubeOf(first).get, "w" -> "other"))
  }

  test("a copy of two files is one of the narrower") {
    val path = copyOf(ordered)
    val files = filesOf(path).sortBy(bounds(_, "id")).take(2)
    val Seq(wide, narrow) = files.zip(Seq("wide", "narrow")).map { case (file, cube) =>
      file.copy(tags = file.tags + (AddFile.tag(AddFile.Tags.ZCUBE_ID) -> cube))
    }
    val (low, high) = bounds(narrow, "id")
    val all = file(wide.path, 100, "id" -> ((0L, 599L)), "k" -> ((0L, 599L)))
    val log = DeltaLog.forTable(spark, path)
    log.startTransaction(None).commit(
      Seq(wide.copy(stats = all.stats)),
      DeltaOperations.ManualUpdate)
    val small = file("small", 90, "id" -> ((low, high)), "k" -> ((low, high)))
    val large = file("large", 90, "id" -> ((1L, 590L)), "k" -> ((1L, 590L)))
    val removed = Seq(wide, narrow)
    assert(copiesOf(path, removed, large, small) == Map("large" -> "wide", "small" -> "narrow"))
    assert(copiesOf(path, removed, small.copy(path = "b"), small) == Map(
      "b" -> "narrow",
      "small" -> "wide"))
  }
}

object CopiedFilesSuite {

  /** What the log then says. */
  val ByFile = "a task reads each file"

  private val ZOrder = "ZORDER BY (id, k)"

  private val ClusteredRows = "ZCUBE_CLUSTERED_ROWS"

  private val ClusteredTime = "ZCUBE_CLUSTERED_TIME"

  private val OfFile = Set(ClusteredRows, ClusteredTime)

  private def bounds(file: AddFile, column: String): (Long, Long) = {
    def of(kind: String) = s""""$kind":\\{[^}]*"$column":(-?\\d+)""".r
      .findFirstMatchIn(file.stats).get.group(1).toLong
    (of("minValues"), of("maxValues"))
  }
}
