package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.functions.{coalesce, col, count, lit, sum, when}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.OutsideWhere
import io.zcube.planning.CubeRest

/** The files of a clustered table that WHERE excludes. */
object FilesOutside {

  /** Aggregated on the executors, because a cube may have a million files.
    *
    * @param selected the files that WHERE selects
    * @param cubes    ids of the cubes that contain some of them
    */
  def of(
      session: SparkSession,
      snapshot: Snapshot,
      selected: FileFilter,
      cubes: Set[String]): OutsideWhere = Sessions.within(session) {
    val files = snapshot.numOfFiles - selected.size
    if (files == 0 || cubes.isEmpty) OutsideWhere(files, Map.empty)
    else {
      val physical = col("stats.numRecords")
      val logical = physical - coalesce(col("deletionVector.cardinality"), lit(0L))
      // Exactly the same as DataFiles.liveBytesOf.
      val live = lit(1.0) - (lit(1.0) - logical.cast("double") / physical)
      val bytes = when(physical > 0, col("size") * live)
        .when(physical === 0, lit(0.0))
        .otherwise(col("size").cast("double"))
      val id = LoggedTags.cubeId
      val sums = selected
        .except(snapshot.withStats)
        .where(id.isin(cubes.toSeq.sorted: _*))
        .groupBy(id)
        .agg(
          count(lit(1)).as("number"),
          sum(bytes.cast("long")).as("bytes"),
          sum(logical).as("rows"),
          count(physical).as("counted"))
        .collect()
      OutsideWhere(
        files,
        sums.map { row =>
          val number = row.getAs[Long]("number")
          // Without the statistics of one file, the number of all rows is unknown.
          val rows = Option.when(row.getAs[Long]("counted") == number)(row.getAs[Long]("rows"))
          row.getString(0) -> CubeRest(number, row.getAs[Long]("bytes"), rows)
        }.toMap
      )
    }
  }
}
