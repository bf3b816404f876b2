package io.zcube.curve

/** The oracle: the other direction, from index to point, with arbitrary precision and no table (Skilling's second routine). */
object PaperHilbert {
  def point(index: BigInt, dimensions: Int, bits: Int): Vector[BigInt] = {
    val x = Array.tabulate(dimensions) { axis =>
      (0 until bits).foldLeft(BigInt(0)) { (c, level) =>
        val source = (bits - 1 - level) * dimensions + (dimensions - 1 - axis)
        (c << 1) + (if (index.testBit(source)) 1 else 0)
      }
    }
    val carry = x(dimensions - 1) >> 1
    (dimensions - 1 to 1 by -1).foreach(i => x(i) = x(i) ^ x(i - 1))
    x(0) = x(0) ^ carry
    (1 until bits).foreach { level =>
      val low = (BigInt(1) << level) - 1
      (dimensions - 1 to 0 by -1).foreach { i =>
        if (x(i).testBit(level)) {
          x(0) = x(0) ^ low
        } else {
          val t = (x(0) ^ x(i)) & low
          x(0) = x(0) ^ t
          x(i) = x(i) ^ t
        }
      }
    }
    x.toVector
  }
}
