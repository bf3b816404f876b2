package io.zcube.planning

import org.scalatest.funsuite.AnyFunSuite

class JobDivisionSuite extends AnyFunSuite {

  private def file(name: String, bytes: Long, ranges: KeyRanges): PlannedFile =
    PlannedFile(DataFile(name, bytes, ranges = ranges), FileReason.Fresh)

  test("a job's files stay within their maximum if all jobs together write over a million") {
    val options = PlanOptions(targetFileBytes = 128L << 20)
    val pebibyte = (1 to (1 << 14)).map(i => file(s"f$i", 1L << 36, KeyRanges.Unknown))
    val jobs = new JobDivision(options).divide(pebibyte)
    // Files aren't divided, so a job may be a little larger.
    val most = options.maxJobFiles * 1.1
    assert(jobs.map(j => options.fileCount(PlannedFile.bytesOf(j.files), None)).max <= most)
    assert(jobs.map(_.files.size).sum === pebibyte.size)
  }

  test("a value too heavy for a job costs only itself the division by regions") {
    val files = for {
      day <- 0 until 365
      number <- 1 to (if (day == 165) 300 else 5)
    } yield file(
      f"$day%03d-$number%03d",
      50L << 30,
      new KeyRanges(Array(day.toLong, 0L), Array(day.toLong, 9L)))
    val (overlapping, regions) =
      new JobDivision(PlanOptions()).divide(files).partition(_.overlapping)
    assert(regions.size > 5)
    // Its days are less than half a job on either side of the heavy one.
    val days = overlapping.flatMap(_.files).map(_.file.path.take(3).toInt).distinct
    assert(days.contains(165) && days.size < 60, days)
  }
}
