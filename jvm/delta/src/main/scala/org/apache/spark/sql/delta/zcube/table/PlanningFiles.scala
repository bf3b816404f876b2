package org.apache.spark.sql.delta.zcube.table

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.SparkEnv
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.{Dataset, Encoders}

import io.zcube.planning.{CubeTag, DataFile}

/** Brings what planning needs to know of the log's files to the driver.
  *
  * There, a file's log action would take more than a kilobyte, mostly for texts that all files of a
  * cube or a partition have in common. So executors read the actions, and each task sends each of
  * these texts once.
  */
object PlanningFiles {

  /** @param files with any statistics, as long as they have the row counts
    * @param tags  reads the files' cubes; with None, no file has one
    */
  def of(files: Dataset[AddFile], tags: Option[CubeTags]): Seq[DataFile] = {
    def serializer = SparkEnv.get.closureSerializer.newInstance()
    // Spark compresses the rows of a result.
    val parts = files
      .mapPartitions { actions =>
        val bytes = serializer.serialize(partOf(actions, tags))
        Iterator(Arrays.copyOf(bytes.array, bytes.limit()))
      }(Encoders.BINARY)
      .collect()
    val loader = getClass.getClassLoader
    together(parts.iterator.map(part =>
      serializer.deserialize[Part](ByteBuffer.wrap(part), loader)))
  }

  /** The same of files that are on the driver already. */
  def of(files: Seq[AddFile], tags: Option[CubeTags]): Seq[DataFile] =
    together(Iterator(partOf(files.iterator, tags)))

  private def together(parts: Iterator[Part]): Seq[DataFile] = {
    val cubes = new Known[CubeTag]
    val partitions = new Known[Map[String, String]]
    parts.flatMap(_.files(cubes, partitions)).toIndexedSeq
  }

  private def partOf(actions: Iterator[AddFile], tags: Option[CubeTags]): Part = {
    val paths = mutable.ArrayBuilder.make[String]
    val numbers = mutable.ArrayBuilder.make[Long]
    val shares = mutable.ArrayBuilder.make[Double]
    val cubes = new SharedBuilder[CubeTag]
    val partitions = new SharedBuilder[Map[String, String]]
    actions.foreach { action =>
      val file = DataFiles.of(action, tags.flatMap(_.read(action)))
      paths += file.path
      numbers += file.bytes
      numbers += file.deletedBytes
      numbers += file.rows.getOrElse(Absent)
      numbers += file.deletedRows.getOrElse(Absent)
      shares += file.deletedShare
      cubes.add(file.cube)
      partitions.add(Some(file.partition))
    }
    new Part(paths.result(), numbers.result(), shares.result(), cubes.result, partitions.result)
  }

  /** Stands for a number that isn't known. */
  private val Absent = Long.MinValue

  private val NumbersPerFile = 4

  /** The files of a partition of the log's state.
    *
    * @param numbers for each file its bytes, its deleted bytes, rows and deleted rows
    */
  final private class Part(
      paths: Array[String],
      numbers: Array[Long],
      deletedShares: Array[Double],
      cubes: Shared[CubeTag],
      partitions: Shared[Map[String, String]])
      extends Serializable {

    def files(
        knownCubes: Known[CubeTag],
        knownPartitions: Known[Map[String, String]]): Iterator[DataFile] = {
      val cubeOf = cubes.among(knownCubes)
      val partitionOf = partitions.among(knownPartitions)
      paths.indices.iterator.map { i =>
        def number(k: Int) = numbers(i * NumbersPerFile + k)
        def known(k: Int) = Option.when(number(k) != Absent)(number(k))
        DataFile(
          paths(i),
          number(0),
          known(2),
          deletedShares(i),
          cubeOf(i),
          partition = partitionOf(i).get,
          deletedBytes = number(1),
          deletedRows = known(3))
      }
    }
  }

  private type Known[T] = mutable.HashMap[T, Option[T]]

  /** Values that files have in common.
    *
    * @param places for each file the position of its value; -1 if it has none
    */
  final private class Shared[T](values: Seq[T], places: Array[Int]) extends Serializable {

    /** The value of the i-th file: one object for all that are equal. */
    def among(known: Known[T]): Int => Option[T] = {
      val same = values.iterator.map(v => known.getOrElseUpdate(v, Some(v))).toIndexedSeq
      i => if (places(i) < 0) None else same(places(i))
    }
  }

  final private class SharedBuilder[T] {
    private val known = new mutable.LinkedHashMap[T, Int]
    private val places = mutable.ArrayBuilder.make[Int]

    def add(value: Option[T]): Unit =
      places += value.fold(-1)(known.getOrElseUpdate(_, known.size))

    def result: Shared[T] = new Shared(known.keys.toVector, places.result())
  }
}
