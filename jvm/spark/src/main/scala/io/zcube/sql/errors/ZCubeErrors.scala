package io.zcube.sql.errors

import org.apache.spark.sql.types.DataType

/** The one factory of ZCube's errors; their texts are in `error/zcube-error-conditions.json`. */
object ZCubeErrors {

  def clusterInputSizeUnknown(): Throwable =
    analysis("ZCUBE_CLUSTER_INPUT_SIZE_UNKNOWN")

  def hilbertValueOutOfRange(value: Long, bits: Int): Throwable =
    new ZCubeArithmeticException(
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE",
      Map(
        "value" -> value.toString,
        "bits" -> bits.toString,
        "greatest" -> ((1L << bits) - 1).toString))

  def invalidOption(option: String, value: String, expected: String): Throwable =
    analysis("ZCUBE_INVALID_OPTION", "option" -> option, "value" -> value, "expected" -> expected)

  def optionsNotSupported(): Throwable = analysis("ZCUBE_OPTIONS_NOT_SUPPORTED")

  /** @param reason a subclass of ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED */
  def rangePartitionIdUnsupported(call: String, reason: String): Throwable =
    analysis(s"ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.$reason", "call" -> call)

  def rowCountMismatch(table: String, rowsIn: Long, rowsOut: Long): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_ROW_COUNT_MISMATCH",
      Map("table" -> table, "rowsIn" -> rowsIn.toString, "rowsOut" -> rowsOut.toString))

  def streamingNotSupported(): Throwable = analysis("ZCUBE_STREAMING_NOT_SUPPORTED")

  def tooManyColumns(count: Int, limit: Int): Throwable =
    analysis("ZCUBE_TOO_MANY_COLUMNS", "count" -> count.toString, "limit" -> limit.toString)

  def unknownOption(option: String, known: Seq[String]): Throwable =
    analysis("ZCUBE_UNKNOWN_OPTION", "option" -> option, "known" -> known.sorted.mkString(", "))

  def unorderedType(column: String, dataType: DataType): Throwable =
    analysis("ZCUBE_UNORDERED_TYPE", "column" -> column, "dataType" -> dataType.sql)

  private def analysis(condition: String, parameters: (String, String)*): Throwable =
    new ZCubeAnalysisException(condition, parameters.toMap)
}
