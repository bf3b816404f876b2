package io.zcube.layout

import java.util.Locale

import io.zcube.curve.{HilbertCurve, LinearCurve, MortonCurve, SpaceFillingCurve}

/** The curves that users can name, and the resolution each is given. */
sealed abstract class CurveName(val name: String) extends Serializable {

  /** The curve over `dimensions` columns with `bits` bits each. */
  def curve(dimensions: Int, bits: Int): SpaceFillingCurve
}

object CurveName {

  /** Column after column, the first most significant: a plain multi-column sort. */
  case object Linear extends CurveName("linear") {
    override def curve(dimensions: Int, bits: Int): SpaceFillingCurve =
      LinearCurve(dimensions, bits)
  }

  /** Interleaved bits (G. M. Morton, 1966). */
  case object ZOrder extends CurveName("zorder") {
    override def curve(dimensions: Int, bits: Int): SpaceFillingCurve =
      MortonCurve(dimensions, bits)
  }

  /** J. Skilling's Hilbert curve; neighbours on it are neighbours in space. */
  case object Hilbert extends CurveName("hilbert") {
    override def curve(dimensions: Int, bits: Int): SpaceFillingCurve =
      HilbertCurve(dimensions, bits)
  }

  val all: Seq[CurveName] = Seq(Linear, ZOrder, Hilbert)

  /** The curve of that name, in any case. */
  def find(name: String): Option[CurveName] = all.find(_.name == name.toLowerCase(Locale.ROOT))
}
