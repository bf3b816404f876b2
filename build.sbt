import scala.io.Source

val sparkLine = SparkVersions.current

ThisBuild / organization := "io.zcube"
ThisBuild / scalaVersion := SparkVersions.scala
// The version of both the jar and the wheel.
ThisBuild / version := {
  val text = IO.read((ThisBuild / baseDirectory).value / "python" / "zcube" / "_version.py")
  """__version__ = "([^"]+)"""".r.findFirstMatchIn(text).get.group(1)
}
ThisBuild / licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0"))
// For scalafix, which checks the default line.
ThisBuild / semanticdbEnabled := sparkLine == SparkVersions.lines.head
ThisBuild / semanticdbVersion := "4.14.2"
// Its cache has called a file clean that a clean checkout then refused.
ThisBuild / scalafixCaching := false
ThisBuild / tpolecatDefaultOptionsMode := org.typelevel.sbt.tpolecat.CiMode
// A test JVM keeps about one core busy: its driver plans while nothing else runs. Three at a time keep two cores busy;
// many more take each other's caches, and need more time in all.
Global / concurrentRestrictions := Seq(
  Tags.limitAll(math.max(3, java.lang.Runtime.getRuntime.availableProcessors)),
  Tags.limit(Tags.ForkedTestGroup, 3),
  Tags.exclusiveGroup(Tags.Clean)
)

// `sparkLine 4.1`: goes on with another line in the same JVM, whose compiler is warm by then.
Global / commands += Command.single("sparkLine") { (state, line) =>
  sys.props("spark.line") = line
  "reload" :: state
}

def sparkModule(name: String, config: String): ModuleID =
  "org.apache.spark" %% name % sparkLine.spark % config

val sparkOpens = Seq(
  "java.base/java.lang",
  "java.base/java.lang.invoke",
  "java.base/java.lang.reflect",
  "java.base/java.io",
  "java.base/java.net",
  "java.base/java.nio",
  "java.base/java.util",
  "java.base/java.util.concurrent",
  "java.base/java.util.concurrent.atomic",
  "java.base/jdk.internal.ref",
  "java.base/sun.nio.ch",
  "java.base/sun.nio.cs",
  "java.base/sun.security.action",
  "java.base/sun.util.calendar"
).flatMap(p => Seq("--add-opens", s"$p=ALL-UNNAMED")) ++
  Seq("-Djdk.reflect.useDirectMethodHandle=false", "-Dio.netty.tryReflectionSetAccessible=true")

// The suites of Spark and Delta run many small queries: most of their time goes into compiling
// bytecode, and the quick compiler will do; with the other, FaultsSuite took three times as long. By
// itself it gets 48 MB for code. With two cores, none is to spare for concurrent marking.
val quickJvm =
  Seq("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=400m", "-XX:+UseParallelGC")

// Over many minutes, the slow compiler saves more than it takes, if it only gets the methods that are called most: the
// random MERGEs then take half the time.
val patientJvm = Seq(
  "-XX:ReservedCodeCacheSize=600m",
  "-XX:+UseParallelGC",
  "-XX:Tier4InvocationThreshold=30000",
  "-XX:Tier4MinInvocationThreshold=10000",
  "-XX:Tier4CompileThreshold=60000",
  "-XX:Tier4BackEdgeThreshold=200000"
)

// Verifying the classes of Spark and Delta takes five seconds a JVM. Generated code, which the suites of Spark's module
// are about, isn't used here.
val unverified = Seq("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")

val common = Seq(
  // Each Spark line has its own output folder, so that switching lines never mixes classes.
  target := baseDirectory.value / "target" / s"spark-${sparkLine.line}",
  libraryDependencies ++= Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test,
    "org.scalacheck" %% "scalacheck" % "1.19.0" % Test),
  Test / fork := true,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= sparkOpens ++ Seq(
    "-Xmx3g",
    // Suites use more than Spark's 100 cached plans repeatedly.
    "-Dspark.sql.codegen.cache.maxEntries=5000",
    "-Duser.timezone=UTC",
    s"-Djava.io.tmpdir=${sys.props("java.io.tmpdir")}"
  ),
  // A fixed seed for generated data, so that failures are reproducible.
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF", "-S", "20261121"),
  Test / scalacOptions -= "-Wnonunit-statement",
  publish / skip := true
)

// Files that every jar must contain.
val legal = Def.setting {
  Seq("LICENSE", "NOTICE").map(f => (ThisBuild / baseDirectory).value / f -> s"META-INF/$f")
}

// `-Dlongest.first`, for all tests: others start after the JVMs with Delta's suites, of which one would else be the
// last, alone, for over a minute.
val longestFirst: Seq[Def.Setting[_]] =
  if (!sys.props.contains("longest.first")) Nil
  else
    Seq(Test / testGrouping := (Test / testGrouping)
      .dependsOn(LocalProject("delta") / Test / loadedTestFrameworks)
      .dependsOn(LocalProject("delta") / Test / testGrouping)
      .value)

def shims(folders: Seq[String]) = Seq(
  Compile / unmanagedSourceDirectories ++=
    folders.map(baseDirectory.value / "src" / "main" / "scala-shims" / _))

val sparkTestKit = Seq("spark-core", "spark-catalyst", "spark-sql", "spark-common-utils").map {
  name =>
    ("org.apache.spark" %% name % sparkLine.spark % Test).classifier("tests")
}

lazy val core = (project in file("jvm/core"))
  .settings(common)
  .settings(
    name := "zcube-core",
    // Without Spark, its classes are the same for all lines.
    target := baseDirectory.value / "target" / s"spark-${SparkVersions.lines.head.line}",
    semanticdbEnabled := true
  )
  .settings(longestFirst)

