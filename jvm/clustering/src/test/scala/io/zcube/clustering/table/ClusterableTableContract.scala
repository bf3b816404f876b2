package io.zcube.clustering.table

import java.util.ConcurrentModificationException

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, AttributeReference, EqualTo, LessThan, Literal, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, RepartitionByExpression, Sort}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.types.{IntegerType, LongType}
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.run.LayoutSession
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.DataFile
import io.zcube.sql.layout.PartitionShuffle

/** What the engine assumes about a table format. Every format's suite extends this. */
trait ClusterableTableContract extends AnyFunSuite {

  protected def session: SparkSession

  /** A table of the columns `id BIGINT, x INT, y BIGINT, p INT`.
    *
    * @param partitioned by p
    */
  protected def newTable(partitioned: Boolean): ContractTable

  /** Whether all combinations are tried: a format whose commits take long leaves half to the night. */
  protected def exhaustive: Boolean = true

  /** What a test does to a table outside the interface. */
  protected trait ContractTable {
    def table: ClusterableTable

    /** One file, or one for each partition. */
    def append(ids: Range): Unit
    def delete(id: Long): Unit

    /** The ids of its rows, sorted. */
    def ids: Seq[Long]

    /** A query of all rows, which need not run. */
    def query: DataFrame
    def liveFiles: Set[String]
    def storedFiles: Set[String]

    /** The next commit is written, but reported to its writer as failed. */
    def loseNextAnswer(): Unit

    /** The next commit is not written, and reported as failed. */
    def failNextCommit(): Unit
  }

  /** What `append` writes for an id. */
  protected def rowOf(id: Long): (Long, Int, Long, Int) =
    (id, (id * 7919 % 101).toInt, id * 104729 % 997, (id % 2).toInt)

  /** The ids 0 to 49, by two appends. */
  private def tableOf50(partitioned: Boolean): ContractTable = {
    val made = newTable(partitioned)
    made.append(0 until 20)
    made.append(20 until 50)
    made
  }

  private def columnsOf(version: TableVersion): Seq[ColumnPath] =
    Seq("x", "y").map(name => version.column(Seq(name), _ == _).get)

  private def layoutOf(version: TableVersion, kind: LayoutKind = LayoutKind.ZOrder): LayoutTag =
    LayoutTag(columnsOf(version), kind, Nil, None, declared = false)

  private def summaryOf(layout: LayoutTag): CommitSummary = CommitSummary(
    layout,
    isFull = false,
    isAuto = false,
    metrics = Map("cpuTimeMs" -> "1234"),
    parameters = Map("cubeId" -> "c"))

  /** Runs `body` as the engine does: in a session for layouts. */
  private def reading[T](version: TableVersion)(body: SparkSession => T): T = {
    val clone = LayoutSession.cloneOf(session, version)
    Sessions.within(clone)(body(clone))
  }

  private def inSession[T](body: => T): T = Sessions.within(session)(body)

  private def written(scan: FileScan, parts: Int): LogicalPlan = {
    val id = scan.columns.head
    val parted = RepartitionByExpression(Seq(id), scan.plan, parts)
    Project(scan.written, Sort(Seq(SortOrder(id, Ascending)), global = false, parted))
  }

  private def groupOf(number: Int, removed: Seq[DataFile], added: Seq[DataFile]): RewrittenGroup =
    RewrittenGroup(number, removed, Seq(NewCube(s"c$number", added)))

  /** A rewrite of some files into a cube, up to its commit. */
  private case class Begun(
      transaction: RewriteTransaction,
      group: RewrittenGroup,
      summary: CommitSummary) {
    def commit(): CommitResult = transaction.commit(Seq(group), summary)
  }

  private def begin(
      made: ContractTable,
      parts: Int = 3,
      pick: Seq[DataFile] => Seq[DataFile] = identity): Begun = {
    val version = inSession(made.table.latest())
    reading(version) { clone =>
      val layout = layoutOf(version)
      val selection = version.select(WhereClause.Everything)
      val files = pick(selection.files(Some(layout)))
      val transaction = selection.begin(clone, files)
      val scan = selection.scan(clone, files)
      val added = transaction.write(written(scan, parts), files.head.partition)
      // Of two cubes, so that nothing depends on there being one.
      val cubes = added.splitAt(1)
      val both = Seq(NewCube("c", cubes._1), NewCube("d", cubes._2, overlapping = Some("job")))
        .filter(_.files.nonEmpty)
      Begun(transaction, RewrittenGroup(0, files, both), summaryOf(layout))
    }
  }

