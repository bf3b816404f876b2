package io.zcube.layout

import org.scalatest.funsuite.AnyFunSuite

class ColumnWeightsSuite extends AnyFunSuite {

  test("names with dots and backquotes, numbers with fractions and exponents") {
    assert(ColumnWeights.parse("l_shipdate=3,l_partkey=1") ===
      Some(Seq(Seq("l_shipdate") -> 3.0, Seq("l_partkey") -> 1.0)))
    assert(ColumnWeights.parse(" a.b = 0.5 , `c,d=``e`.f = 1e2") ===
      Some(Seq(Seq("a", "b") -> 0.5, Seq("c,d=`e", "f") -> 100.0)))
    assert(ColumnWeights.parse("größe=2") === Some(Seq(Seq("größe") -> 2.0)))
  }

  test("malformed text is rejected") {
    Seq("", ",", "a", "a=", "=1", "a=1,", "a=0", "a=-1", "a=NaN", "a=Infinity", "a=x", "a=1=2")
      .++(Seq("a.=1", ".a=1", "a..b=1", "a=1,a=2", "`a=1", "``=1", "a=1 b=2", "a=1;b=2"))
      .foreach(text => assert(ColumnWeights.parse(text) === None, text))
  }

  test("only ratios count") {
    assert(ColumnWeights.normalized(Seq(3, 1, 2)) === ColumnWeights.normalized(Seq(6, 2, 4)))
    assert(ColumnWeights.normalized(Seq(4, 1)) === Seq(1.0, 0.25))
    assert(ColumnWeights.normalized(Seq(2, 2)) === Nil)
    assert(ColumnWeights.normalized(Nil) === Nil)
    // 0.1 / 0.3 is another double than 1.0 / 3.0.
    for (weights <- Seq(Seq(1.0, 3.0), Seq(7.0, 2.0, 11.0), Seq(1.0, 1.0, 9.0));
      factor <- Seq(0.1, 0.3, 1.0 / 7, 1e-5, 123.456))
      assert(
        ColumnWeights.normalized(weights.map(_ * factor)) === ColumnWeights.normalized(weights))
    assert(ColumnWeights.normalized(Seq(0.1 + 0.2, 0.3)) === Nil)
    // Users' weights aren't 0.
    assert(ColumnWeights.normalized(Seq(0.0, 0.0)) === Nil)
    assert(ColumnWeights.normalized(Seq(0.0, 2.0)) === Seq(1e-9, 1.0))
    assert(ColumnWeights.normalized(Seq(1.0, 3.0)) !== ColumnWeights.normalized(Seq(1.0, 3.0001)))
  }
}
