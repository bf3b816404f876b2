package io.zcube.range

/** Maps values to `long` keys whose signed order is the order of the values.
  *
  * Floating point follows SQL's total order: −∞ < … < −0.0 = 0.0 < … < ∞ < NaN, with all NaN equal.
  * The bits of IEEE 754 numbers with the same sign already ascend with the magnitude, so only
  * negative numbers need their magnitude bits flipped.
  */
object OrderPreservingBits {

  /** {{{ofDouble(-1.0) < ofDouble(-0.0) == ofDouble(0.0) < ofDouble(Double.NaN)}}} */
  def ofDouble(value: Double): Long = {
    // Adding 0.0 turns −0.0 into 0.0; doubleToLongBits turns all NaNs into one positive NaN.
    val bits = java.lang.Double.doubleToLongBits(value + 0.0d)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** Like [[ofDouble]]. Widening keeps order, zeros and NaN, so both follow the same rule. */
  def ofFloat(value: Float): Long = ofDouble(value.toDouble)
}
