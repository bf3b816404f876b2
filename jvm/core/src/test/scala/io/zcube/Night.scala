package io.zcube

/** Which cases run: those that `.ci/run` has no time for run in `make test-all`, nightly. */
object Night {
  val all: Boolean = sys.env.get("ZCUBE_TESTS").contains("all")

  /** Cases that run only then. */
  def only[T](cases: T*): Seq[T] = if (all) cases else Nil
}
