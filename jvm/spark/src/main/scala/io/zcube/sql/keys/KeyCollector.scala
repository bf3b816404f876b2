package io.zcube.sql.keys

import scala.collection.immutable.ArraySeq

import org.apache.spark.sql.catalyst.InternalRow

/** Collects the keys of a task's rows: individually while they are few, then in fewer boxes.
  *
  * When they become many, those between the same bounds of files are held as one box: they touch the
  * same files. If these boxes too become many, they are grouped into a few that touch as few files as
  * possible. Where most keys would have a box of their own, as in several dimensions, they are grouped
  * at once.
  *
  * @param maxKeys  maximum number of keys, or boxes, held before they are grouped
  * @param maxBoxes maximum number of boxes in the result
  */
final class KeyCollector(layout: BoundOrdinals, cover: ValueCover, maxKeys: Int, maxBoxes: Int) {
  import KeyCollector._

  private val maxEntries = math.max(maxKeys, maxBoxes + 1)
  private val keys = new java.util.HashSet[ValueBox]
  private val cells = new java.util.HashMap[ArraySeq[Int], ValueBox]
  private var boxes = Array.empty[ValueBox]
  private var index = new BoxIndex(boxes, cover)
  private var mayJoin = cover.fileCount > 0
  private var areJoined = false
  private var isEverything = false

  /** How often boxes were grouped. */
  private[keys] var reductions = 0
  // The number of cells at which to find out whether they touch nearly all files.
  private var nextCheck = 0

  def add(row: InternalRow): Unit = if (!isEverything) layout.boxes(row, addBox)

  private val addBox: ValueBox => Unit = key =>
    if (!isEverything && !index.holds(key)) {
      if (areJoined) join(key) else keys.add(key)
      if (keys.size >= maxEntries && mayJoin) joinAll()
      if (keys.size >= maxEntries || cells.size >= maxEntries) {
        reductions += 1
        reduce(math.min(maxBoxes, math.max(MinBoxes, maxBoxes / reductions)))
      } else if (areJoined && cells.size >= nextCheck) check()
    }

  /** Boxes, most of them single keys, that hold all keys of the rows; None if they touch nearly all
    * files.
    */
  def result: Option[Array[ValueBox]] = {
    if (!isEverything && areJoined) check()
    if (!isEverything && all.length > maxBoxes) reduce(maxBoxes)
    Option.when(!isEverything)(all)
  }

  private def all: Array[ValueBox] =
    boxes ++ keys.toArray(new Array[ValueBox](keys.size)) ++
      cells.values.toArray(new Array[ValueBox](cells.size))

  private def joinAll(): Unit = {
    keys.forEach(join(_))
    areJoined = cells.size <= maxEntries * MaxCells
    mayJoin = areJoined
    if (areJoined) keys.clear() else cells.clear()
  }

  private def join(key: ValueBox): Unit = {
    val cell = ArraySeq.unsafeWrapArray(cover.cellOf(key))
    val known = cells.get(cell)
    if (known == null) cells.put(cell, key): Unit
    else if (!cover.contains(known, key)) cells.put(cell, cover.around(known, key)): Unit
  }

  private def reduce(fewer: Int): Unit = {
    boxes = cover.reduce(all, fewer)
    keys.clear()
    cells.clear()
    index = new BoxIndex(boxes, cover)
    check()
  }

  /** Gives up if the boxes touch nearly all files. */
  private def check(): Unit = {
    // Afterwards each grouping is followed by one.
    nextCheck = if (reductions > 0) Int.MaxValue else cells.size + maxEntries / Checks
    isEverything = cover.fileCount > 0 && cover.touched(all) >= cover.fileCount * NearlyAll
    if (isEverything) {
      cells.clear()
      boxes = Array.empty
      index = new BoxIndex(boxes, cover)
    }
  }
}

object KeyCollector {

  /** A share of the files: reading the few others costs less than distinguishing them. */
  val NearlyAll = 0.95

  /** The default number of boxes of a MERGE. Each regrouping of scattered keys uses fewer boxes,
    * down to this number, so that they take in more of the keys that follow.
    */
  private val MinBoxes = 64

  /** Keys are held as cells if these are at most this share of the keys. */
  private val MaxCells = 0.75

  /** How often the files are counted before boxes are grouped. */
  private val Checks = 8
}
