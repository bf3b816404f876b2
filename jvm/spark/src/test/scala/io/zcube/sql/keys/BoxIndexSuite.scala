package io.zcube.sql.keys

import scala.util.Random

import org.apache.spark.sql.types.{IntegerType, LongType}
import org.scalatest.funsuite.AnyFunSuite

class BoxIndexSuite extends AnyFunSuite {

  test("a key is held if and only if one of the boxes holds it, with NULLs and open ends") {
    for (seed <- 1 to 300) {
      val random = new Random(seed)
      val values = 2 + random.nextInt(30)
      def bounds[T](of: Int => T): (Any, Any) = {
        val (a, b) = (random.nextInt(values), random.nextInt(values))
        val (low, high) = (of(math.min(a, b)), of(math.max(a, b)))
        random.nextInt(8) match {
          case 0 => (null, null)
          case 1 => (null, high)
          case 2 => (low, ValueBox.Unbounded)
          case 3 => (ValueBox.Unbounded, high)
          case 4 => (null, ValueBox.Unbounded)
          case _ => (low, high)
        }
      }
      def box() = {
        val both = Seq(bounds(_.toLong), bounds(identity))
        new ValueBox(both.map(_._1).toArray, both.map(_._2).toArray)
      }
      val cover = new ValueCover(IndexedSeq(LongType, IntegerType), Array.empty)
      val boxes = Array.fill(random.nextInt(20))(box())
      val index = new BoxIndex(boxes, cover)
      for (_ <- 1 to 40) {
        val key = box()
        assert(index.holds(key) == boxes.exists(cover.contains(_, key)), s"seed $seed: $key")
      }
    }
  }
}
