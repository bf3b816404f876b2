package io.zcube.testing

import java.io.FileNotFoundException
import java.net.URI
import java.nio.file.attribute.{PosixFileAttributes, PosixFilePermissions}
import java.nio.file.{Files, NoSuchFileException}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission

/** Local files whose permissions and links Java reads and sets. Hadoop without its native library
  * starts a process for each: `chmod` for each file and folder that is made, four times `readlink` for
  * each commit's renaming. Together they took a tenth of the tests' time.
  */
final class LocalFiles extends LocalFileSystem(new RawLocalFileSystem with LocalFiles.ByJava)

object LocalFiles {

  /** What a session needs to use them. */
  val settings: Map[String, String] = Map(
    "fs.file.impl" -> classOf[LocalFiles].getName,
    "fs.AbstractFileSystem.file.impl" -> classOf[OfContext].getName)

  /** The same for Hadoop's other interface, which renames atomically. */
  final class OfContext(uri: URI, conf: Configuration)
      extends ChecksumFs(
        new DelegateToFileSystem(uri, new RawLocalFileSystem with ByJava, conf, "file", false) {
          override def getUriDefaultPort: Int = -1
        })

  /** For other file systems. */
  trait WithPermissions extends RawLocalFileSystem {

    override def setPermission(path: Path, permission: FsPermission): Unit =
      if (permission.getStickyBit) super.setPermission(path, permission)
      else {
        Files.setPosixFilePermissions(
          pathToFile(path).toPath,
          PosixFilePermissions.fromString(permission.toString)): Unit
      }
  }

  private trait ByJava extends WithPermissions {

    override def getFileLinkStatus(path: Path): FileStatus =
      if (Files.isSymbolicLink(pathToFile(path).toPath)) super.getFileLinkStatus(path)
      else getFileStatus(path)

    override def getFileStatus(path: Path): FileStatus = {
      val status = super.getFileStatus(path)
      val file =
        try Files.readAttributes(pathToFile(path).toPath, classOf[PosixFileAttributes])
        catch { case _: NoSuchFileException => throw new FileNotFoundException(path.toString) }
      new FileStatus(
        status.getLen,
        status.isDirectory,
        status.getReplication.toInt,
        status.getBlockSize,
        status.getModificationTime,
        status.getAccessTime,
        FsPermission.valueOf("-" + PosixFilePermissions.toString(file.permissions)),
        file.owner.getName,
        file.group.getName,
        status.getPath
      )
    }
  }
}
