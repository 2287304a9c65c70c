package hudi;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Reads a file inside a task: a source with its skeleton, or a whole base file. */
final class SkeletonReader extends AbstractFunction1 implements Serializable {
    /** Skeletons are those of this commit. */
    private static final String COMMIT_TIME = "00000000000001";

    Function1 whole; // null when each file is the source of a skeleton
    Function1 source;
    Footers footers; // null when only constants are asked for
    boolean filtersSource;
    ColumnPlan plan;

    public Object apply(Object given) {
        PartitionedFile file = (PartitionedFile) given;
        String name = file.partitionValues().getUTF8String(this.plan.skeletonAt).toString();
        return name.isEmpty() ? this.whole.apply(file) : read(file, name);
    }

    private Object read(PartitionedFile file, String name) {
        boolean seesAll = !this.filtersSource && file.start() == 0 && file.length() == file.fileSize();
        Skeleton rows = null;
        if (this.footers != null) {
            seesAll = seesAll && !this.footers.isFiltered();
            rows = open(file, name, seesAll);
            if (rows == null) {
                return scala.collection.Iterator$.MODULE$.empty();
            }
        }
        UTF8String[] constants = new UTF8String[] {
            UTF8String.fromString(COMMIT_TIME),
            file.partitionValues().getUTF8String(this.plan.partitionAt).clone(),
            UTF8String.fromString(name.substring(name.lastIndexOf('/') + 1)),
        };
        return new SkeletonRows(this.plan, (Iterator) this.source.apply(file), rows, constants, seesAll);
    }

    /** Returns a skeleton, or null where none of its rows may pass the filters; unless all rows are read its footer is compared with the source's. */
    private Skeleton open(PartitionedFile file, String name, boolean seesAll) {
        Skeleton result;
        try {
            result = this.footers.skeleton(new Path(name), file.filePath().toString());
        } catch (Exception error) {
            throw new Skeleton.Failed(name, error.getMessage(), error);
        }
        if (result != null && !seesAll && this.rowsOf(file) != result.count) {
            throw result.unequal(null);
        }
        return result;
    }

    /** Returns the number of rows of a source; of errors that are raised here Spark says in which file they were met. */
    private long rowsOf(PartitionedFile file) {
        try {
            return this.footers.rows(file.filePath().toPath());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
