package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** What tells rows apart when a hash decides which ones are sampled. */
sealed trait RowIdentity extends Serializable {

  /** A function that hashes the rows of one partition, in their order, to [0, Long.MaxValue]. */
  def hasher(partition: Int): InternalRow => Long
}

object RowIdentity {

  /** The row's partition and its place in it: for plans that are no plain scan of files. The same
    * plan over the same data gives the same sample as long as its partitions stay the same.
    */
  case object PartitionPlace extends RowIdentity {
    override def hasher(partition: Int): InternalRow => Long = {
      val seed = RowHash.mix(partition.toLong + 1)
      var row = 0L
      _ => {
        row += 1
        RowHash.of(seed, row)
      }
    }
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
