package hudi;

import java.io.Serializable;
import org.apache.hadoop.fs.Path;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Reads a file inside a task: a source with its skeleton, or a whole base file. */
final class SkeletonReader extends AbstractFunction1 implements Serializable {
    /** Skeletons are those of this commit. */
    private static final String COMMIT_TIME = "00000000000001";

    /** How many rows are looked at for the last one that may pass: after them it takes longer than it spares. */
    private static final long MOST_ROWS = 65536;

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
        Skeleton rows = this.skeleton == null ? null : open(file, name);
        if (rows != null && rows.last < 0) {
            return scala.collection.Iterator$.MODULE$.empty();
        }
        UTF8String[] constants = new UTF8String[] {
            UTF8String.fromString(COMMIT_TIME),
            file.partitionValues().getUTF8String(this.plan.partitionAt).clone(),
            UTF8String.fromString(name.substring(name.lastIndexOf('/') + 1)),
        };
        boolean seesAll = this.matches == null && !this.filtersSource && file.start() == 0 && file.length() == file.fileSize();
        if (rows != null && !seesAll && count(whole(file.filePath())) != rows.counted(this.counter)) {
            throw rows.unequal(null);
        }
        return new SkeletonRows(this.plan, (Iterator) this.source.apply(file), rows, constants, seesAll);
    }

    private Skeleton open(PartitionedFile file, String name) {
        PartitionedFile skeleton = whole(SparkPath.fromPath(new Path(name)));
        try {
            long[] span = this.matches == null ? new long[] {0, Long.MAX_VALUE} : span((Iterator) this.matches.apply(skeleton));
            Iterator batches = span[1] < 0 ? null : (Iterator) this.skeleton.apply(skeleton);
            return new Skeleton(name, file.filePath().toString(), skeleton, batches, span[0], span[1]);
        } catch (Exception error) {
            throw new Skeleton.Failed(name, error.getMessage(), error);
        }
    }

    /** Returns the first and the last row that may pass the filters on columns of the skeleton, by its statistics; -1 where none may. */
    private long[] span(Iterator read) {
        long first = -1;
        long last = -1;
        for (long rows = 0; read.hasNext();) {
            if (rows > MOST_ROWS) {
                return new long[] {first, Long.MAX_VALUE};
            }
            Object next = read.next();
            ColumnarBatch batch = next instanceof ColumnarBatch ? (ColumnarBatch) next : null;
            int count = batch == null ? 1 : batch.numRows();
            if (count > 0) {
                int at = this.plan.storedWidth;
                long start = batch == null ? ((InternalRow) next).getLong(at) : batch.column(at).getLong(0);
                first = first < 0 ? start : first;
                last = batch == null ? start : batch.column(at).getLong(count - 1);
                rows += count;
            }
        }
        return new long[] {first, last};
    }

    private long count(PartitionedFile file) {
        return Skeleton.rowsOf((Iterator) this.counter.apply(file));
    }

    private static PartitionedFile whole(SparkPath path) {
        return new PartitionedFile(
                InternalRow.empty(), path, 0L, Long.MAX_VALUE, new String[0], 0L, 0L, scala.collection.immutable.Map$.MODULE$.empty());
    }
}
