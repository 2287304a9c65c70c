package hudi;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.spark.JobArtifactSet;
import org.apache.spark.JobArtifactState;
import org.apache.spark.SparkContext;
import scala.Option;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction0;

/** The jar with the classes of {@link SkeletonFormat}, for tasks of executors that are other processes. */
public final class ExecutorJar {
    private static File jar;

    private ExecutorJar() {}

    /** Takes the bytes of the classes of the format, by the names of their files. */
    public static synchronized void make(Map codes) throws IOException {
        File made = File.createTempFile("pyhudi-", ".jar");
        made.deleteOnExit();
        JarOutputStream output = new JarOutputStream(new FileOutputStream(made));
        try {
            for (Object code : codes.entrySet()) {
                output.putNextEntry(new JarEntry((String) ((Map.Entry) code).getKey()));
                output.write((byte[]) ((Map.Entry) code).getValue());
            }
        } finally {
            output.close();
        }
        jar = made;
    }

    /** Lets the executors of a session fetch the jar; those of a local master are this JVM. A session with jars of its own gets no others. */
    static synchronized void addTo(org.apache.spark.sql.classic.SparkSession session) {
        SparkContext context = session.sparkContext();
        if (context.isLocal()) {
            return;
        }
        add(context, "default", null);
        if (context.addedJars().contains(session.sessionUUID())) {
            add(context, session.sessionUUID(), session.artifactManager().state());
        }
    }

    private static void add(final SparkContext context, String group, JobArtifactState state) {
        Option known = context.addedJars().get(group);
        if (known.isDefined()) {
            for (Iterator added = ((scala.collection.Map) known.get()).keysIterator(); added.hasNext();) {
                if (((String) added.next()).endsWith("/" + jar.getName())) {
                    return;
                }
            }
        }
        JobArtifactSet.withActiveJobArtifactState(state, new Addition(context, jar.getAbsolutePath()));
    }

    private static final class Addition extends AbstractFunction0 {
        private final SparkContext context;
        private final String path;

        Addition(SparkContext context, String path) {
            this.context = context;
            this.path = path;
        }

        public Object apply() {
            this.context.addJar(this.path);
            return null;
        }
    }
}
