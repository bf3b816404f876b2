package io.zcube.testing;

import io.delta.storage.HDFSLogStore;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log store for local files, which can lose the response of one commit: the commit is
 * written, but the caller gets an exception. Python tests control it with a file in the folder of
 * the failure points: {@code lost-answer}, which holds {@code exists} or {@code io}.
 */
public final class LostAnswerLogStore extends HDFSLogStore {

  private static final String FOLDER = System.getenv("ZCUBE_FAILURE_POINTS");

  public LostAnswerLogStore(Configuration conf) {
    super(conf);
  }

  @Override
  public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf)
      throws IOException {
    super.write(path, actions, overwrite, conf);
    if (FOLDER == null || !path.getName().endsWith(".json")) {
      return;
    }
    java.nio.file.Path order = Paths.get(FOLDER, "lost-answer");
    if (!Files.exists(order)) {
      return;
    }
    String kind = new String(Files.readAllBytes(order)).trim();
    if (!Files.deleteIfExists(order)) {
      return;
    }
    if (kind.equals("exists")) {
      throw new FileAlreadyExistsException(path.toString());
    }
    throw new IOException("the connection was lost after writing " + path);
  }
}