  test("a version has the columns, their names, and no others") {
    val version = inSession(newTable(partitioned = true).table.latest())
    assert(version.schema.fieldNames.toSeq == Seq("id", "x", "y", "p"))
    assert(version.partitionColumns == Seq("p"))
    assert(version.column(Seq("X"), _.equalsIgnoreCase(_)).map(_.logical).contains(Seq("x")))
    assert(version.column(Seq("X"), _ == _).isEmpty)
    assert(version.column(Seq("x", "a"), _ == _).isEmpty)
    val x = version.column(Seq("x"), _ == _).get
    assert(inSession(version.hasMinima(x) && version.hasNullCounts(x)))
  }

  test("the files are those of the table, with their rows, and in no cube") {
    for (partitioned <- Seq(false, true)) {
      val made = tableOf50(partitioned)
      val version = inSession(made.table.latest())
      val files =
        inSession(version.select(WhereClause.Everything).files(Some(layoutOf(version))))
      assert(files.map(_.path).toSet == made.liveFiles)
      assert(files.size == version.fileCount)
      assert(files.flatMap(_.rows).sum == 50)
      assert(files.forall(f => f.cube.isEmpty && f.storedBytes > 0 && f.deletedRows.isEmpty))
      assert(files.map(_.partition.values.toSeq).distinct.size == (if (partitioned) 2 else 1))
    }
  }

  test("a scan has each row once, with a unique position") {
    val made = tableOf50(partitioned = false)
    made.delete(7)
    val version = inSession(made.table.latest())
    reading(version) { clone =>
      val selection = version.select(WhereClause.Everything)
      val files = selection.files(Some(layoutOf(version)))
      assert(files.flatMap(_.rows).sum == 49)
      assert(files.flatMap(_.deletedRows).sum == 1)
      val scan = selection.scan(clone, files)
      val read = Sessions.rowsOf(clone, Project(scan.columns ++ scan.position, scan.plan)).collect()
      assert(read.map(row =>
        (row.getLong(0), row.getInt(1), row.getLong(2), row.getInt(3))).toSet ==
        (0L until 50L).filter(_ != 7).map(rowOf).toSet)
      assert(read.length == 49)
      assert(read.map(row => (row.getString(4), row.getLong(5))).toSet.size == 49)
      val names = scan.written.map(_.name)
      assert(names.containsSlice(Seq("id", "x", "y", "p")))
      assert(scan.position.forall(place => !scan.written.exists(_.exprId == place.exprId)))
      assert(read.map(_.getString(4)).toSet == files.map(_.path).toSet)
      val one = selection.scan(clone, files.take(1))
      assert(Sessions.rowsOf(clone, one.plan).count() == files.head.rows.get)
    }
  }

  test("an aborted transaction leaves nothing behind") {
    val made = newTable(partitioned = false)
    made.append(0 until 30)
    val before = (made.liveFiles, made.storedFiles)
    val begun = begin(made)
    assert(begun.group.added.size == 3)
    assert(made.storedFiles.size == before._2.size + 3)
    inSession(begun.transaction.abort())
    assert((made.liveFiles, made.storedFiles) == before)
  }

