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
      .and().resideOutsideOfPackages("io.zcube.sql..", "io.zcube.delta..")
      .should().dependOnClassesThat().resideInAPackage("org.apache..")
      .check(classes)
  }

  test("what is below Spark's listeners and threads knows no Delta") {
    noClasses()
      .that().resideInAnyPackage(s"$Delta.jobs..", "io.zcube.sql..")
      .should().dependOnClassesThat().resideInAnyPackage(
        "io.delta..",
        "org.apache.spark.sql.delta",
        "org.apache.spark.sql.delta.actions..",
        "org.apache.spark.sql.delta.commands..")
      .check(classes)
  }
}

object ArchitectureSuite {
  private val Delta = "org.apache.spark.sql.delta.zcube"

  /** Main classes only: tests stand beside what they test, and may reach across. */
  private lazy val classes: JavaClasses = {
    val found = new ClassFileImporter()
      .withImportOption((location: Location) => !location.contains("/test-classes/"))
      .importPackages("io.zcube", Delta)
    // An empty set would pass every rule.
    require(
      found.contain("io.zcube.curve.HilbertCurve") && found.contain(s"$Delta.run.OptimizeRunner"))
    found
  }

  private object ByPackage extends SliceAssignment {
    override def getIdentifierOf(of: JavaClass): SliceIdentifier =
      SliceIdentifier.of(of.getPackageName)

    override def getDescription: String = "packages"
  }
}
