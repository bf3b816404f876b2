package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.files.TahoeBatchFileIndex
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zcube.Sessions

/** Has files copied each by a task of its own, so that there are as many copies, each with the rows of
  * one. Spark has a scan's tasks read several files, largest first, wherever their rows lie; and parts
  * of larger ones.
  *
  * Only files of cubes are copied so, as their copies may stay there. Others, mostly the small ones of
  * earlier MERGEs, are better put together, as Spark does if there are more of them than cores.
  */
final private[merge] class FileByFile(session: SparkSession, log: MergeLog) extends AutoCloseable {
  import FileByFile._

  private var scan: Option[Scan] = None

  /** Whether a plan was optimized in which the scan leaves each file's rows together. */
  def isUsed: Boolean = scan.exists(_.isUsed)

  /** A scan of files of cubes. None where it gains too little, as few copies may stay in cubes, or costs
    * too much, as many of their originals are small, or as a large one would take longer than the rest.
    * None, too, if it can't be made.
    *
    * @param mayStay whether a file's copies may stay in its cube
    */
  def scanOf(files: Seq[AddFile], mayStay: AddFile => Boolean): Option[Scan] =
    unlessItFails {
      val ofCubes = files.filter(mayStay)
      openIfWorthIt(ofCubes, ofCubes, files)
    }

  /** The plan of files with each of them read by a task of its own, be it of a cube or not; the plan itself
    * where that gains too little or costs too much. [[UnshuffledFiles]] then finds out whether they stay
    * apart.
    */
  def planOf(files: Seq[AddFile], mayStay: AddFile => Boolean)(plan: LogicalPlan): LogicalPlan =
    unlessItFails {
      val (ofCubes, others) = files.partition(mayStay)
      // Of small ones, Delta makes one in each partition.
      val small = others.filter(isSmall(_, session.sessionState.conf))
      val more = small.size - small.map(_.partitionValues).distinct.size
      if (more > files.size / FilesForEachSmall) None
      else openIfWorthIt(ofCubes, files, files).map(_.all(plan))
    }.getOrElse(plan)

  private def unlessItFails[T](body: => Option[T]): Option[T] = {
    close()
    try body
    catch {
      case MergeFailures.Recoverable(e) =>
        log.recovered("a task may copy several files", e)
        close()
        None
    }
  }

  /** @param ofCubes those of all that may stay in cubes
    * @param read    those of all that are to be read file by file
    */
  private def openIfWorthIt(
      ofCubes: Seq[AddFile],
      read: Seq[AddFile],
      all: Seq[AddFile]): Option[Scan] = {
    if (isWorthIt(ofCubes, read, all, session.sessionState.conf)) {
      val own = Sessions.cloneOf(session)
      scan = Some(new Scan(own, read.iterator.map(_.path).toSet, log))
      readByFile(read.map(_.size).max, own.sessionState.conf)
    }
    scan
  }

  private def readByFile(largest: Long, conf: SQLConf): Unit = {
    // Spark closes a task's list of files once they have as many bytes, counting this for each.
    Seq(SQLConf.FILES_MAX_PARTITION_BYTES, SQLConf.FILES_OPEN_COST_IN_BYTES)
      .foreach(setting => conf.setConfString(setting.key, largest.toString))
    Seq(SQLConf.FILES_MAX_PARTITION_NUM, SQLConf.FILES_MIN_PARTITION_NUM).foreach(conf.unsetConf)
  }

  private def isWorthIt(
      ofCubes: Seq[AddFile],
      read: Seq[AddFile],
      all: Seq[AddFile],
      conf: SQLConf): Boolean = {
    val cores = session.leafNodeDefaultParallelism
    def bytes(of: Seq[AddFile]) = of.map(_.size).sum
    def areFew = ofCubes.nonEmpty && read.size <= MaxFiles
    def areAsManyAsAsked = conf.filesMinPartitionNum.forall(_ <= read.size) &&
      conf.filesMaxPartitionNum.forall(_ >= read.size)
    def areLarge = read.count(isSmall(_, conf)) <= math.max(cores, read.size / 2)
    def areEven = read.map(_.size).max <=
      math.max(conf.filesMaxPartitionBytes, bytes(all) / (2 * cores))
    def areEnough = bytes(ofCubes) >= MinShareOfBytes * bytes(all)
    areFew && areAsManyAsAsked && areLarge && areEven && areEnough
  }

  private def isSmall(file: AddFile, conf: SQLConf): Boolean =
    file.size < MinOpenCosts * conf.filesOpenCostInBytes

  override def close(): Unit = {
    scan.foreach(of => Sessions.close(of.session))
    scan = None
  }
}

