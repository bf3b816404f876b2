package io.zcube.testing;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.spark.TaskContext;

/**
 * Local files, where the first attempt of a stage's first task writes no Parquet file before Spark has
 * killed it because another attempt overtook it. The setting {@code zcube.test.overtaken} names a
 * folder; with a file {@code begin} in it, the attempt waits with a file that it has just started; with
 * {@code end} before it closes one that has all rows, and it then succeeds. Each Parquet file is recorded
 * there, in a file named {@code <stage>-<partition>-<attempt>}.
 */
public final class OvertakenFileSystem extends LocalFileSystem {

  /** A timeout, so that a failing test ends. */
  private static final int PATIENCE_SECONDS = 120;

  @Override
  public FSDataOutputStream create(
      Path file,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    FSDataOutputStream out =
        super.create(file, permission, overwrite, bufferSize, replication, blockSize, progress);
    TaskContext task = TaskContext.get();
    String folder = getConf().get("zcube.test.overtaken");
    boolean isData =
        file.getName().endsWith(".parquet") && !file.getParent().getName().equals("_delta_log");
    if (folder == null || task == null || !isData) {
      return out;
    }
    String attempt = task.stageId() + "-" + task.partitionId() + "-" + task.attemptNumber();
    Files.write(Paths.get(folder, attempt), file.toUri().getPath().getBytes());
    if (task.partitionId() != 0 || task.attemptNumber() != 0) {
      return out;
    }
    if (Files.exists(Paths.get(folder, "begin"))) {
      awaitKill(task);
      out.close();
      throw new InterruptedIOException("another attempt was faster");
    }
    return Files.exists(Paths.get(folder, "end")) ? new Overtaken(out, task) : out;
  }

  /** When this returns, the task has been killed, and its interrupt flag is cleared. */
  private static void awaitKill(TaskContext task) throws IOException {
    for (int i = 0; !task.isInterrupted(); i++) {
      if (i == PATIENCE_SECONDS * 100) {
        throw new IOException("no other attempt was faster");
      }
      try {
        Thread.sleep(10);
      } catch (InterruptedException e) {
        // Spark marks the task before it interrupts it.
      }
    }
  }

  private static final class Overtaken extends FSDataOutputStream {
    private final TaskContext task;
    private boolean waits = true;

    Overtaken(FSDataOutputStream out, TaskContext task) throws IOException {
      super(out, null);
      this.task = task;
    }

    @Override
    public void close() throws IOException {
      if (waits) {
        waits = false;
        awaitKill(task);
      }
      super.close();
    }
  }
}
