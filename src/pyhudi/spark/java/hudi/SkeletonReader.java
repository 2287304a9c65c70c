package hudi;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Reads a file inside a task: a source with its skeleton, or a whole base file. */
final class SkeletonReader extends AbstractFunction1 implements Serializable {
    /** Skeletons are those of this commit. */
    private static final String COMMIT_TIME = "00000000000001";

    Function1 whole;
    Function1 source;
    Function1 skeleton; // null when only constants are asked for
    Footers footers;
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
        if (this.skeleton != null) {
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
        Path path = new Path(name);
        long[] span = new long[] {0, 0, Long.MAX_VALUE};
        Iterator batches;
        try {
            span = seesAll ? span : this.footers.span(path);
            if (span[2] < 0) {
                return null;
            }
            batches = (Iterator) this.skeleton.apply(whole(SparkPath.fromPath(path)));
        } catch (Exception error) {
            throw new Skeleton.Failed(name, error.getMessage(), error);
        }
        Skeleton result = new Skeleton(name, file.filePath().toString(), batches, span[1], span[2]);
        if (!seesAll && this.rowsOf(file) != span[0]) {
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

    private static PartitionedFile whole(SparkPath path) {
        return new PartitionedFile(
                InternalRow.empty(), path, 0L, Long.MAX_VALUE, new String[0], 0L, 0L, scala.collection.immutable.Map$.MODULE$.empty());
    }
}
