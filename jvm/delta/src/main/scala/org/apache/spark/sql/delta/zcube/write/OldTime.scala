package org.apache.spark.sql.delta.zcube.write

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, TimestampType}

/** A minimum or maximum, moved away from the values if it is of a time before 1920.
  *
  * Before then, the time zones of Java's old classes, with which Spark reads times under
  * spark.sql.legacy.timeParserPolicy = LEGACY, differ from the others by up to an hour. With a day
  * more, sessions of either kind read a bound of all values.
  *
  * @param micros how far, with its sign
  */
final case class OldTime(child: Expression, micros: Long)
    extends UnaryExpression
    with CodegenFallback {

  override def dataType: DataType = TimestampType

  override protected def nullSafeEval(value: Any): Any = {
    val time = value.asInstanceOf[Long]
    if (time >= OldTime.End || time < OldTime.Start) time else time + micros
  }

  override protected def withNewChildInternal(newChild: Expression): OldTime =
    copy(child = newChild)
}

object OldTime {

  /** 1920, in microseconds since 1970. */
  private val End = -1577923200000000L

  /** What would overflow stays. No format has such years anyway. */
  private val Start = Long.MinValue + Day

  def Day: Long = 86400000000L
}
