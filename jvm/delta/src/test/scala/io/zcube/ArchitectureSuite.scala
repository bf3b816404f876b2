package io.zcube

import com.tngtech.archunit.core.domain.{JavaClass, JavaClasses}
import com.tngtech.archunit.core.importer.{ClassFileImporter, Location}
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import com.tngtech.archunit.library.dependencies.{SliceAssignment, SliceIdentifier, SlicesRuleDefinition}
import org.scalatest.funsuite.AnyFunSuite

/** What the packages of all modules may know of each other. */
class ArchitectureSuite extends AnyFunSuite {
  import ArchitectureSuite._

  test("no package depends on itself by way of others") {
    SlicesRuleDefinition.slices().assignedFrom(ByPackage).should().beFreeOfCycles().check(classes)
  }

  test("the curves, layouts and plans know no Spark") {
    noClasses()
      .that().resideInAPackage("io.zcube..")
      .and().resideOutsideOfPackages("io.zcube.sql..", "io.zcube.clustering..", "io.zcube.delta..")
      .should().dependOnClassesThat().resideInAPackage("org.apache..")
      .check(classes)
  }

  test("the engine knows no Delta") {
    noClasses()
      .that().resideInAnyPackage("io.zcube.sql..", "io.zcube.clustering..", Fence)
      .should().dependOnClassesThat().resideInAnyPackage(
        "io.delta..",
        "io.zcube.delta..",
        "org.apache.spark.sql.delta..")
      .check(classes)
  }
}

object ArchitectureSuite {
  private val Delta = "org.apache.spark.sql.delta.zcube"

  /** What needs members that only Spark's own packages see, and knows no table format. */
  private val Fence = "org.apache.spark.sql.zcube"

  /** Main classes only: tests stand beside what they test, and may reach across. */
  private lazy val classes: JavaClasses = {
    val found = new ClassFileImporter()
      .withImportOption((location: Location) => !location.contains("/test-classes/"))
      .importPackages("io.zcube", Fence, Delta)
    // An empty set would pass every rule.
    Seq(
      "io.zcube.curve.HilbertCurve",
      "io.zcube.clustering.run.OptimizeRunner",
      s"$Fence.Sessions",
      s"$Delta.commit.DeltaRewrite").foreach(name => require(found.contain(name), name))
    found
  }

  private object ByPackage extends SliceAssignment {
    override def getIdentifierOf(of: JavaClass): SliceIdentifier =
      SliceIdentifier.of(of.getPackageName)

    override def getDescription: String = "packages"
  }
}
