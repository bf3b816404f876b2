package io.zcube.layout

/** A layout, and where its keys are cut into files.
  *
  * @param files a layout whose keys are the numbers of the files, where these are found with less work
  *              than the rows' keys
  */
final case class LaidOut(layout: Layout, cuts: CutPoints, files: Option[Layout] = None)
