package hudi;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** The rows of a file under the types of the table: batches, or rows where Spark's reader gives these. */
final class WidenedRows extends AbstractIterator {
    private final Iterator stored;
    private final WideningPlan plan;
    private final ColumnWidening[] widenings;
    private UnsafeProjection projection;

    WidenedRows(Iterator stored, WideningPlan plan) {
        this.stored = stored;
        this.plan = plan;
        this.widenings = new ColumnWidening[plan.types.length];
        for (int i = 0; i < this.widenings.length; i++) {
            this.widenings[i] = ColumnWidening.of(plan.stored[i], plan.types[i]);
        }
    }

    public boolean hasNext() {
        return this.stored.hasNext();
    }

    public Object next() {
        Object next = this.stored.next();
        return next instanceof ColumnarBatch ? batch((ColumnarBatch) next) : row((InternalRow) next);
    }

    private Object batch(ColumnarBatch batch) {
        int count = batch.numRows();
        ColumnVector[] columns = new ColumnVector[this.widenings.length];
        for (int i = 0; i < columns.length; i++) {
            ColumnVector stored = batch.column(i);
            columns[i] = this.widenings[i] == null ? stored : this.widenings[i].convert(stored, count);
        }
        return new ColumnarBatch(columns, count);
    }

    private Object row(InternalRow row) {
        Object[] values = new Object[this.plan.types.length];
        for (int i = 0; i < values.length; i++) {
            Object value = row.isNullAt(i) ? null : row.get(i, this.plan.stored[i]);
            values[i] = Widening.value(value, this.plan.stored[i], this.plan.types[i]);
        }
        if (this.projection == null) {
            List parts = new ArrayList();
            for (int i = 0; i < values.length; i++) {
                parts.add(new BoundReference(i, this.plan.types[i], true));
            }
            this.projection = UnsafeProjection.create(CollectionConverters.asScala(parts).toSeq());
        }
        return this.projection.apply(new GenericInternalRow(values));
    }
}
