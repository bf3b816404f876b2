package io.zcube.layout

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class FileCountSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("about bytes / target, at least 1, and no mean over 1.05 targets") {
    val cases = Table(
      ("bytes", "target", "files"),
      (0L, 100L, 1),
      (50L, 100L, 1),
      (105L, 100L, 1),
      (190L, 100L, 2),
      (2460L, 100L, 24),
      (100000L, 100L, 953))
    forAll(cases) { (bytes, target, files) =>
      assert(FileCount.of(bytes, target, 1000000L, 0) === files)
    }
  }

  test("rows and the row limit per file bound the number") {
    assert(FileCount.of(1000, 1, rows = 7, maxRecords = 0) === 7)
    assert(FileCount.of(100, 100, rows = 10000, maxRecords = 1000) === 12)
    assert(FileCount.of(100, 100, rows = 1000, maxRecords = 1000) === 1)
    assert(FileCount.of(100, 100, rows = 0, maxRecords = 1000) === 1)
    assertThrows[IllegalArgumentException](FileCount.of(1, 0, 1, 0))
    assert(FileCount.of(100, 100, rows = 4, maxRecords = 2) === 3)
    assert(FileCount.min(100, 100, rows = 4, maxRecords = 2) === 2)
    assert(FileCount.min(100, 100, rows = 10000, maxRecords = 1000) === 10)
    assert(FileCount.min(1900, 100, rows = 10000, maxRecords = 1000) === 19)
  }

  test("bits: at least Delta's resolution, more for many files, up to 63 in total") {
    assert(Resolution.bits(2, 24, None) === 10)
    assert(Resolution.bits(1, 24, None) === 15)
    assert(Resolution.bits(1, 1, None) === 11)
    assert(Resolution.bits(2, 4096, None) === 11)
    assert(Resolution.bits(7, 24, None) === 9)
    assert(Resolution.bits(63, 24, None) === 1)
    assert(Resolution.bits(2, 24, Some(1000)) === 10)
    assert(Resolution.scale(10, Some(1000)) === 1000)
    assert(Resolution.scale(10, None) === 1024)
  }
}
