package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** What tells rows apart when a hash decides which ones are sampled. It isn't how rows were divided among
  * tasks, so that the same rows give the same sample with any number of cores.
  */
sealed trait RowIdentity extends Serializable {

  /** A function that hashes the rows of one partition to [0, Long.MaxValue]. */
  def hasher(partition: Int): InternalRow => Long
}

object RowIdentity {

  /** The row's contents, for plans that are no plain scan of files. Equal rows share their fate. But a row
    * that is there so often that it would fill the sample, or be missing in it, is drawn copy by copy
    * once a task has seen many of it; which copies that are depends on the tasks.
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

    /** Copies of a row that share their fate: a hundredth of the smallest sample of a layout. */
    private val Together = 1000L
  }

  /** The row's file and its place in it, read from two columns of the row: independent of how many
    * cores there are and how files are split or packed into tasks. Only the file's own name counts,
    * so that a copy of a table in another folder gives the same sample.
    *
    * @param fileName ordinal of the file's name (`_metadata.file_name`)
    * @param rowIndex ordinal of the place of the row in its file (`_metadata.row_index`)
    */
  final case class FilePlace(fileName: Int, rowIndex: Int) extends RowIdentity {
    override def hasher(partition: Int): InternalRow => Long = {
      var lastName: UTF8String = null
      var seed = 0L
      row => {
        val name = row.getUTF8String(fileName)
        // A file's rows come together: its name is hashed once, not for each row.
        if (name != lastName) {
          lastName = name.clone()
          seed = RowHash.ofName(name)
        }
        RowHash.of(seed, row.getLong(rowIndex))
      }
    }
  }
}
