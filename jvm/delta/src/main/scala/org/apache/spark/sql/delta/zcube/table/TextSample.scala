package org.apache.spark.sql.delta.zcube.table

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.unsafe.types.UTF8String

/** A sample of texts: those with the smallest hashes, so that their order doesn't matter, and the least and
  * the greatest, so that few are outside the sample.
  */
final private[table] class TextSample(maxSampled: Int) {
  private val byHash = new mutable.TreeMap[Int, UTF8String]
  private var min, max: UTF8String = _

  def add(text: UTF8String): Unit = {
    val hash = text.hashCode
    if (byHash.size < maxSampled || hash < byHash.lastKey) {
      byHash(hash) = text.clone()
      if (byHash.size > maxSampled) byHash -= byHash.lastKey
    }
    if (min == null || text.binaryCompare(min) < 0) min = text.clone()
    if (max == null || text.binaryCompare(max) > 0) max = text.clone()
  }

  /** The texts' first bytes. */
  def result: Array[Array[Byte]] =
    (byHash.values ++ Option(min) ++ Option(max)).map { text =>
      Arrays.copyOf(text.getBytes, math.min(text.numBytes, TextSample.MaxBytes))
    }.toArray
}

private object TextSample {

  /** Delta's statistics have at most 32 characters by default, other writers' may have more. */
  private val MaxBytes = 128
}