private[merge] object FileByFile {

  /** How a plan's files are scanned file by file, if they are among some.
    *
    * @param session in which a task reads a file
    * @param paths   of these files
    */
  final class Scan(
      private[merge] val session: SparkSession,
      paths: Set[String],
      private[merge] val log: MergeLog) {

    /** Whether a plan was optimized in which it leaves each file's rows together. */
    @volatile private[merge] var isUsed = false

    /** The plan of the rows that are read file by file, and that of the other rows, if there are any. */
    def split(plan: LogicalPlan): (Option[LogicalPlan], Option[LogicalPlan]) =
      RowByRow.rowsOf(plan) match {
        case OfFiles(scan, relation, index) =>
          val (here, others) = index.addFiles.partition(file => paths.contains(file.path))
          isUsed = true
          def part(files: Seq[AddFile], in: sql.SparkSession) = Option.when(files.nonEmpty) {
            val ofThese = relation.copy(location = selected(index, files))(in)
            plan.transform { case `scan` => scan.copy(relation = ofThese) }
          }
          (part(here, session), part(others, relation.sparkSession))
        case _ => (None, Some(plan))
      }

    /** The plan of all rows, read file by file. */
    private[FileByFile] def all(plan: LogicalPlan): LogicalPlan = plan.transform {
      case OfFiles(scan, relation, index) =>
        // With the same index it would be equal, and a plan keeps what is equal.
        val ofThese = relation.copy(location = selected(index, index.addFiles))(session)
        val ofEach = scan.copy(relation = ofThese)
        ofEach.setTagValue(ByFile, this)
        ofEach
    }

    private def selected(index: TahoeBatchFileIndex, files: Seq[AddFile]) = new TahoeBatchFileIndex(
      index.spark,
      index.actionType,
      files,
      index.deltaLog,
      index.path,
      index.snapshot,
      index.partitionFiltersGenerated)
  }

  private val ByFile = TreeNodeTag[Scan]("zcube.fileByFile")

  /** How rows are scanned, if each task that makes them reads one file. */
  private[merge] def of(rows: LogicalPlan): Option[Scan] = RowByRow.rowsOf(rows).getTagValue(ByFile)

  private object OfFiles {
    def unapply(
        plan: LogicalPlan): Option[(LogicalRelation, HadoopFsRelation, TahoeBatchFileIndex)] =
      plan match {
        case scan: LogicalRelation => scan.relation match {
            case relation: HadoopFsRelation => relation.location match {
                // Not one of its subclasses, which has more than files.
                case index: TahoeBatchFileIndex if index.getClass == classOf[TahoeBatchFileIndex] =>
                  Some((scan, relation, index))
                case _ => None
              }
            case _ => None
          }
        case _ => None
      }
  }

  /** With more, [[CopiedFiles]] would compare too many with each other. */
  private val MaxFiles = 10000

  /** With a smaller share of the bytes, too little is gained for a session and one or two jobs. An
    * estimate.
    */
  private val MinShareOfBytes = 0.1

  /** Of so many files that are read file by file, one may be a small one that would be put together with
    * others. An estimate.
    */
  private val FilesForEachSmall = 10

  /** A file is small that has fewer bytes than so many times what Spark counts for opening one. */
  private val MinOpenCosts = 4
}
