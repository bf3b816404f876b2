import scala.xml.transform.{RewriteRule, RuleTransformer}
import scala.xml.{Elem, Node, NodeSeq}

import sbt.Keys._
import sbt._

/** Metadata and target of the only published module: `dist/maven`, in the layout of a Maven repository. The
  * other modules are folded into its jar.
  */
object Publishing {

  /** The project's URL: `-Dproject.url=…`. A release with this default is rejected. */
  private val url: String = sys.props.getOrElse("project.url", "https://zcube.invalid")

  val settings: Seq[Setting[_]] = Seq(
    publish / skip := false,
    publishMavenStyle := true,
    Test / publishArtifact := false,
    publishTo := Some(
      MavenCache("staging", (ThisBuild / baseDirectory).value / "dist" / "maven")),
    pomIncludeRepository := (_ => false),
    description := "Clusters Delta Lake tables on Spark by several columns at once, so that queries skip files.",
    homepage := Some(sbt.url(url)),
    organizationName := "ZCube",
    organizationHomepage := homepage.value,
    scmInfo := Some(ScmInfo(sbt.url(url), s"scm:git:$url.git")),
    developers := List(Developer("zcube", "ZCube developers", "", sbt.url(url))),
    pomPostProcess := withoutInner(organization.value),
    Compile / doc / scalacOptions := Seq(
      "-doc-title",
      "ZCube",
      "-doc-version",
      version.value,
      "-no-link-warnings")
  )

  /** A pom without the modules in the jar and without test dependencies. */
  private def withoutInner(organization: String)(pom: Node): Node = {
    def text(dependency: Elem, name: String) = (dependency \\ name).text
    def isInner(dependency: Elem) =
      text(dependency, "groupId") == organization ||
        !Set("", "compile", "provided").contains(text(dependency, "scope"))
    val rule = new RewriteRule {
      override def transform(node: Node): Seq[Node] = node match {
        case e: Elem if e.label == "dependency" && isInner(e) => NodeSeq.Empty
        case other => other
      }
    }
    new RuleTransformer(rule).transform(pom).head
  }
}
