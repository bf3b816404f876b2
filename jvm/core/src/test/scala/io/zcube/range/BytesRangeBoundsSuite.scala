package io.zcube.range

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.zcube.memory.UnsafeBytes

class BytesRangeBoundsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  /** The order in another form: hexadecimal text compares like its bytes. */
  private def hex(bytes: Seq[Byte]): String = bytes.map(b => f"${b & 0xff}%02x").mkString

  // Few different bytes, so that prefixes of all lengths are shared often; 0 is also the padding.
  private val fewBytes: Gen[Byte] = Gen.oneOf(Seq[Byte](0, 1, 97, 127, -128, -1))
  private def bytes(longest: Int): Gen[Seq[Byte]] =
    Gen.choose(0, longest).flatMap(Gen.listOfN(_, fewBytes))

  private val prefixed: Gen[(Seq[Byte], List[Seq[Byte]], List[Seq[Byte]])] = for {
    prefix <- bytes(20)
    middle <- bytes(9)
    tails <- Gen.listOf(bytes(10))
    bounds = tails.zipWithIndex.map { case (t, i) =>
      if (i % 2 == 0) prefix ++ t else prefix ++ middle ++ t
    }
    values <- Gen.listOf(Gen.oneOf(
      bytes(30),
      bytes(10).map(prefix ++ _),
      bytes(10).map(prefix ++ middle ++ _)))
  } yield (prefix, bounds, values)

  test("the id of a value is the number of bounds strictly below it") {
    forAll(prefixed) { case (prefix, bounds, values) =>
      val (texts, distinct) = bounds.distinct.map(b => hex(b) -> b).sortBy(_._1).unzip
      val ranges = BytesRangeBounds(distinct.map(_.toArray).toArray)
      val neighbours = distinct.flatMap(b => Seq(b, b :+ 0.toByte, b.dropRight(1)))
      (values ++ neighbours :+ prefix).foreach { v =>
        val text = hex(v)
        assert(ranges.idOf(v.toArray) === texts.count(_ < text), s"$text among $texts")
      }
    }
  }

  test("bytes within a larger array, and within an array of longs, are looked up in place") {
    val bounds = Seq("https://example.org/a", "https://example.org/b/1", "https://example.org/b/2")
    val ranges = BytesRangeBounds(bounds.map(_.getBytes("UTF-8")).toArray)
    val value = "https://example.org/b/15".getBytes("UTF-8")
    val padded = Array.fill[Byte](5)(-1) ++ value ++ Array.fill[Byte](9)(-1)
    assert(ranges.idOf(padded, UnsafeBytes.arrayOffset + 5, value.length) === 2)

    val longs = new Array[Long](4)
    val buffer = java.nio.ByteBuffer.allocate(32).order(java.nio.ByteOrder.nativeOrder())
    buffer.put(value).rewind()
    buffer.asLongBuffer().get(longs)
    // The first element of a long[] stands where that of a byte[] does, or later when aligned.
    val base = longArrayOffset
    assert(ranges.idOf(longs, base, value.length) === 2)
  }

  test("one bound, no bound and the empty value make the expected ids") {
    assert(BytesRangeBounds(Array.empty[Array[Byte]]).idOf(Array[Byte](1)) === 0)
    val empty = BytesRangeBounds(Array(Array.emptyByteArray))
    assert(empty.idOf(Array.emptyByteArray) === 0)
    assert(empty.idOf(Array[Byte](0)) === 1)
    val one = BytesRangeBounds(Array("abcdefghij".getBytes("UTF-8")))
    assert(one.idOf("abcdefghij".getBytes("UTF-8")) === 0)
    assert(one.idOf("abcdefghi".getBytes("UTF-8")) === 0)
    assert(one.idOf("abcdefghijk".getBytes("UTF-8")) === 1)
  }

  test("bounds that are not strictly ascending are rejected") {
    val a = Array[Byte](-1)
    val b = Array[Byte](1)
    Seq(Array(a, b), Array(a, a.clone())).foreach { bounds =>
      val error = intercept[IllegalArgumentException](BytesRangeBounds(bounds))
      assert(error.getMessage.contains("bound 1 is not above bound 0"))
    }
  }

  test("bounds don't change when the caller's arrays change, or when serialized") {
    val first = "a".getBytes("UTF-8")
    val ranges = BytesRangeBounds(Array(first, "c".getBytes("UTF-8")))
    first(0) = 'b'
    assert(ranges.idOf("b".getBytes("UTF-8")) === 1)

    val buffer = new ByteArrayOutputStream()
    new ObjectOutputStream(buffer).writeObject(ranges)
    val back = new ObjectInputStream(new ByteArrayInputStream(buffer.toByteArray)).readObject()
    assert(back === ranges)
    assert(back.hashCode === ranges.hashCode)
    assert(ranges !== BytesRangeBounds(Array("a".getBytes("UTF-8"))))
    assert(ranges.toString === "BytesRangeBounds(2 bounds)")
  }

  private def longArrayOffset: Long = {
    val field = classOf[sun.misc.Unsafe].getDeclaredField("theUnsafe")
    field.setAccessible(true)
    field.get(null).asInstanceOf[sun.misc.Unsafe].arrayBaseOffset(classOf[Array[Long]]).toLong
  }
}
