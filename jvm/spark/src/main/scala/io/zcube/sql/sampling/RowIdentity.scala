package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** What identifies a row when a hash decides which rows are sampled. It doesn't depend on how rows
  * are divided among tasks, so the same rows give the same sample with any number of cores.
  */
sealed trait RowIdentity extends Serializable {

  /** A hasher of one partition's rows. */
  def hasher(partition: Int): RowHasher

  /** Whether [[RowHasher.apart]] differs from [[RowHasher.hash]]. */
  def mayHaveCopies: Boolean
}

/** Hashes the rows of a partition, one after the other, to [0, Long.MaxValue]. */
private[sql] trait RowHasher {

  /** Goes on to a row, to which the hashes then refer. */
  def next(row: InternalRow): Unit

  /** Some rows with the same contents may have the same hash. */
  def hash: Long

  /** A hash that tells all rows apart. */
  def apart: Long
}

object RowIdentity {

  /** The row's contents, for plans that aren't a plain scan of files. The first copies of a row in
    * each task are sampled together, so that a sample of rows with few copies depends on the
    * contents alone. The others are sampled individually, and which ones depends on the tasks.
    *
    * Many tasks may have the first copies of the same row, and a task overlooks copies of more rows
    * than it can count ([[CopyCounter]]). So a sample of copies that are all sampled individually is
    * drawn beside it, and used if the first one is too coarse.
    *
    * @param ordinal  of a hash of the contents, a BIGINT
    * @param together the number of copies in each task that are sampled together
    */
  final case class Contents(ordinal: Int, together: Int = Contents.Together) extends RowIdentity {
    override def mayHaveCopies: Boolean = together > 0

    override def hasher(partition: Int): RowHasher = new RowHasher {
      private val copies = new CopyCounter(Contents.Sets)
      private val seed = RowHash.mix(partition.toLong + 1)
      private var contents = 0L

      override def next(row: InternalRow): Unit = {
        contents = row.getLong(ordinal) & Long.MaxValue
        copies.add(contents)
      }
      override def hash: Long = if (copies.atLeast <= together) contents else apart
      override def apart: Long = RowHash.of(contents ^ seed, copies.atMost)
    }
  }

  object Contents {

    /** 65,536 hashes. */
    private val Sets = 1 << 14

    /** So few copies hardly make a sample less exact: at most as if it had a quarter of its rows. */
    private val Together = 4
  }

  /** The row's file and its position in it, read from two columns of the row: independent of the
    * number of cores and of how files are split or packed into tasks. Only the file's path below
    * the table's folder counts, so a copy of a table in another folder gives the same sample. Its
    * name doesn't suffice, because Spark gives one task's files in several folders the same name.
    *
    * @param file     ordinal of the file's path below the table's folder
    * @param rowIndex ordinal of the row's position in its file (`_metadata.row_index`)
    */
  final case class FilePosition(file: Int, rowIndex: Int) extends RowIdentity {
    override def mayHaveCopies: Boolean = false

    override def hasher(partition: Int): RowHasher = new RowHasher {
      private var last: UTF8String = null
      private var seed, position = 0L

      override def next(row: InternalRow): Unit = {
        val path = row.getUTF8String(file)
        // A file's rows arrive together, so its path is hashed only once.
        if (path != last) {
          last = path.clone()
          seed = RowHash.ofPath(path)
        }
        position = row.getLong(rowIndex)
      }
      override def hash: Long = RowHash.of(seed, position)
      override def apart: Long = hash
    }
  }
}
