package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** Collects the keys of a task's rows: individually while they are few, then in boxes.
  *
  * @param nullSafe  for each dimension, whether a NULL is a key; otherwise a row with one matches nothing
  * @param mostKeys  maximum number of keys held before they are grouped into boxes
  * @param mostBoxes maximum number of boxes
  */
final class KeyCollector(
    cover: ValueCover,
    nullSafe: IndexedSeq[Boolean],
    mostKeys: Int,
    mostBoxes: Int) {
  import KeyCollector._

  private val keys = new java.util.HashSet[Seq[Any]]
  private var boxes = Array.empty[ValueBox]
  private var isEverything = false

  def add(row: InternalRow): Unit =
    if (!isEverything) {
      val key = new Array[Any](cover.types.length)
      var matches = true
      var d = 0
      while (d < key.length && matches) {
        if (row.isNullAt(d)) matches = nullSafe(d) else key(d) = row.get(d, cover.types(d))
        d += 1
      }
      if (matches && !boxes.exists(cover.contains(_, key))) {
        keys.add(key.map(owned).toSeq)
        if (keys.size >= mostKeys) reduce(mostBoxes)
      }
    }

  /** Boxes, most of them single keys, that hold all keys of the rows; None if they touch nearly all
    * files.
    */
  def result: Option[Array[ValueBox]] = {
    if (!isEverything && keys.size + boxes.length > mostBoxes) reduce(mostBoxes)
    Option.when(!isEverything)(boxes ++ points)
  }

  private def points: Array[ValueBox] = {
    val all = new Array[ValueBox](keys.size)
    val each = keys.iterator
    all.indices.foreach { i =>
      val key = each.next().toArray
      all(i) = new ValueBox(key, key)
    }
    all
  }

  private def reduce(most: Int): Unit = {
    boxes = cover.reduce(boxes ++ points, most)
    keys.clear()
    isEverything = cover.fileCount > 0 && cover.met(boxes) >= cover.fileCount * NearlyAll
    if (isEverything) boxes = Array.empty
  }
}

object KeyCollector {

  /** A share of the files: reading the few others costs less than distinguishing them. */
  val NearlyAll = 0.95

  /** Copied, because the next row reuses the memory. */
  private def owned(value: Any): Any = value match {
    case text: UTF8String => text.clone()
    case other => other
  }
}
