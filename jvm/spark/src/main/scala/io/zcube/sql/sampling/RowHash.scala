package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.types.UTF8String

/** Hashes of a row's position. The constants must never change: layouts must not change between
  * releases.
  */
object RowHash {

  /** Hash of a file's path. */
  def ofPath(path: UTF8String): Long =
    XXH64.hashUnsafeBytes(path.getBaseObject, path.getBaseOffset, path.numBytes, 42L)

  /** Hash of the row at position `position` with `seed`, in [0, Long.MaxValue]. */
  def of(seed: Long, position: Long): Long = mix(seed + position * 0x9e3779b97f4a7c15L) >>> 1

  /** A bijective mix of 64 bits: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
  def mix(value: Long): Long = {
    val a = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L
    val b = (a ^ (a >>> 27)) * 0x94d049bb133111ebL
    b ^ (b >>> 31)
  }
}
