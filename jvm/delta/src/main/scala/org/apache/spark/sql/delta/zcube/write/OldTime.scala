package org.apache.spark.sql.delta.zcube.write

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, TimestampType}

/** A minimum or maximum, moved away from the values if it is of a time before 1973.
  *
  * Under spark.sql.legacy.timeParserPolicy = LEGACY, Spark reads times with Java's old classes. They
  * don't know seconds of offsets, which the last time zone had until 1972; earlier offsets differ by up
  * to a day and more; and of the ten days that the calendar lacks in 1582 they make others. With
  * [[OldTime.Margin]] more, sessions of either kind read a bound of all values.
  *
  * @param sign -1 for a minimum, 1 for a maximum
  */
final case class OldTime(child: Expression, sign: Int)
    extends UnaryExpression
    with CodegenFallback {

  override def dataType: DataType = TimestampType

  override protected def nullSafeEval(value: Any): Any = {
    val time = value.asInstanceOf[Long]
    if (time >= OldTime.End || time < OldTime.Start) time else time + sign * OldTime.Margin
  }

  override protected def withNewChildInternal(newChild: Expression): OldTime =
    copy(child = newChild)
}

object OldTime {

  /** 12 days, in microseconds. */
  private val Margin = 12 * 86400000000L

  /** 1973, in microseconds since 1970. */
  private val End = 94694400000000L

  /** What would overflow stays. No format has such years anyway. */
  private val Start = Long.MinValue + Margin
}
