import com.typesafe.tools.mima.core.{Problem, ProblemFilter}
import com.typesafe.tools.mima.plugin.MimaKeys._
import sbt.Keys._
import sbt._

/** Checks that jobs compiled against the last release run with this version: `mimaReportBinaryIssues`, part of `make
  * lint`.
  */
object Compatibility {

  /** The last release; None before the first. `-Dcompatible.with=…` is for trials. */
  private val release: Option[String] = sys.props.get("compatible.with")

  /** What users' code may link. Anything else may change in any release. None of these may inherit from a class of
    * ZCube's that isn't listed, as MiMa reports what changes there under that class.
    */
  private val public: Seq[String] = Seq(
    "io.zcube.sql.ZCubeSparkSessionExtension",
    "io.zcube.sql.functions",
    "io.zcube.sql.metrics.ZCubePlugin"
  )

  private val onlyPublic: ProblemFilter = (problem: Problem) =>
    public.exists(name =>
      problem.matchName.exists(at => s"$at.".replaceAll("[$#]", ".").startsWith(s"$name.")))

  val settings: Seq[Setting[_]] = Seq(
    mimaPreviousArtifacts := release.map(organization.value %% moduleName.value % _).toSet,
    mimaFailOnNoPrevious := false,
    // The jar holds the classes of all modules.
    mimaCurrentClassfiles := (Compile / packageBin).value,
    mimaBinaryIssueFilters += onlyPublic
  )
}
