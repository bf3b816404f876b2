package io.zcube.sql.keys

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Keys become boxes, and these a condition that must hold for every key, checked for each key. */
class KeyCollectorSuite extends AnyFunSuite {

  private val types: Seq[(DataType, Random => Any)] = Seq(
    LongType -> (r => r.nextLong() >> r.nextInt(64)),
    IntegerType -> (r => r.nextInt(50)),
    ShortType -> (r => r.nextInt(3000).toShort),
    DateType -> (r => r.nextInt(30000) - 15000),
    TimestampType -> (r => r.nextLong() >> 20),
    DecimalType(30, 4) -> (r => Decimal(BigDecimal(r.nextInt(10000)) / 16, 30, 4)),
    StringType -> (r =>
      UTF8String.fromString(Seq("", "a", "é", "zz")(r.nextInt(4)) + r.nextInt(400)))
  )

  /** One alternative, in which each column equals a key, or is NULL if the key is. */
  private def layoutOf(dimensions: (DataType, Boolean)*): BoundOrdinals = {
    val ranges = dimensions.map { case (dataType, nullSafe) =>
      val column = AttributeReference("t", dataType)()
      val key = AttributeReference("s", dataType)()
      SourceBounds.point(
        column,
        key,
        if (nullSafe) SourceBounds.MatchesNull else SourceBounds.MatchesNothing)
    }
    BoundOrdinals.of(ranges.map(_.column), Seq(ranges))._2
  }

  test("all keys are covered") {
    (0 until 200).foreach(checkCovered)
  }

  private def checkCovered(seed: Int): Assertion = {
    val random = new Random(seed)
    val dimensions = IndexedSeq.fill(1 + random.nextInt(3))(types(random.nextInt(types.size)))
    def keyOf() = dimensions.map { case (_, value) =>
      if (random.nextInt(20) == 0) null else value(random)
    }
    val nullSafe = dimensions.map(_ => random.nextBoolean())
    val files = Array.fill(random.nextInt(60)) {
      val bounds = dimensions.map { case (dataType, value) =>
        val (a, b) = (value(random), value(random))
        val order = io.zcube.sql.values.ValueOrdering.ofStatistics(dataType)
        if (random.nextInt(10) == 0) (null, null) else if (order.lt(a, b)) (a, b) else (b, a)
      }
      new ValueBox(bounds.map(_._1).toArray, bounds.map(_._2).toArray)
    }
    val keys = Seq.fill(1 + random.nextInt(500))(keyOf())
    val cover = new ValueCover(dimensions.map(_._1), files)
    val most = 2 + random.nextInt(40)
    val layout = layoutOf(dimensions.map(_._1).zip(nullSafe): _*)
    val collectors = Seq.fill(2)(new KeyCollector(layout, cover, 8 + random.nextInt(300), most))
    keys.zipWithIndex.foreach { case (key, i) =>
      collectors(i % 2).add(InternalRow.fromSeq(key))
    }
    val matching = keys.filter(_.zip(nullSafe).forall { case (value, safe) =>
      safe || value != null
    })
    val columns = dimensions.indices.map(i => BoundReference(i, dimensions(i)._1, nullable = true))
    val results = collectors.map(_.result)
    results.flatten.foreach(boxes => assert(boxes.length <= most))
    if (results.forall(_.isDefined)) {
      val boxes = cover.reduce(results.flatMap(_.get).distinct.toArray, most)
      assert(boxes.length <= most)
      val predicate = BoxPredicate.of(columns, columns.indices, boxes.toSeq)
      matching.foreach { key =>
        assert(predicate.eval(InternalRow.fromSeq(key)) == true, s"$key in ${boxes.toSeq}")
      }
      // Parts of it are covered too.
      val part = BoxPredicate.of(columns.take(1), Seq(0), boxes.toSeq)
      matching.foreach(key => assert(part.eval(InternalRow.fromSeq(key)) == true))
      if (matching.distinct.size <= most) {
        assert(boxes.length == matching.distinct.size)
        assert(boxes.forall(box => box.low.sameElements(box.high)))
      } else succeed
    } else assert(files.nonEmpty)
  }

  test("without keys no row of the target can match") {
    val cover = new ValueCover(IndexedSeq(LongType), Array.empty)
    val none = new KeyCollector(layoutOf(LongType -> false), cover, 10, 10)
    none.add(InternalRow(null))
    assert(none.result.exists(_.isEmpty))
    assert(BoxPredicate.of(Seq(BoundReference(0, LongType, true)), Seq(0), Nil) ==
      Literal.FalseLiteral)
  }

  test("a task gives up once nearly all files are touched") {
    val files = Array.tabulate[ValueBox](50)(i => new ValueBox(Array(i * 10L), Array(i * 10L + 9)))
    val cover = new ValueCover(IndexedSeq(LongType), files)
    val keys = new KeyCollector(layoutOf(LongType -> false), cover, 100, 64)
    (0L until 500L by 3).foreach(k => keys.add(InternalRow(k)))
    assert(keys.result.isEmpty)
  }

  test("keys in order are joined by the files that they meet, and grouped once at most") {
    val files =
      Array.tabulate[ValueBox](400)(i => new ValueBox(Array(i * 1000L), Array(i * 1000L + 899)))
    val cover = new ValueCover(IndexedSeq(LongType), files)
    // All of every other file, and behind the last one.
    val ordered = (0L until 400000L).filter(_ / 1000 % 2 == 0) ++ (1000000L until 1100000L)
    val ends =
      ordered.indices.map(i => ordered(if (i % 2 == 0) i / 2 else ordered.size - 1 - i / 2))
    for (keys <- Seq(ordered, ordered.reverse, ends)) {
      val collector = new KeyCollector(layoutOf(LongType -> false), cover, 1000, 512)
      keys.foreach(key => collector.add(InternalRow(key)))
      val boxes = collector.result.get
      assert(collector.reductions <= 1)
      assert(files.count(file =>
        boxes.exists { box =>
          box.low(0).asInstanceOf[Long] <= file.high(0).asInstanceOf[Long] &&
          file.low(0).asInstanceOf[Long] <= box.high(0).asInstanceOf[Long]
        }) == 200)
      ordered.indices.by(997).foreach { i =>
        val key = new ValueBox(Array(ordered(i)), Array(ordered(i)))
        assert(boxes.exists(cover.contains(_, key)), ordered(i))
      }
    }
  }

  test("texts that may be outside their file's statistics match anything") {
    val layout = layoutOf(StringType -> false)
    def boxOf(text: UTF8String) = {
      var found = Seq.empty[ValueBox]
      layout.boxes(InternalRow(text), box => found :+= box)
      found.head
    }
    val anything = new ValueBox(Array(null), Array(ValueBox.Unbounded))
    assert(boxOf(UTF8String.fromBytes(Array('a', 0xff.toByte))) == anything)
    assert(boxOf(UTF8String.fromString("a\udbff\udfffb")) == anything)
    val usual = UTF8String.fromString("a\ud83d\ude00\uffff")
    assert(boxOf(usual) == new ValueBox(Array(usual), Array(usual)))
  }

  test("keys stay when the memory of their rows is reused") {
    val cover = new ValueCover(IndexedSeq(StringType), Array.empty)
    val keys = new KeyCollector(layoutOf(StringType -> false), cover, 9, 9)
    val row = UnsafeProjection.create(Array[DataType](StringType))
    Seq("one", "two", "six").foreach { text =>
      keys.add(row(InternalRow(UTF8String.fromString(text))))
    }
    assert(keys.result.get.map(_.low.head.toString).toSet == Set("one", "two", "six"))
  }
}
