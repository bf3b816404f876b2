package io.zcube

import com.tngtech.archunit.ArchConfiguration
import com.tngtech.archunit.core.domain.{JavaClass, JavaClasses}
import com.tngtech.archunit.core.importer.{ClassFileImporter, Location}
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import com.tngtech.archunit.library.dependencies.{SliceAssignment, SliceIdentifier, SlicesRuleDefinition}
import org.scalatest.funsuite.AnyFunSuite

/** The allowed dependencies among the packages of all modules. */
class ArchitectureSuite extends AnyFunSuite {
  import ArchitectureSuite._

  test("there are no dependency cycles among packages") {
    SlicesRuleDefinition.slices().assignedFrom(ByPackage).should().beFreeOfCycles().check(classes)
  }

  test("curves, layouts and plans don't depend on Spark") {
    noClasses()
      .that().resideInAPackage("io.zcube..")
      .and().resideOutsideOfPackages("io.zcube.sql..", "io.zcube.clustering..", "io.zcube.delta..")
      .should().dependOnClassesThat().resideInAPackage("org.apache..")
      .check(classes)
  }

  test("the engine doesn't depend on Delta") {
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

  /** Code that needs Spark's private members, independent of table formats. */
  private val Fence = "org.apache.spark.sql.zcube"

  /** Main classes only: tests are in the same package as the code they test, and may depend on
    * others.
    */
  private lazy val classes: JavaClasses = {
    // The rules need only the names of others' classes. Reading those of Spark takes half a minute.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false)
    val found = new ClassFileImporter()
      .withImportOption((location: Location) => !location.contains("/test-classes/"))
      .importPackages("io.zcube", Fence, Delta)
    // With an empty set, every rule would pass.
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
