package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** What identifies a row when a hash decides which rows are sampled. It doesn't depend on how rows
  * are divided among tasks, so the same rows give the same sample with any number of cores.
  */
sealed trait RowIdentity extends Serializable {

  /** A function that hashes the rows of one partition to [0, Long.MaxValue]. */
  def hasher(partition: Int): InternalRow => Long

  /** How many equal rows of a task are usually sampled together: all or none. */
  def together: Int

  /** An identity that tells apart rows that this one doesn't; None if this one tells all apart. */
  def apart: Option[RowIdentity] = None
}

object RowIdentity {

  /** The row's contents, for plans that aren't a plain scan of files. The first copies of a row in
    * each task are sampled together, so that a sample of rows with few copies depends on the
    * contents alone. The others are sampled individually, and which ones depends on the tasks.
    *
    * Many tasks may have the first copies of the same row, and a task overlooks copies of more rows
    * than it can count ([[CopyCounter]]). So a sample of copies that are all [[apart]] is drawn beside it, and used if
    * the first one is too coarse.
    *
    * @param hash     ordinal of a hash of the contents, a BIGINT
    * @param together the number of copies in each task that are sampled together
    */
  final case class Contents(hash: Int, override val together: Int = Contents.Together)
      extends RowIdentity {
    override def hasher(partition: Int): InternalRow => Long = {
      val copies = new CopyCounter(Contents.Counters)
      val seed = RowHash.mix(partition.toLong + 1)
      row => {
        val contents = row.getLong(hash) & Long.MaxValue
        copies.add(contents)
        if (copies.atLeast <= together) contents else RowHash.of(contents ^ seed, copies.atMost)
      }
    }

    override def apart: Option[RowIdentity] = Option.when(together > 0)(copy(together = 0))
  }

  object Contents {
    private val Counters = 1 << 16

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
    override def together: Int = 1

    override def hasher(partition: Int): InternalRow => Long = {
      var last: UTF8String = null
      var seed = 0L
      row => {
        val path = row.getUTF8String(file)
        // A file's rows arrive together, so its path is hashed only once.
        if (path != last) {
          last = path.clone()
          seed = RowHash.ofPath(path)
        }
        RowHash.of(seed, row.getLong(rowIndex))
      }
    }
  }
}
