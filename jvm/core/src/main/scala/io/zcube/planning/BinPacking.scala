package io.zcube.planning

/** Divides a group of files that is too large for one cube. */
object BinPacking {

  /** In the given order. A bin is full before it would exceed `bytes`, or when it has its even share
    * of the whole, so that the last bin is no sliver. A file larger than `bytes` has its own bin.
    */
  def pack(files: Seq[PlannedFile], bytes: Long): Seq[Seq[PlannedFile]] = {
    val total = PlannedFile.bytesOf(files)
    val even = total / math.max(1.0, math.ceil(total.toDouble / bytes))
    val bins = Seq.newBuilder[Seq[PlannedFile]]
    var bin = Vector.empty[PlannedFile]
    var size = 0L
    files.foreach { file =>
      if (bin.nonEmpty && (size + file.file.bytes > bytes || size >= even)) {
        bins += bin
        bin = Vector.empty
        size = 0L
      }
      bin :+= file
      size += file.file.bytes
    }
    if (bin.nonEmpty) bins += bin
    bins.result()
  }
}