lazy val spark = (project in file("jvm/spark"))
  .enablePlugins(Antlr4Plugin)
  .dependsOn(core % "compile->compile;test->test")
  .settings(common)
  .settings(shims(sparkLine.sparkShims))
  .settings(
    name := "zcube-spark-part",
    Antlr4 / antlr4Version := "4.13.1",
    Antlr4 / antlr4PackageName := Some("io.zcube.sql.parser"),
    Antlr4 / antlr4GenVisitor := false,
    Antlr4 / antlr4GenListener := false,
    // The versions that the jar was built for, checked when a session starts.
    Compile / resourceGenerators += Def.task {
      val file = (Compile / resourceManaged).value / "io" / "zcube" / "sql" / "versions.properties"
      IO.write(file, s"spark=${sparkLine.line}\ndelta=${sparkLine.deltaLines.mkString(",")}\n")
      Seq(file)
    }.taskValue,
    // Only the other compiler avoids the objects that AllocationSuite counts.
    Test / testGrouping := {
      val fork = (Test / forkOptions).value
      val quick = fork.withRunJVMOptions(fork.runJVMOptions ++ quickJvm)
      val (counting, others) =
        (Test / definedTests).value.partition(_.name.endsWith(".AllocationSuite"))
      Seq(
        Tests.Group("spark", others, Tests.SubProcess(quick)),
        Tests.Group("spark-allocation", counting, Tests.SubProcess(fork)))
    },
    libraryDependencies --= Seq("org.antlr" % "antlr4-runtime" % "4.13.1"),
    libraryDependencies ++= Seq(sparkModule("spark-sql", "provided")) ++ sparkTestKit
  )
  .settings(longestFirst)

// The engine: without Delta on its class path.
lazy val clustering = (project in file("jvm/clustering"))
  .dependsOn(spark % "compile->compile;test->test")
  .settings(common)
  .settings(
    name := "zcube-clustering",
    Test / javaOptions ++= quickJvm ++ unverified,
    libraryDependencies ++= Seq(sparkModule("spark-sql", "provided")) ++ sparkTestKit)
  .settings(longestFirst)

// The Delta version that tests run with: `-Ddelta.version=…`.
val TestedDelta = config("tested-delta").hide

lazy val delta = (project in file("jvm/delta"))
  .configs(TestedDelta)
  .dependsOn(clustering % "compile->compile;test->test")
  .settings(common)
  .settings(shims(Seq(sparkLine.deltaShim)))
  .settings(Publishing.settings)
  .settings(Compatibility.settings)
  .settings(
    name := "zcube-spark",
    moduleName := s"zcube-spark_${sparkLine.line}",
    libraryDependencies ++= Seq(
      sparkModule("spark-sql", "provided"),
      "io.delta" % SparkVersions.deltaModule(sparkLine.delta) % sparkLine.delta % "provided",
      "io.delta" % SparkVersions.deltaModule(
        SparkVersions.testedDelta) % SparkVersions.testedDelta %
        TestedDelta,
      "com.tngtech.archunit" % "archunit" % "1.4.1" % Test
    ) ++ sparkTestKit,
    ivyConfigurations += TestedDelta,
    Test / javaOptions ++= patientJvm ++ unverified,
    // In several JVMs, so that no core is idle for long while the last one ends. The random MERGEs take longest, and come
    // last, when their JVMs have compiled most of what they call.
    Test / testGrouping := {
      val (random, others) =
        (Test / definedTests).value.sortBy(_.name).partition(_.name.endsWith("RandomMergesSuite"))
      val jvm = Tests.SubProcess((Test / forkOptions).value)
      (0 until 3).map { part =>
        val tests = Seq(others, random).flatMap(_.zipWithIndex).collect {
          case (test, i) if i % 3 == part => test
        }
        Tests.Group(s"delta-$part", tests, jvm)
      }
    },
    Test / fullClasspath := {
      val isDelta = (jar: Attributed[File]) => jar.data.getName.startsWith("delta-")
      val tested = Classpaths.managedJars(TestedDelta, Set("jar"), update.value).filter(isDelta)
      (Test / fullClasspath).value.filterNot(isDelta) ++ tested
    },
    // One jar for `--jars`: core, spark and clustering are folded in; Spark and Delta are provided.
    Compile / packageBin / mappings ++=
      (core / Compile / packageBin / mappings).value ++
        (spark / Compile / packageBin / mappings).value ++
        (clustering / Compile / packageBin / mappings).value ++
        legal.value,
    // The sources and docs of all modules go into the accompanying jars too.
    Compile / packageSrc / mappings ++=
      (core / Compile / packageSrc / mappings).value ++
        (spark / Compile / packageSrc / mappings).value ++
        (clustering / Compile / packageSrc / mappings).value ++
        legal.value,
    Compile / packageDoc / mappings ++= legal.value,
    Compile / doc / sources :=
      ((core / Compile / sources).value ++ (spark / Compile / sources).value ++
        (clustering / Compile / sources).value ++ (Compile / sources).value)
        .filter(_.ext == "scala")
  )

lazy val benchmarks = (project in file("jvm/benchmarks"))
  .enablePlugins(JmhPlugin)
  .dependsOn(delta)
  .settings(common)
  .settings(
    name := "zcube-benchmarks",
    Jmh / javaOptions ++= sparkOpens,
    libraryDependencies ++= Seq(
      sparkModule("spark-sql", "compile"),
      "io.delta" % SparkVersions.deltaModule(sparkLine.delta) % sparkLine.delta)
  )

lazy val root = (project in file("."))
  .aggregate(core, spark, clustering, delta)
  .settings(common)
  .settings(name := "zcube")
