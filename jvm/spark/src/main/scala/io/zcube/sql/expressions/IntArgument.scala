package io.zcube.sql.expressions

import org.apache.spark.sql.types._

/** Which arguments the curve functions take as they are, without a cast. */
private[expressions] object IntArgument {

  def isIntOrNarrower(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | NullType => true
    case _ => false
  }
}
