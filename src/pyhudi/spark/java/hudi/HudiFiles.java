package hudi;

import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/**
 * The files of a snapshot, which Python lists when it is asked.
 *
 * <p>Spark compares plans after every rule, and looks them up among what is cached. That is answered here, by the text that names the snapshot.
 */
final class HudiFiles implements FileIndex {
    private final FileIndex python;
    private final String text;

    HudiFiles(FileIndex python, String text) {
        this.python = python;
        this.text = text;
    }

    public Seq rootPaths() {
        return this.python.rootPaths();
    }

    public Seq listFiles(Seq partitionFilters, Seq dataFilters) {
        return this.python.listFiles(partitionFilters, dataFilters);
    }

    public String[] inputFiles() {
        return this.python.inputFiles();
    }

    public long sizeInBytes() {
        return this.python.sizeInBytes();
    }

    public StructType partitionSchema() {
        return this.python.partitionSchema();
    }

    /** Does nothing: a snapshot stays what it is. */
    public void refresh() {}

    /** Says that no refresh can change the files (Spark 4.3 asks before it refreshes cached data). */
    public boolean isTimeTravel() {
        return true;
    }

    public String toString() {
        return this.text;
    }

    public int hashCode() {
        return this.text.hashCode();
    }

    public boolean equals(Object other) {
        return other instanceof HudiFiles && this.text.equals(((HudiFiles) other).text);
    }
}
