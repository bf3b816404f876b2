package io.zcube.layout

/** A layout, and where its keys are cut into files. */
final case class LaidOut(layout: Layout, cuts: CutPoints)
