package io.zcube.clustering.run

import java.nio.file.{FileAlreadyExistsException, Files, Path, Paths}

/** Points where tests stop a run, to kill it or to change the table under it. They do nothing unless
  * the environment variable ZCUBE_FAILURE_POINTS names a folder when the process starts. Then the first
  * run to reach a point for which the folder has a file `<place>` creates `<place>.reached`, and waits
  * until `<place>` is deleted.
  */
object FailurePoint extends Enumeration {

  val BeforeSampling: Value = Value("before-sampling")
  val BeforeWriting: Value = Value("before-writing")
  val BeforeCommit: Value = Value("before-commit")
  val AfterCommit: Value = Value("after-commit")

  private val folder: Option[Path] = sys.env.get("ZCUBE_FAILURE_POINTS").map(Paths.get(_))

  def reached(place: Value): Unit = folder.map(_.resolve(place.toString)).foreach { switch =>
    if (Files.exists(switch)) {
      if (isFirst(switch.resolveSibling(s"$place.reached"))) {
        while (Files.exists(switch)) Thread.sleep(20)
      }
    }
  }

  private def isFirst(mark: Path): Boolean =
    try {
      Files.createFile(mark): Unit
      true
    } catch {
      case _: FileAlreadyExistsException => false
    }
}
