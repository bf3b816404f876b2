package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** What identifies a row when a hash decides which rows are sampled. It doesn't depend on how rows
  * are divided among tasks, so the same rows give the same sample with any number of cores.
  */
sealed trait RowIdentity extends Serializable {

  /** A function that hashes the rows of one partition to [0, Long.MaxValue]. */
  def hasher(partition: Int): InternalRow => Long
}

object RowIdentity {

  /** The row's contents, for plans that aren't a plain scan of files. Equal rows are sampled
    * together. But once a task has seen many copies of a row, which would fill the sample or be
    * missing in it, the copies are sampled individually; which copies these are depends on the
    * tasks.
    *
    * @param hash ordinal of a hash of the contents, a BIGINT
    */
  final case class Contents(hash: Int) extends RowIdentity {
    override def hasher(partition: Int): InternalRow => Long = {
      val frequent = new FrequentHashes(Contents.Counters)
      val seed = RowHash.mix(partition.toLong + 1)
      row => {
        val contents = row.getLong(hash) & Long.MaxValue
        val copies = frequent.add(contents)
        if (copies <= Contents.Together) contents else RowHash.of(contents ^ seed, copies)
      }
    }
  }

  object Contents {
    private val Counters = 4096

    /** The number of copies of a row that are sampled together: a hundredth of the smallest sample
      * of a layout.
      */
    private val Together = 1000L
  }

  /** The row's file and its position in it, read from two columns of the row: independent of the
    * number of cores and of how files are split or packed into tasks. Only the file's name without
    * its folder counts, so a copy of a table in another folder gives the same sample.
    *
    * @param fileName ordinal of the file's name (`_metadata.file_name`)
    * @param rowIndex ordinal of the row's position in its file (`_metadata.row_index`)
    */
  final case class FilePosition(fileName: Int, rowIndex: Int) extends RowIdentity {
    override def hasher(partition: Int): InternalRow => Long = {
      var lastName: UTF8String = null
      var seed = 0L
      row => {
        val name = row.getUTF8String(fileName)
        // A file's rows arrive together, so its name is hashed only once.
        if (name != lastName) {
          lastName = name.clone()
          seed = RowHash.ofName(name)
        }
        RowHash.of(seed, row.getLong(rowIndex))
      }
    }
  }
}
