package org.apache.spark.sql.delta.zcube.merge

import scala.collection.mutable

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.zcube.table.{CubeTags, FileFilter, LoggedStatistics, PlanningRanges, TableColumns}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.ColumnPath
import io.zcube.planning.KeyRanges
import io.zcube.sql.jobs.JobDescription

/** Keeps rows in their ZCubes where a MERGE copies them to new files.
  *
  * Delta's MERGE writes files without tags. So an OPTIMIZE clusters again what was only copied: with
  * keys all over a table, most of the table each time. A new file within the ranges of a removed one,
  * with most of the rows that this had when it was clustered, is as clustered, and gets its tags.
  *
  * Example: of a cube of 200 files, a MERGE without deletion vectors updates a row in each of 140. It
  * writes 140 files with the other rows, which belong to the cube, and some with the updated rows,
  * which are fresh.
  */
final private[merge] class CopiedFiles(
    session: SparkSession,
    snapshot: Snapshot,
    log: MergeLog) {
  import CopiedFiles._

  private val columnsOfTags = mutable.Map.empty[String, Option[Seq[ColumnPath]]]

  /** What the table is clustered by, in the form of the tag. */
  private lazy val declared: Option[String] =
    Option(TableColumns.clusteringColumns(session, snapshot)).filter(_.nonEmpty)
      .map(CubeTags.physicalNames)

  /** The columns of a file's cube, if copies of it may stay there. None if the table has other clustering
    * columns since: what is written anew is clustered by those.
    */
  private def columnsOf(file: AddFile): Option[Seq[ColumnPath]] =
    file.getTag(CubeTags.PhysicalColumns).flatMap { tag =>
      columnsOfTags.getOrElseUpdate(
        tag,
        if (declared.forall(_ == tag)) CubeTags.columnsOf(file, snapshot.schema) else None)
    }

  /** Whether ZCube has laid a file out by columns that may still be those of its copies. */
  def mayStay(file: AddFile): Boolean = columnsOf(file).isDefined

  /** The new files of a MERGE, some with the tags of removed ones. */
  def inCubes(removed: Seq[AddFile], written: Seq[FileAction]): Seq[FileAction] = {
    val copies =
      try copiesOf(removed, written.collect { case f: AddFile => f })
      catch {
        // An OPTIMIZE then clusters these files again.
        case MergeFailures.Recoverable(e) =>
          log.recovered("no new files belong to the cubes of removed ones", e)
          Map.empty[String, AddFile]
      }
    if (copies.nonEmpty)
      log.info(s"${copies.size} new files belong to the cubes of removed ones")
    written.map {
      case file: AddFile =>
        copies.get(file.path).fold(file)(original => CubeTags.copied(original, file))
      case other => other
    }
  }

  /** The files that are copies of others, by path, each with its original. */
  private def copiesOf(removed: Seq[AddFile], added: Seq[AddFile]): Map[String, AddFile] = {
    val candidates = added.filter(!CubeTags.isInCube(_)).groupBy(_.partitionValues)
    // Mostly all have the same columns: their ranges are read at once, for all partitions.
    val ofCubes = for (file <- removed; columns <- columnsOf(file)) yield columns -> file
    ofCubes.groupMap(_._1)(_._2).flatMap { case (columns, originals) =>
      if (candidates.isEmpty) Nil
      else {
        val ranges = rangesOf(originals, candidates.values.flatten.toSeq, columns)
        originals.groupBy(_.partitionValues).toSeq.flatMap { case (partition, files) =>
          val written = candidates.getOrElse(partition, Nil)
          if (files.size.toLong * written.size <= MaxPairs) pairs(files, written, ranges)
          else {
            log.info(s"${written.size} new files are too many to compare with removed ones")
            Nil
          }
        }
      }
    }
  }

  /** Delta's scan leaves of the originals' statistics only the row count. */
  private def rangesOf(
      originals: Seq[AddFile],
      candidates: Seq[AddFile],
      columns: Seq[ColumnPath]): PlanningRanges = Sessions.within(session) {
    import org.apache.spark.sql.delta.implicits._
    val logged = FileFilter(originals.iterator.map(_.path)).of(snapshot.allFiles.toDF())
    val files = Seq(logged, session.createDataset(candidates).toDF()).map(_.select("path", "stats"))
    JobDescription.within(
      session.sparkContext,
      log.line(
        s"ranges of ${candidates.size} new files and of ${originals.size} removed ones")) {
      PlanningRanges.of(
        session,
        columns,
        LoggedStatistics.parsed(snapshot, files.reduce(_ union _)))
    }
  }
}

private object CopiedFiles {

  /** A file with a smaller share of the rows that were clustered leaves its cube, which would have too
    * many files otherwise.
    */
  private val MinShare = 0.5

  /** Comparing so many takes a second or two. */
  private val MaxPairs = 200L * 1000 * 1000

  /** Copies with their originals, each of which has at most one: the narrowest go first, then those with
    * the fewest rows.
    */
  private def pairs(
      originals: Seq[AddFile],
      candidates: Seq[AddFile],
      ranges: PlanningRanges): Seq[(String, AddFile)] = {
    def placed(files: Seq[AddFile]) = files.flatMap { file =>
      val of = ranges.of(file.path)
      for {
        rows <- file.numLogicalRecords
        clustered <- CubeTags.clusteredRows(file)
        if of.dimensions > 0
      } yield Placed(file, of, rows, clustered)
    }.sortBy(file => (file.width, file.rows, file.file.path)).toArray
    val (from, to) = (placed(originals), placed(candidates))
    val used = new Array[Boolean](from.length)
    to.toSeq.flatMap { copy =>
      val at = from.indices.find(i => !used(i) && copy.isCopyOf(from(i)))
      at.foreach(used(_) = true)
      at.map(i => copy.file.path -> from(i).file)
    }
  }

  /** @param clusteredRows how many it, or what it is a copy of, had when they were clustered */
  final private case class Placed(
      file: AddFile,
      ranges: KeyRanges,
      rows: Long,
      clusteredRows: Long) {

    /** The sum of the columns' widths, as logarithms, so that scales don't matter. */
    val width: Double = ranges.lower.indices.filterNot(ranges.isEmpty).map { i =>
      math.log(1.0 + ranges.upper(i).toDouble - ranges.lower(i).toDouble)
    }.sum

    def isCopyOf(original: Placed): Boolean =
      rows <= original.rows && rows >= MinShare * original.clusteredRows &&
        ranges.dimensions == original.ranges.dimensions &&
        // An interval without values is within any other.
        ranges.lower.indices.forall { i =>
          ranges.lower(i) >= original.ranges.lower(i) && ranges.upper(i) <= original.ranges.upper(i)
        }
  }
}