  test("committed files are in the table, in cubes of that layout only") {
    for (partitioned <- Seq(false, true)) {
      val made = tableOf50(partitioned)
      val old = inSession(made.table.latest())
      val before = made.liveFiles
      val begun = begin(made, pick = files => files.filter(_.partition == files.head.partition))
      assert(begun.group.added.forall(_.partition == begun.group.removed.head.partition))
      val result = inSession(begun.commit())
      assert(result.isInstanceOf[CommitResult.Committed], result)
      assert(made.ids == (0L until 50L))
      val version = inSession(made.table.latest())
      val cubeOf =
        begun.group.cubes.flatMap(cube => cube.files.map(_.path -> cube.id)).toMap
      assert(cubeOf.values.toSet == Set("c", "d"))
      def cubes(layout: LayoutTag) =
        inSession(version.select(WhereClause.Everything).files(Some(layout)))
          .filter(file => cubeOf.contains(file.path))
          .map(file => file.cube.filter(_.id == cubeOf(file.path)))
      val ours = cubes(layoutOf(version))
      assert(ours.size == begun.group.added.size)
      assert(ours.forall(_.exists(tag => tag.matches)))
      assert(ours.flatten.forall(tag => tag.overlapping == Option.when(tag.id == "d")("job")))
      Seq(
        layoutOf(version, LayoutKind.Hilbert),
        layoutOf(version).copy(columns = columnsOf(version).reverse),
        layoutOf(version).copy(weights = Seq(2.0, 1.0)),
        layoutOf(version).copy(workload = Some("w"))
      ).foreach { other =>
        assert(cubes(other).forall(_.exists(tag => !tag.matches)), other)
      }
      // The old version hasn't changed.
      assert(inSession(old.select(WhereClause.Everything).files(None)).map(_.path).toSet == before)
      assert(old.fileCount == before.size)
      assert(inSession(old.pastRewrites(5)).isEmpty)
      val past = inSession(version.pastRewrites(5))
      assert(past.map(_.cpuTimeMs) == Seq(1234L))
      assert(past.head.bytes == begun.group.removed.map(_.storedBytes).sum)
    }
  }

  test("rows appended concurrently stay, and the commit succeeds") {
    val made = newTable(partitioned = false)
    made.append(0 until 30)
    val begun = begin(made)
    made.append(30 until 40)
    assert(inSession(begun.commit()).isInstanceOf[CommitResult.Committed])
    assert(made.ids == (0L until 40L))
  }

  test("a commit that would undo another is rejected") {
    val others: Seq[(String, ContractTable => Unit)] = Seq(
      "a row is deleted" -> (_.delete(3)),
      "the files are rewritten" -> (made => {
        val result = inSession(begin(made).commit())
        if (!result.isInstanceOf[CommitResult.Committed]) fail(s"$result")
      })
    )
    for ((name, other) <- others) {
      val made = newTable(partitioned = false)
      made.append(0 until 30)
      val begun = begin(made)
      other(made)
      val (ids, live) = (made.ids, made.liveFiles)
      inSession(begun.commit()) match {
        case CommitResult.Rejected(_: ConcurrentModificationException, _) =>
        case result => fail(s"$name: $result")
      }
      inSession(begun.transaction.abort())
      assert(made.ids == ids && made.liveFiles == live, name)
      assert(begun.group.added.forall(file => !made.storedFiles(file.path)), name)
    }
  }

  test("after a lost response, the table decides") {
    val made = newTable(partitioned = false)
    made.append(0 until 30)
    val begun = begin(made)
    made.loseNextAnswer()
    inSession(begun.commit()) match {
      case CommitResult.Committed(_, None) =>
      case result => fail(s"$result")
    }
    assert(made.ids == (0L until 30L))
    assert(made.liveFiles == begun.group.added.map(_.path).toSet)
  }

  test("the outcome of a missing commit is unknown, and its files stay") {
    val made = newTable(partitioned = false)
    made.append(0 until 30)
    val begun = begin(made)
    made.failNextCommit()
    inSession(begun.commit()) match {
      case CommitResult.Unknown(_) =>
      case result => fail(s"$result")
    }
    assert(made.ids == (0L until 30L))
    assert(begun.group.added.forall(file => made.storedFiles(file.path)))
    assert(begun.group.removed.forall(file => made.liveFiles(file.path)))
  }

  test("written files have statistics before they are committed") {
    val made = newTable(partitioned = false)
    made.append(0 until 30)
    val begun = begin(made)
    val version = inSession(made.table.latest())
    val statistics =
      reading(version)(_ => begun.transaction.statistics(begun.group.added, columnsOf(version)))
    val rows = statistics.rows.toSeq
    assert(rows.map(_.getLong(FileStatistics.Rows)).sum == 30)
    assert(rows.map(_.getInt(5)).min == (0L until 30L).map(rowOf(_)._2).min)
    assert(rows.map(_.getInt(6)).max == (0L until 30L).map(rowOf(_)._2).max)
    assert(reading(version)(_ => begun.transaction.countRows(begun.group.added)) == 30)
  }

