package org.apache.spark.sql.delta.zcube

import java.io.{FilterOutputStream, OutputStream}

import org.apache.hadoop.fs.Path

/** What a [[FaultyFileSystem]] writes to the disk, below its buffer: so a fault strikes when the
  * buffer is full, or inside the `flush` or `close` of the stream that the writer sees.
  */
final private[zcube] class FaultyOutputStream(path: Path, file: OutputStream)
    extends FilterOutputStream(file) {

  override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    def some(n: Int): Unit = file.write(bytes, offset, n)
    Faults.in("write", path, some(length / 2))(some(length))
  }

  override def flush(): Unit = Faults.in("flush", path)(file.flush())

  override def close(): Unit = file.close()
}
