package io.zcube.clustering.table

/** A table that the engine can lay out: the interface between it and a table format.
  *
  * An OPTIMIZE uses it as follows:
  *
  *   1. The format resolves the statement's target, and pins a [[TableVersion]].
  *   1. [[TableVersion.select]] returns the files that WHERE selects, a [[FileSelection]]; planning
  *     reads nothing else.
  *   1. For each group of files that is rewritten together, [[FileSelection.scan]] returns its rows, and
  *     [[FileSelection.begin]] a [[RewriteTransaction]], which rewrites and commits them, or is
  *     aborted.
  *
  * The format handles its own statements: it parses them, checks privileges, and rejects what can't
  * be done, before the engine starts.
  */
trait ClusterableTable {

  /** The name that users know, for job descriptions and messages. */
  def name: String

  /** The parts of its SQL name, such as `spark_catalog`, `default`, `t`, or `delta` and a path. */
  def nameParts: Seq[String]

  /** The table's current version. */
  def latest(): TableVersion
}
