package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/** The ordinals of the bounds of the target's columns in a query over a MERGE's source.
  *
  * @param types of the dimensions
  * @param alternatives for each alternative, the bounds of each dimension
  */
final class BoundOrdinals private (
    val types: IndexedSeq[DataType],
    alternatives: Array[Array[BoundOrdinals.Place]])
    extends Serializable {
  import BoundOrdinals._

  /** The boxes of a row, for each alternative that it may match by. Values are copied where the
    * next row reuses the memory.
    */
  def boxes(row: InternalRow, use: ValueBox => Unit): Unit = {
    var i = 0
    while (i < alternatives.length) {
      val box = boxOf(row, alternatives(i))
      if (box != null) use(box)
      i += 1
    }
  }

  /** Null if the row matches nothing by this alternative. */
  private def boxOf(row: InternalRow, places: Array[Place]): ValueBox = {
    val low = new Array[Any](types.length)
    val high = new Array[Any](types.length)
    var matches = true
    var d = 0
    while (d < types.length && matches) {
      val place = places(d)
      if (place.isNull(row)) {
        // Two nulls stand for NULL.
        if (place.ifNull == SourceBounds.MatchesAnything) high(d) = ValueBox.Unbounded
        else matches = place.ifNull != SourceBounds.MatchesNothing
      } else if (place.isAnything) {
        high(d) = ValueBox.Unbounded
      } else {
        low(d) = valueAt(row, place.low, types(d))
        high(d) = if (place.isPoint) low(d) else valueAt(row, place.high, types(d))
        if (isBroken(low(d)) || isBroken(high(d))) {
          low(d) = null
          high(d) = ValueBox.Unbounded
        }
      }
      d += 1
    }
    if (matches) new ValueBox(low, high) else null
  }
}

object BoundOrdinals {

  /** @param low  the ordinal of the lower bound; [[Nowhere]] if there is none
    * @param high the ordinal of the upper bound
    */
  final private case class Place(low: Int, high: Int, ifNull: SourceBounds.IfNull) {
    val isPoint: Boolean = low == high && low != Nowhere
    val isAnything: Boolean = low == Nowhere && high == Nowhere
    def isNull(row: InternalRow): Boolean =
      low != Nowhere && row.isNullAt(low) || high != Nowhere && row.isNullAt(high)
  }

  private val Nowhere = -1

  private def valueAt(row: InternalRow, at: Int, dataType: DataType): Any =
    if (at == Nowhere) ValueBox.Unbounded
    else {
      row.get(at, dataType) match {
        case text: UTF8String => text.clone()
        case other => other
      }
    }

  /** Whether it may be outside the statistics of a file with a matching text.
    *
    * That is a text that isn't UTF-8, such as binary data: writers of statistics replace the bytes that
    * aren't. They end a truncated maximum with the largest character, which is less than some bytes
    * that aren't UTF-8. So a text that isn't may match a key with this character, and be above its
    * file's maximum.
    */
  private def isBroken(bound: Any): Boolean = bound match {
    case text: UTF8String => !text.isValid || text.contains(Greatest)
    case _ => false
  }

  private val Greatest = UTF8String.fromString(Character.toString(Character.MAX_CODE_POINT))

  /** The expressions of the query, and the layout of its rows.
    *
    * @param columns the dimensions, columns of the target
    */
  def of(
      columns: Seq[Expression],
      alternatives: Seq[Seq[SourceBounds]]): (Seq[Expression], BoundOrdinals) = {
    val bounds = alternatives.flatten.flatMap(range => range.low ++ range.high)
    val expressions = bounds.map(_.canonicalized).distinct.map { each =>
      bounds.find(_.canonicalized == each).get
    }
    def ordinal(bound: Option[Expression]) =
      bound.fold(Nowhere)(end => expressions.indexWhere(_.canonicalized == end.canonicalized))
    val places = alternatives.map { ranges =>
      columns.map { column =>
        ranges.find(_.column.canonicalized == column.canonicalized) match {
          case Some(range) => Place(ordinal(range.low), ordinal(range.high), range.ifNull)
          // Any value, and NULL.
          case None => Place(Nowhere, Nowhere, SourceBounds.MatchesAnything)
        }
      }.toArray
    }
    (expressions, new BoundOrdinals(columns.map(_.dataType).toIndexedSeq, places.toArray))
  }
}
