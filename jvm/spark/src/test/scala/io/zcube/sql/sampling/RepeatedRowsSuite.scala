package io.zcube.sql.sampling

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** Samples of rows that are identified by their contents, where many are equal. */
class RepeatedRowsSuite extends AnyFunSuite with SamplingSession {

  private def values(sample: RowSample): Seq[Long] = sample.rows.map(_.getLong(0)).toSeq

  // A value has few copies in each task, or many, or more than fit into the sample.
  for ((rows, tasks) <- Seq((200000, 2), (1100000, 11), (200000, 200)))
    test(s"ranges of $rows rows of a hundred values in $tasks tasks are even") {
      val ids = spark.range(0, rows.toLong, 1, tasks).selectExpr("id % 100 x")
        .selectExpr("x", "range_partition_id(x, 10) r").groupBy("x", "r").count()
        .collect().map(row => (row.getLong(0), row.getInt(1), row.getLong(2)))
      // Each value is in one range, of which the exact one is known.
      assert(ids.map(_._1).sorted.toSeq == (0L until 100L))
      ids.foreach { case (x, r, _) => assert(math.abs(x / 10 - r) <= 1, s"$x in $r") }
      val counts = ids.groupMapReduce(_._2)(_._3)(_ + _)
      assert(counts.size == 10)
      assert(counts.values.forall(n => n > 0.075 * rows && n < 0.125 * rows), counts)
    }

  test("rows that are all equal can be clustered, however many tasks read them") {
    for (tasks <- Seq(2, 200)) {
      val rows = spark.range(0, 200000, 1, tasks).selectExpr("1 x")
      val hint = """{"columns": [["x"]], "numPartitions": 8}"""
      assert(rows.hint("ZCUBE_CLUSTER", hint).count() == 200000)
    }
  }

  test("a value of a third of the rows, of which each task has few, isn't lost") {
    for (value <- 0 until (if (Night.all) 20 else 6)) {
      val rows = spark.range(0, 6000, 1, 600).selectExpr(s"if(id % 3 = 0, -1 - $value, id) x")
      val found = values(sampled(rows, 1000)).count(_ < 0)
      // Six standard deviations.
      assert(math.abs(found - 333) < 6 * 15)
    }
  }

  test("there are more tasks than rows in a sample") {
    val sample = sampled(spark.range(0, 4000, 1, 1000).selectExpr("1L x"), 200)
    assert(sample.rows.length == 200 && sample.rowCount == 4000)
  }

  for (tasks <- Seq(1, 3))
    test(s"more values are repeated than a task can count, in $tasks tasks") {
      // Each value has more copies than fit.
      val rows = spark.range(0, 70000L * 300, 1, tasks).selectExpr("id % 70000 x")
      val found = values(sampled(rows, 200))
      assert(found.size == 200)
      assert(found.distinct.size > 150)
      val mean = found.sum.toDouble / found.size
      // Six standard deviations.
      assert(math.abs(mean - 35000) < 6 * 20207 / math.sqrt(200))
    }

  test("a sample of rows with few copies doesn't depend on the tasks") {
    val samples = Seq(1, 2, 30, 400).map { tasks =>
      val rows = spark.range(0, 60000, 1, tasks).selectExpr("id % 20000 x")
      values(sampled(rows, 5000))
    }
    assert(samples.head.size > 4900)
    samples.foreach(sample => assert(sample == samples.head))
  }

  test("a sample of many copies doesn't depend on the order of the rows in a task") {
    val rows = spark.range(0, 200000, 1, 50).selectExpr("id % 100 x")
    val sample = values(sampled(rows, 5000))
    assert(sample.size == 5000)
    assert(values(sampled(rows.sortWithinPartitions("x"), 5000)) == sample)
  }

  test("a number of ranges for which no sample is large enough is no error") {
    val largest = spark.range(0, 1100000, 1, 2).selectExpr("range_partition_id(id, 1048576) r")
      .selectExpr("max(r)").head().getInt(0)
    assert(largest > 600000 && largest < 1048576)
  }

  test("how exact a sample is") {
    def rows(hashes: Long*) = SampleRounds.independentRows(hashes.toArray)
    assert(rows() == 0)
    assert(rows(1, 2, 3) == 3)
    assert(rows(1, 1, 2, 2, 3, 3) == 3)
    assert(rows(7, 7, 7, 7) == 1)
    assert(rows(1, 1, 2) > 1 && rows(1, 1, 2) < 2)
  }

  test("frequent hashes that share a set are counted") {
    val random = new Random(2)
    val counter = new CopyCounter(1 << 14)
    val frequent = Seq(5L, 5L + (1 << 14), 5L + (7 << 20))
    for (i <- 1 to 300000)
      // A third of the hashes, and others.
      counter.add(if (random.nextInt(3) == 0) frequent(i % 3) else random.nextLong())
    frequent.foreach { hash =>
      counter.add(hash)
      assert(counter.atLeast > 30000)
    }
  }

  test("many values, of which each task has few, and others aren't lost together") {
    // Half of the rows have a value that occurs once, half one of ten values.
    for (seed <- 0 until 8) {
      val rows = spark.range(0, 16000, 1, 200)
        .selectExpr(s"if(id % 2 = 0, -1 - $seed * 10 - (id div 2) % 10, id) x")
      val found = values(sampled(rows, 800)).count(_ < 0)
      // Six standard deviations.
      assert(math.abs(found - 400) < 6 * 14)
    }
  }

  test("the bounds of a count hold, and no two copies have the same number") {
    val random = new Random(1)
    for (sets <- Seq(1, 8, 1024)) {
      val counter = new CopyCounter(sets)
      val exact = scala.collection.mutable.Map.empty[Long, Long].withDefaultValue(0)
      val last = scala.collection.mutable.Map.empty[Long, Long].withDefaultValue(0)
      for (_ <- 1 to 20000) {
        // Small numbers are frequent.
        val hash = math.abs(random.nextGaussian() * 10).toLong
        exact(hash) += 1
        counter.add(hash)
        assert(counter.atLeast >= 1 && counter.atLeast <= exact(hash))
        assert(counter.atMost >= exact(hash) && counter.atMost > last(hash))
        last(hash) = counter.atMost
        // Each has a slot of its own.
        if (sets == 1024) assert(counter.atLeast == counter.atMost)
      }
    }
  }
}
