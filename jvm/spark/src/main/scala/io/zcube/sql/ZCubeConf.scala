package io.zcube.sql

import org.apache.spark.sql.internal.SQLConf

/** ZCube's settings. Delta's own settings keep their meaning beside them. */
object ZCubeConf {

  val Enabled = SQLConf
    .buildConf("spark.zcube.enabled")
    .doc(
      "Whether ZCube runs OPTIMIZE … ZORDER BY in place of Delta. Switched off, every OPTIMIZE " +
        "is Delta's own.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val Curve = SQLConf
    .buildConf("spark.zcube.layout.curve")
    .doc(
      "The curve that OPTIMIZE … ZORDER BY lays rows along when its OPTIONS name none: zorder, " +
        "hilbert or linear.")
    .version("0.1.0")
    .stringConf
    .checkValue(
      name => io.zcube.layout.CurveName.find(name).isDefined,
      "must be linear, zorder or hilbert")
    .createWithDefault("zorder")

  val SortWithinFiles = SQLConf
    .buildConf("spark.zcube.layout.sortWithinFiles")
    .doc("Whether rows are sorted by the clustering key inside each file, so that row groups and " +
      "pages can be skipped too.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val SampleRowsPerFile = SQLConf
    .buildConf("spark.zcube.layout.sampleRowsPerFile")
    .doc("Rows sampled for each file to be written. The relative error of a file's size is about " +
      "one over the square root of this.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 100, "must be at least 100")
    .createWithDefault(1000)
}
