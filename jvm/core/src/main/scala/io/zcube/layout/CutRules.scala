package io.zcube.layout

/** What decides where files may be cut, besides the queries that they serve.
  *
  * @param splitsValues whether rows with the same values may be in several files, to keep files even;
  *                     otherwise a frequent value makes a large file
  * @param isTight      whether a limit of rows leaves no room for files much larger than the mean
  */
final case class CutRules(splitsValues: Boolean = true, isTight: Boolean = false)
