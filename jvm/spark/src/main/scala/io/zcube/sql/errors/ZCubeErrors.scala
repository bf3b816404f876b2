package io.zcube.sql.errors

/** One factory method for each condition of `zcube-error-conditions.json`, named after it. */
object ZCubeErrors {

  /** `ZCUBE_HILBERT_VALUE_OUT_OF_RANGE`: a coordinate that does not fit the bits of the curve. */
  def hilbertValueOutOfRange(value: Long, bits: Int): ZCubeRuntimeException =
    new ZCubeRuntimeException(
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE",
      Map(
        "value" -> value.toString,
        "maxValue" -> ((1L << bits) - 1).toString,
        "bits" -> bits.toString))
}
