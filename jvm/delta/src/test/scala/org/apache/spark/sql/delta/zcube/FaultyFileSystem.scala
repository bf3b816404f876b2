package org.apache.spark.sql.delta.zcube

import java.io.OutputStream
import java.net.URI

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

import io.zcube.testing.LocalFiles

/** The local file system with another scheme; [[Faults]] monitors its operations. */
final class FaultyFileSystem extends RawLocalFileSystem with LocalFiles.WithPermissions {

  override def getScheme: String = FaultyFileSystem.Scheme

  override def getUri: URI = URI.create(s"${FaultyFileSystem.Scheme}:///")

  override def open(path: Path, bufferSize: Int): FSDataInputStream = Faults.in("open", path) {
    new FSDataInputStream(new FaultyInputStream(path, super.open(path, bufferSize)))
  }

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream = Faults.in("create", path) {
    closing(path, super.create(path, overwrite, bufferSize, replication, blockSize, progress))
  }

  override def createNonRecursive(
      path: Path,
      permission: FsPermission,
      flags: java.util.EnumSet[CreateFlag],
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream = Faults.in("create", path) {
    closing(
      path,
      super.createNonRecursive(
        path,
        permission,
        flags,
        bufferSize,
        replication,
        blockSize,
        progress))
  }

  override protected def createOutputStreamWithMode(
      path: Path,
      append: Boolean,
      permission: FsPermission): OutputStream =
    new FaultyOutputStream(path, super.createOutputStreamWithMode(path, append, permission))

  private def closing(path: Path, out: FSDataOutputStream): FSDataOutputStream =
    new FSDataOutputStream(out, null) {
      private var asked = false

      override def close(): Unit =
        if (asked) super.close()
        else {
          asked = true
          Faults.in("close", path)(super.close())
        }
    }

  override def rename(from: Path, to: Path): Boolean =
    Faults.in("rename", to)(super.rename(from, to))

  override def delete(path: Path, recursive: Boolean): Boolean =
    Faults.in("delete", path)(super.delete(path, recursive))

  override def mkdirs(path: Path): Boolean = Faults.in("mkdirs", path)(super.mkdirs(path))

  override def listStatus(path: Path): Array[FileStatus] =
    Faults.in("list", path)(super.listStatus(path))

  override def getFileStatus(path: Path): FileStatus =
    Faults.in("status", path)(super.getFileStatus(path))
}

object FaultyFileSystem {
  val Scheme = "faulty"
}
