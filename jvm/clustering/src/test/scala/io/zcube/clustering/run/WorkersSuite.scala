package io.zcube.clustering.run

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.util.control.ControlThrowable
import scala.util.{Failure, Success}

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Caught

class WorkersSuite extends AnyFunSuite {

  test("whatever is thrown, every outcome is returned, in the order of the items") {
    val thrown = Seq[Throwable](
      new OutOfMemoryError("a test's"),
      new NoClassDefFoundError("a test's"),
      new StackOverflowError("a test's"),
      new InterruptedException("a test's"),
      new ControlThrowable("a test's") {},
      new RuntimeException("a test's")
    )
    val items = thrown.map(Some(_)) :+ None
    val ends = new Workers("WorkersSuite", 2).map(items) { item =>
      item.foreach(e => throw e)
      "well"
    }
    assert(ends === thrown.map(Failure(_)) :+ Success("well"))
    assert(new Workers("WorkersSuite", 0).map(Seq.empty[Int])(identity) === Nil)
  }

  test("once an item has cancelled the others, this is repeated until all are over") {
    val (failed, cancelled) = (new AtomicBoolean, new CountDownLatch(3))
    val workers =
      new Workers("WorkersSuite", 2, () => cancelled.countDown(), () => failed.get)
    val ends = workers.map(Seq(true, false)) { fails =>
      if (fails) {
        failed.set(true)
        throw new IllegalStateException("a test's")
      }
      // What begins a job after the first cancellation.
      assert(cancelled.await(30, TimeUnit.SECONDS))
    }
    assert(ends.map(_.isSuccess) === Seq(false, true))
  }

  test("an interrupt ends waiting work, drops work not started, and is rethrown at the end") {
    val begun = new CountDownLatch(2)
    val (started, over, cancelled) = (new AtomicInteger, new AtomicInteger, new AtomicInteger)
    @volatile var outcome: Option[Throwable] = None
    @volatile var overThen = 0
    val workers = new Workers("WorkersSuite", 2, () => cancelled.incrementAndGet(): Unit)
    val caller = new Thread(() => {
      outcome = Caught(workers.map(1 to 5) { i =>
        started.incrementAndGet()
        begun.countDown()
        try Thread.sleep(60000)
        catch { case _: InterruptedException => throw new IllegalStateException(s"item $i") }
        finally over.incrementAndGet(): Unit
      }).failed.toOption
      overThen = over.get
    })
    caller.start()
    assert(begun.await(30, TimeUnit.SECONDS))
    caller.interrupt()
    caller.join(30000)
    assert(!caller.isAlive)
    assert(outcome.exists(_.isInstanceOf[InterruptedException]))
    assert(outcome.get.getSuppressed.map(_.getMessage) === Array("item 1", "item 2"))
    assert(started.get === 2)
    assert(overThen === 2)
    assert(cancelled.get >= 1)
  }
}
