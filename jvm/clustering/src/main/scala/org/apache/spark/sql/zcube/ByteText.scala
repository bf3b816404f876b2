package org.apache.spark.sql.zcube

import org.apache.spark.util.Utils

/** Numbers of bytes in the format of Spark's UI, such as `1.5 GiB`. */
object ByteText {
  def of(bytes: Long): String = Utils.bytesToString(bytes)
}