  if (exhaustive) test("several cubes are one commit") {
    val made = newTable(partitioned = false)
    made.append(0 until 30)
    made.append(30 until 60)
    val version = inSession(made.table.latest())
    reading(version) { clone =>
      val layout = layoutOf(version)
      val selection = version.select(WhereClause.Everything)
      val files = selection.files(Some(layout))
      val transaction = selection.begin(clone, files)
      val cubes = files.zipWithIndex.map { case (file, i) =>
        val scan = selection.scan(clone, Seq(file))
        groupOf(i, Seq(file), transaction.write(written(scan, 2), Map.empty))
      }
      assert(cubes.flatMap(_.added).map(_.path).distinct.size == 4)
      assert(transaction.countRows(cubes.flatMap(_.added)) == 60)
      val result = transaction.commit(cubes, summaryOf(layout))
      assert(result.isInstanceOf[CommitResult.Committed], result)
      assert(inSession(made.table.latest().pastRewrites(5)).size == 1)
    }
    val now = inSession(made.table.latest())
    val tags =
      inSession(now.select(WhereClause.Everything).files(Some(layoutOf(now)))).flatMap(_.cube)
    assert(tags.map(_.id).sorted == Seq("c0", "c0", "c1", "c1"))
    assert(made.ids == (0L until 60L))
  }

  if (exhaustive)
    test("groups of files are scanned and written by one job, each to separate files") {
      for (partitioned <- Seq(false, true)) {
        val made = tableOf50(partitioned)
        made.delete(7)
        val version = inSession(made.table.latest())
        val layout = layoutOf(version)
        reading(version) { clone =>
          val selection = version.select(WhereClause.Everything)
          // A group in the middle has no rows, like one with only deleted rows.
          val groups = selection.files(Some(layout)).map(Seq(_)).patch(1, Seq(Nil), 0)
          val scan = selection.scanGroups(clone, groups)
          val group = scan.group.get
          val shuffled = PartitionShuffle.byNumber(group, groups.size, scan.plan)
          val transaction = selection.begin(clone, groups.flatten)
          val files = transaction.writeGroups(
            Project(scan.written, shuffled),
            number => groups(number).head.partition)
          assert(!scan.written.exists(_.exprId == group.exprId))
          assert(files.map(_.part).sorted == groups.indices.filter(_ != 1))
          val cubes = files.map { written =>
            assert(written.file.rows == groups(written.part).head.rows)
            assert(written.file.partition == groups(written.part).head.partition)
            groupOf(written.part, groups(written.part), Seq(written.file))
          }
          val expected = groups.filter(_.nonEmpty).map(files => idsOf(clone, selection, files))
          assert(transaction.commit(cubes, summaryOf(layout)).isInstanceOf[CommitResult.Committed])
          assert(made.ids == (0L until 50L).filter(_ != 7))
          val now = made.table.latest().select(WhereClause.Everything)
          val found = now.files(Some(layout))
          assert(found.forall(_.cube.exists(_.matches)))
          assert(found.map(file => idsOf(clone, now, Seq(file))).toSet == expected.toSet)
        }
      }
    }

  private def idsOf(
      clone: SparkSession,
      selection: FileSelection,
      files: Seq[DataFile]): Set[Long] =
    Sessions.rowsOf(clone, selection.scan(clone, files).plan).collect().map(_.getLong(0)).toSet

  test("invalidated cubes are reported, and the others can be committed without them") {
    for (invalidated <- if (exhaustive) 0 until 3 else Seq(1)) {
      val made = newTable(partitioned = false)
      (0 until 30 by 10).foreach(start => made.append(start until start + 10))
      val version = inSession(made.table.latest())
      reading(version) { clone =>
        val layout = layoutOf(version)
        val selection = version.select(WhereClause.Everything)
        val files = selection.files(Some(layout))
        val transaction = selection.begin(clone, files)
        val ids = files.map(file => idsOf(clone, selection, Seq(file)))
        val cubes = files.zipWithIndex.map { case (file, i) =>
          val scan = selection.scan(clone, Seq(file))
          groupOf(i, Seq(file), transaction.write(written(scan, 2), Map.empty))
        }
        made.delete(ids(invalidated).head)
        val (lost, valid) = cubes.partition(_.number == invalidated)
        transaction.commit(cubes, summaryOf(layout)) match {
          case CommitResult.Rejected(_: ConcurrentModificationException, told) =>
            assert(told == Set(invalidated))
          case result => fail(s"$result")
        }
        transaction.discard(lost.flatMap(_.added))
        assert(lost.flatMap(_.added).forall(file => !made.storedFiles(file.path)))
        assert(valid.flatMap(_.added).forall(file => made.storedFiles(file.path)))
        // Again, concurrently: earlier checks don't stay valid forever.
        made.append(30 until 35)
        assert(transaction.commit(valid, summaryOf(layout)).isInstanceOf[CommitResult.Committed])
        assert(made.ids == (0L until 35L).filter(_ != ids(invalidated).head))
        assert(valid.flatMap(_.added).forall(file => made.liveFiles(file.path)))
      }
    }
  }

