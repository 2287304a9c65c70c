package hudi;

import java.util.Arrays;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The files of a table that no rule replaced by its scan: none, told as an error and never as an empty table. */
final class UnresolvedFiles implements FileIndex {
    private static final String NOT_ENABLED =
            "This Spark session does not speak Hudi, so it cannot read the table: call pyhudi.enable(session) in Python, and name the table again.";

    /** Two paths, since into a relation of one path Spark would insert raw files. */
    public Seq rootPaths() {
        return CollectionConverters.asScala(Arrays.asList(new Path[] {new Path("/"), new Path("/.hoodie")})).toSeq();
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        throw new DefaultSource.Refused(NOT_ENABLED);
    }

    public String[] inputFiles() {
        throw new DefaultSource.Refused(NOT_ENABLED);
    }

    public void refresh() {}

    public long sizeInBytes() {
        return Long.MAX_VALUE;
    }

    public StructType partitionSchema() {
        return new StructType();
    }
}
