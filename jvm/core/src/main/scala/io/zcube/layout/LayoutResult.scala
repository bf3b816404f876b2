package io.zcube.layout

/** A layout, and the positions where its keys are cut into files.
  *
  * @param files boxes with the same numbers as the files, if the layout has them: finding a row's
  *   box takes less work than finding its key
  */
final case class LayoutResult(layout: Layout, cuts: CutPoints, files: Option[FileBoxes] = None)