  test("several commits of a run succeed, whatever other commits come between them") {
    for {
      between <- if (exhaustive) 0 to 3 else Seq(1, 2)
      deletes <- if (exhaustive) Seq(false, true) else Seq(between % 2 == 0)
    } {
      val made = newTable(partitioned = false)
      (0 until 40 by 10).foreach(start => made.append(start until start + 10))
      val version = inSession(made.table.latest())
      reading(version) { clone =>
        val layout = layoutOf(version)
        val selection = version.select(WhereClause.Everything)
        val files = selection.files(Some(layout))
        val ids = files.map(file => idsOf(clone, selection, Seq(file)))
        val begun = files.zipWithIndex.map { case (file, i) =>
          val transaction = selection.begin(clone, Seq(file))
          val scan = selection.scan(clone, Seq(file))
          Begun(
            transaction,
            groupOf(i, Seq(file), transaction.write(written(scan, 1), Map.empty)),
            summaryOf(layout))
        }
        val results = begun.indices.map { i =>
          // A row of the last file: only its cube is invalidated.
          if (i == between) { if (deletes) made.delete(ids(3).head) else made.append(40 until 45) }
          begun(i).commit()
        }
        // What is said not to be worth a try is what can't be committed.
        val lost = files.indices.filter(i => selection.conflictOf(Seq(files(i))).isDefined)
        assert(lost.forall(_ == 3) && (deletes || lost.isEmpty), s"$between: $lost")
        val committed = results.count(_.isInstanceOf[CommitResult.Committed])
        assert(committed == (if (deletes) 3 else 4), s"$between: $results")
        assert(made.ids ==
          (if (deletes) (0L until 40L).filter(_ != ids(3).head) else 0L until 45L))
      }
    }
  }

  test("statistics are the extremes of the rows, and name the cube") {
    val made = tableOf50(partitioned = false)
    assert(inSession(begin(made, pick = _.take(1)).commit()).isInstanceOf[CommitResult.Committed])
    made.append(50 until 60)
    val version = inSession(made.table.latest())
    val columns = columnsOf(version)
    val selection = version.select(WhereClause.Everything)
    val files = inSession(selection.files(Some(layoutOf(version))))
    val expected = reading(version) { clone =>
      files.map { file =>
        val rows = Sessions.rowsOf(clone, selection.scan(clone, Seq(file)).plan).collect()
        val (x, y) = (rows.map(_.getInt(1)), rows.map(_.getLong(2)))
        val cube = file.cube.map(_.id)
        (file.path, cube, rows.length.toLong, x.min, x.max, y.min, y.max)
      }.toSet
    }
    def found(statistics: FileStatistics) = statistics.rows.map { row =>
      import FileStatistics._
      assert(!row.getBoolean(OtherColumns) && row.getLong(Size) > 0)
      val cube = Option.when(!row.isNullAt(CubeId))(row.getUTF8String(CubeId).toString)
      (
        row.getString(Path),
        cube,
        row.getLong(Rows),
        row.getInt(5),
        row.getInt(6),
        row.getLong(8),
        row.getLong(9))
    }.toSet
    assert(found(inSession(version.statistics(columns, withPaths = true))) == expected)
    assert(found(inSession(selection.statistics(columns, None))) == expected)
    val some = expected.map(_._1).toSeq.sorted.take(2).toSet
    assert(found(inSession(selection.statistics(columns, Some(some)))) ==
      expected.filter(file => some(file._1)))
    // For other columns it is a foreign cube.
    val others = inSession(version.statistics(columns.reverse, withPaths = true)).rows
    assert(others.count(_.getBoolean(FileStatistics.OtherColumns)) == files.count(
      _.cube.isDefined))
    assert(others.forall(_.isNullAt(FileStatistics.CubeId)))
    // No range is smaller than the true one.
    val ranges = inSession(selection.ranges(columns))
    expected.foreach { case (path, _, _, lowX, highX, lowY, highY) =>
      val box = ranges(path)
      assert(box.lower(0) <= lowX && box.upper(0) >= highX)
      assert(box.lower(1) <= lowY && box.upper(1) >= highY)
    }
  }

