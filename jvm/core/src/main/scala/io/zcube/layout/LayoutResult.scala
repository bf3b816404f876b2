package io.zcube.layout

/** A layout, and where its keys are cut into files.
  *
  * @param files boxes whose numbers are those of the files, where the layout has them: they are found
  *              with less work than the rows' keys
  */
final case class LayoutResult(layout: Layout, cuts: CutPoints, files: Option[FileBoxes] = None)
