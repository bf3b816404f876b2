package io.zcube.range

/** Maps values to `long` keys whose signed order is the order of the values.
  *
  * Floating point follows SQL's total order: −∞ < … < −0.0 = 0.0 < … < ∞ < NaN, with all NaN equal.
  * The bits of IEEE 754 numbers of one sign already ascend with the magnitude, so only negative
  * numbers need their magnitude bits turned over.
  */
object OrderPreservingBits {

  /** {{{ofDouble(-1.0) < ofDouble(-0.0) == ofDouble(0.0) < ofDouble(Double.NaN)}}} */
  def ofDouble(value: Double): Long = {
    // Adding 0.0 makes 0.0 of −0.0; doubleToLongBits makes one NaN, positive, of all of them.
    val bits = java.lang.Double.doubleToLongBits(value + 0.0d)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** As [[ofDouble]]. Widening keeps order, zeros and NaN, so there is one rule for both. */
  def ofFloat(value: Float): Long = ofDouble(value.toDouble)

  /** false before true. */
  def ofBoolean(value: Boolean): Long = if (value) 1L else 0L
}
