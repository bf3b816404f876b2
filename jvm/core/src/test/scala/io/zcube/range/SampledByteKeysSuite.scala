package io.zcube.range

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class SampledByteKeysSuite extends AnyFunSuite {

  private def bytes(text: String): Array[Byte] = text.getBytes(UTF_8)

  /** By the numbers of the bytes, one after the other: the order of UTF-8 texts. */
  private def isBefore(a: Array[Byte], b: Array[Byte]): Boolean = {
    val (x, y) = (a.toSeq.map(_ & 0xff), b.toSeq.map(_ & 0xff))
    Ordering.Implicits.seqOrdering[Seq, Int].lt(x, y)
  }

  private def randomBytes(random: Random): Array[Byte] = {
    // Few values and common prefixes, so that strings are equal, or prefixes of each other.
    val prefix = Array.fill(random.nextInt(3) * 6)(7.toByte)
    prefix ++ Array.fill(random.nextInt(9))(Seq[Byte](0, 1, 7, 127, -128, -1)(random.nextInt(6)))
  }

  test("keys sort like the strings, whatever the sample") {
    for (seed <- 1 to 200) {
      val random = new Random(seed)
      val keys = SampledByteKeys.of(Seq.fill(random.nextInt(20))(randomBytes(random)))
      val strings = Array.fill(60)(randomBytes(random))
      for (a <- strings; b <- strings) {
        if (isBefore(a, b)) assert(keys.of(a) <= keys.of(b), s"seed $seed")
        assert(keys.of(a) >= 0)
      }
    }
  }

  test("strings of the sample have different keys, and so have most others, behind any prefix") {
    val random = new Random(1)
    for (prefix <- Seq("", "a", "https://example.org/very/long/path/of/everything/")) {
      def text() = bytes(prefix + random.nextLong(1000000000000L))
      val sample = Seq.fill(1000)(text())
      // An outlier doesn't cost the others their prefix.
      val keys = SampledByteKeys.of(sample :+ bytes("ftp:") :+ bytes("zzz"))
      assert(sample.map(keys.of).distinct.size === 1000)
      assert(Seq.fill(1000)(text()).map(keys.of).distinct.size > 990)
    }
  }

  test("without a sample, the first bytes are the key") {
    val keys = SampledByteKeys.of(Nil)
    assert(keys.of(bytes("ab")) === 0x6162000000L)
    assert(keys.of(bytes("abcdef")) === 0x6162636465L)
    assert(keys.of(bytes("")) === 0)
  }
}
