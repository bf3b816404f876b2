package io.zcube.layout

import java.math.MathContext

/** Ratios of weights that people write. */
object Ratio {

  /** `a / b`, to nine digits. Without rounding, 0.1 : 0.3 would be another ratio than 1 : 3, and a table
    * laid out with the one would be rewritten for the other.
    *
    * @param a a number of at least 0
    * @param b a number greater than 0; what is no number after the division stays so
    */
  def apply(a: Double, b: Double): Double = {
    val exact = a / b
    if (exact.isNaN || exact.isInfinite) exact else BigDecimal(exact).round(Digits).toDouble
  }

  private val Digits = new MathContext(9)
}
