package hudi;

import java.io.Serializable;
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
    Function1 counter;
    Function1 matches; // null without filters on columns of the skeleton
    boolean filtersSource;
    ColumnPlan plan;

    public Object apply(Object given) {
        PartitionedFile file = (PartitionedFile) given;
        String name = file.partitionValues().getUTF8String(this.plan.skeletonAt).toString();
        return name.isEmpty() ? this.whole.apply(file) : read(file, name);
    }

    private Object read(PartitionedFile file, String name) {
        Skeleton rows = null;
        if (this.matches != null || this.skeleton != null) {
            rows = open(file, name);
            if (rows == null) {
                return scala.collection.Iterator$.MODULE$.empty();
            }
        }
        UTF8String[] constants = new UTF8String[] {
            UTF8String.fromString(COMMIT_TIME),
            file.partitionValues().getUTF8String(this.plan.partitionAt).clone(),
            UTF8String.fromString(name.substring(name.lastIndexOf('/') + 1)),
        };
        boolean seesAll = !this.filtersSource && file.start() == 0 && file.length() == file.fileSize();
        if (this.skeleton != null && !seesAll && count(whole(file.filePath())) != rows.counted(this.counter)) {
            throw rows.unequal(null);
        }
        return new SkeletonRows(this.plan, (Iterator) this.source.apply(file), this.skeleton == null ? null : rows, constants, seesAll);
    }

    /** Returns the skeleton's rows; null when its statistics say that none passes the filters. */
    private Skeleton open(PartitionedFile file, String name) {
        PartitionedFile skeleton = whole(SparkPath.fromPath(new Path(name)));
        try {
            if (this.matches != null && !((Iterator) this.matches.apply(skeleton)).hasNext()) {
                return null;
            }
            Iterator batches = this.skeleton == null ? null : (Iterator) this.skeleton.apply(skeleton);
            return new Skeleton(name, file.filePath().toString(), skeleton, batches);
        } catch (Exception error) {
            throw new Skeleton.Failed(name, error.getMessage(), error);
        }
    }

    private long count(PartitionedFile file) {
        return Skeleton.rowsOf((Iterator) this.counter.apply(file));
    }

    private static PartitionedFile whole(SparkPath path) {
        return new PartitionedFile(
                InternalRow.empty(), path, 0L, Long.MAX_VALUE, new String[0], 0L, 0L, scala.collection.immutable.Map$.MODULE$.empty());
    }
}
