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
}
