package io.zcube.clustering.table

/** A table that the engine can lay out: the door between it and a table format.
  *
  * An OPTIMIZE goes through it so:
  *
  *   1. The format resolves the statement's target, and pins a [[TableVersion]].
  *   1. [[TableVersion.select]] gives the files that WHERE picks, a [[FileSelection]]; planning reads
  *      nothing else.
  *   1. For each group of files that is to become a cube, [[FileSelection.scan]] gives its rows, and
  *      [[FileSelection.begin]] a [[RewriteTransaction]], which writes them anew and commits them, or
  *      is aborted.
  *
  * The format keeps its own statements: it parses them, checks privileges, and refuses what can't be
  * done, before the engine begins.
  */
trait ClusterableTable {

  /** As the user knows it, for job descriptions and messages. */
  def name: String

  /** The parts of its name in SQL, such as `spark_catalog`, `default`, `t`, or `delta` and a path. */
  def nameParts: Seq[String]

  /** The table as it is now. */
  def latest(): TableVersion
}
