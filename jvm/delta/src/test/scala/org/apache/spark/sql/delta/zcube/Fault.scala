package org.apache.spark.sql.delta.zcube

/** How an operation of a store fails. */
object Fault extends Enumeration {

  /** Without effect. */
  val Before: Value = Value("before")

  /** Done, and the answer is lost. */
  val After: Value = Value("after")

  /** Done, and the answer says that it was done before, as of a client that asks twice. */
  val Exists: Value = Value("exists")

  /** Does nothing until the thread is interrupted. */
  val Hang: Value = Value("hang")
}
