package org.apache.spark.sql.delta.zcube

import org.apache.hadoop.fs.{FSDataInputStream, FSInputStream, Path}

/** An input stream of [[FaultyFileSystem]]. */
final private[zcube] class FaultyInputStream(path: Path, file: FSDataInputStream)
    extends FSInputStream {

  override def read(): Int = Faults.in("read", path)(file.read())

  override def read(buffer: Array[Byte], offset: Int, length: Int): Int =
    Faults.in("read", path)(file.read(buffer, offset, length))

  override def seek(position: Long): Unit = file.seek(position)

  override def getPos: Long = file.getPos

  override def seekToNewSource(target: Long): Boolean = file.seekToNewSource(target)

  override def available(): Int = file.available()

  override def close(): Unit = file.close()
}
