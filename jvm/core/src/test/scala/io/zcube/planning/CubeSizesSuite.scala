package io.zcube.planning

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class CubeSizesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val sizes = CubeSizes(stable = 100, target = 150)

  test("as few cubes as the target allows, and none that would be merged again") {
    val counts = Seq(0, 1, 99, 150, 160, 209, 210, 300, 310, 315, 450, 1000).map(bytes =>
      bytes -> sizes.count(bytes.toLong))
    assert(counts === Seq(
      0 -> 1,
      1 -> 1,
      99 -> 1,
      150 -> 1,
      160 -> 1,
      209 -> 1,
      210 -> 2,
      300 -> 2,
      310 -> 2,
      315 -> 3,
      450 -> 3,
      1000 -> 7))
  }

  test("the example: eight files of 50 GB are three cubes") {
    assert(sizes.cut(Seq.fill(8)(50))(_.toLong).map(_.size) === Seq(3, 2, 3))
  }

  test("however small the sizes, a cube has a file, and a table not a million cubes") {
    val one = CubeSizes(stable = 0, target = 0)
    assert(one.count(Long.MaxValue) === 10000)
    assert(one.cut(Seq(1L << 40, 1L << 40))(identity).map(_.size) === Seq(1, 1))
    assert(one.cut(Seq(0L, 0L))(identity).map(_.size) === Seq(2))
    assert(one.cut(Seq.empty[Long])(identity) === Nil)
  }

  test("files keep their order, each is in one cube, and cubes are even up to a file") {
    val files = Gen.choose(0, 60).flatMap(Gen.listOfN(_, Gen.choose(0L, 90L)))
    forAll(files, minSuccessful(500)) { files =>
      val cubes = sizes.cut(files)(identity)
      assert(cubes.flatten === files)
      assert(cubes.forall(_.nonEmpty))
      val total = files.sum
      assert(cubes.size <= sizes.count(total))
      val even = total.toDouble / sizes.count(total)
      assert(cubes.forall(cube => math.abs(cube.sum - even) <= 90))
    }
  }
}
