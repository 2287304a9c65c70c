package hudi;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** The rows of a source file with their meta columns: batches, or rows where Spark's reader gives these. */
final class SkeletonRows extends AbstractIterator {
    private final ColumnPlan plan;
    private final Iterator source;
    private final Skeleton skeleton; // null when only constants are asked for
    private final UTF8String[] constants;
    private final boolean seesAll;
    private long rows;
    private Object ready;
    private boolean isPast; // no later row may pass the filters
    private ConstantColumnVector[] vectors;
    private UnsafeProjection projection;

    SkeletonRows(ColumnPlan plan, Iterator source, Skeleton skeleton, UTF8String[] constants, boolean seesAll) {
        this.plan = plan;
        this.source = source;
        this.skeleton = skeleton;
        this.constants = constants;
        this.seesAll = seesAll;
    }

    /** Reads the next rows, as Spark's readers do: of errors that are raised here it says in which file they were met. */
    public boolean hasNext() {
        while (this.ready == null && !this.isPast && this.source.hasNext()) {
            Object next = this.source.next();
            ColumnarBatch batch = next instanceof ColumnarBatch ? (ColumnarBatch) next : null;
            if (isWithin(batch, next)) {
                this.ready = batch == null ? row((InternalRow) next) : batch(batch);
            }
        }
        if (this.ready == null && this.skeleton != null && this.seesAll) {
            this.skeleton.end(this.rows);
        }
        return this.ready != null;
    }

    /** Tells whether rows of the source are among those that may pass the filters on columns of the skeleton. */
    private boolean isWithin(ColumnarBatch batch, Object next) {
        if (this.skeleton == null || (batch != null && batch.numRows() == 0)) {
            return true;
        }
        int at = this.plan.rowIndexAt;
        long first = batch == null ? ((InternalRow) next).getLong(at) : batch.column(at).getLong(0);
        long last = batch == null ? first : batch.column(at).getLong(batch.numRows() - 1);
        this.isPast = first > this.skeleton.last;
        return !this.isPast && last >= this.skeleton.first;
    }

    public Object next() {
        if (!hasNext()) {
            throw new java.util.NoSuchElementException();
        }
        Object next = this.ready;
        this.ready = null;
        return next;
    }

    private Object batch(ColumnarBatch batch) {
        int count = batch.numRows();
        ColumnVector[] stored = null;
        if (this.skeleton != null && count > 0) {
            ColumnVector numbers = batch.column(this.plan.rowIndexAt);
            stored = this.skeleton.columns(numbers, count, this.plan.storedWidth);
            this.rows = numbers.getLong(count - 1) + 1;
        }
        if (count == 0) {
            return new ColumnarBatch(new ColumnVector[this.plan.kinds.length], 0);
        }
        ColumnVector[] columns = new ColumnVector[this.plan.kinds.length];
        for (int i = 0; i < columns.length; i++) {
            int kind = this.plan.kinds[i];
            int place = this.plan.places[i];
            columns[i] = kind == ColumnPlan.OF_SOURCE ? batch.column(place) : kind == ColumnPlan.STORED_ONE ? stored[place] : constant(place);
        }
        return new ColumnarBatch(columns, count);
    }

    private ColumnVector constant(int place) {
        if (this.vectors == null) {
            this.vectors = new ConstantColumnVector[this.constants.length];
            for (int i = 0; i < this.vectors.length; i++) {
                this.vectors[i] = new ConstantColumnVector(1, DataTypes.StringType);
                this.vectors[i].setUtf8String(this.constants[i]);
            }
        }
        return this.vectors[place];
    }

    private Object row(InternalRow row) {
        Object[] meta = new Object[this.constants.length + this.plan.storedWidth];
        System.arraycopy(this.constants, 0, meta, 0, this.constants.length);
        if (this.skeleton != null) {
            long number = row.getLong(this.plan.rowIndexAt);
            this.skeleton.seek(number);
            this.rows = number + 1;
            for (int i = 0; i < this.plan.storedWidth; i++) {
                meta[this.constants.length + i] = this.skeleton.value(i, number);
            }
        }
        if (this.projection == null) {
            this.projection = projection();
        }
        return this.projection.apply(new JoinedRow(row, new GenericInternalRow(meta)));
    }

    private UnsafeProjection projection() {
        List parts = new ArrayList();
        for (int i = 0; i < this.plan.kinds.length; i++) {
            int kind = this.plan.kinds[i];
            int start = kind == ColumnPlan.OF_SOURCE ? 0 : this.plan.sourceWidth + (kind == ColumnPlan.STORED_ONE ? this.constants.length : 0);
            parts.add(new BoundReference(start + this.plan.places[i], this.plan.types[i], true));
        }
        return UnsafeProjection.create(CollectionConverters.asScala(parts).toSeq());
    }
}
