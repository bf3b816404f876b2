package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.InternalRow

/** Collects the keys of a task's rows: individually while they are few, then in fewer boxes.
  *
  * @param mostKeys  maximum number of keys held before they are grouped into boxes
  * @param mostBoxes maximum number of boxes
  */
final class KeyCollector(layout: KeyLayout, cover: ValueCover, mostKeys: Int, mostBoxes: Int) {
  import KeyCollector._

  private val keys = new java.util.HashSet[ValueBox]
  private var boxes = Array.empty[ValueBox]
  private var index = new BoxIndex(boxes, cover)
  private var isEverything = false
  private var reductions = 0

  def add(row: InternalRow): Unit = if (!isEverything) layout.boxes(row, addBox)

  private val addBox: ValueBox => Unit = key =>
    if (!isEverything && !index.holds(key)) {
      keys.add(key)
      if (keys.size >= mostKeys) {
        reductions += 1
        reduce(math.min(mostBoxes, math.max(LeastBoxes, mostBoxes / reductions)))
      }
    }

  /** Boxes, most of them single keys, that hold all keys of the rows; None if they touch nearly all
    * files.
    */
  def result: Option[Array[ValueBox]] = {
    if (!isEverything && keys.size + boxes.length > mostBoxes) reduce(mostBoxes)
    Option.when(!isEverything)(boxes ++ each)
  }

  private def each: Array[ValueBox] = keys.toArray(new Array[ValueBox](keys.size))

  private def reduce(most: Int): Unit = {
    boxes = cover.reduce(boxes ++ each, most)
    keys.clear()
    isEverything = cover.fileCount > 0 && cover.met(boxes) >= cover.fileCount * NearlyAll
    if (isEverything) boxes = Array.empty
    index = new BoxIndex(boxes, cover)
  }
}

object KeyCollector {

  /** A share of the files: reading the few others costs less than distinguishing them. */
  val NearlyAll = 0.95

  /** As many as a MERGE uses in the end, by default. Scattered keys are regrouped again and again, so
    * down to here each time with fewer boxes, which take in more of the keys that follow.
    */
  private val LeastBoxes = 64
}
