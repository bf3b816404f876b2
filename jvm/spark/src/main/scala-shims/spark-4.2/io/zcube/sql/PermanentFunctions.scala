package io.zcube.sql

/** Lets views and SQL functions in a catalog call ZCube's functions. Since Spark 4.2, they may call
  * those of any extension.
  */
object PermanentFunctions {
  def register(): Unit = ()
}