  test("what remains of the files for a condition, and for the scans of a query") {
    val (made, other) = (tableOf50(partitioned = false), tableOf50(partitioned = false))
    val version = inSession(made.table.latest())
    val files = inSession(version.select(WhereClause.Everything).files(None))
    // The first file has the ids 0 to 19, the second 20 to 49.
    val Seq(first, second) = files.sortBy(_.rows.get)
    val id = AttributeReference("id", LongType)()
    for ((below, expected) <- Seq(0L -> Nil, 20L -> Seq(first), 21L -> Seq(first, second))) {
      val read = FilesRead(expected.size.toLong, expected.map(_.storedBytes).sum)
      assert(inSession(version.filesRead(LessThan(id, Literal(below)))) == read)
      if (below > 0) inSession {
        val query = made.query.where(s"id < $below AND x >= 0").select("y")
        val Seq(scan) = version.scansIn(query.queryExecution.optimizedPlan)
        assert(scan.read == read)
        assert(scan.condition.references.map(_.name).toSet == Set("id", "x"))
        val both = other.query.join(query, "y").queryExecution.optimizedPlan
        assert(version.scansIn(both).map(_.read) == Seq(read))
      }
    }
    inSession {
      assert(version.scansIn(other.query.queryExecution.optimizedPlan).isEmpty)
      val Seq(all) = version.scansIn(made.query.queryExecution.optimizedPlan)
      assert(all.condition == Literal.TrueLiteral && all.read.files == 2)
    }
  }

  test("a version knows the columns that it is clustered by, or was by the last ZORDER BY") {
    val made = tableOf50(partitioned = false)
    def known = inSession {
      val version = made.table.latest()
      (version.clusteringColumns, version.takesClusteringColumns, version.lastColumns)
    }
    assert(known == ((Nil, false, None)))
    assert(inSession(begin(made).commit()).isInstanceOf[CommitResult.Committed])
    assert(known == ((Nil, false, Some(columnsOf(inSession(made.table.latest()))))))
  }

  test("WHERE selects by partition, and excluded files are summed up") {
    val made = tableOf50(partitioned = true)
    assert(inSession(begin(made, pick = _.filter(_.partition.values.toSeq == Seq("0"))).commit())
      .isInstanceOf[CommitResult.Committed])
    val version = inSession(made.table.latest())
    val filter = EqualTo(AttributeReference("p", IntegerType)(), Literal(1))
    val selection = version.select(WhereClause(Seq(filter), Seq(filter)))
    val all = inSession(version.select(WhereClause.Everything).files(Some(layoutOf(version))))
    val picked = inSession(selection.files(Some(layoutOf(version))))
    assert(picked.map(_.path).toSet ==
      all.filter(_.partition.values.toSeq == Seq("1")).map(_.path).toSet)
    val left = all.filterNot(file => picked.exists(_.path == file.path))
    val outside = inSession(selection.outside(Set("c", "d")))
    assert(outside.files == left.size)
    for (cube <- Seq("c", "d"); files = left.filter(_.cube.exists(_.id == cube))) {
      assert(files.nonEmpty)
      assert(outside.cubes(cube).files == files.size)
      assert(outside.cubes(cube).rows.contains(files.flatMap(_.rows).sum))
      assert(outside.cubes(cube).bytes == files.map(_.bytes).sum)
    }
  }

  /** For formats that take rows, not SQL. */
  protected def internalRow(id: Long): InternalRow = rowOf(id) match {
    case (id, x, y, p) => InternalRow(id, x, y, p)
  }
}
