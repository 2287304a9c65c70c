package hudi;

import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;

/** The stored columns of a skeleton, read once from the first row to the last. */
public final class Skeleton {
    /** The rows that the scan may need: none but those from the first to the last pass its filters. */
    final long first;
    final long last;
    /** How many rows its footer tells. */
    final long count;
    private final String name;
    private final String sourceName;
    private final VectorizedParquetRecordReader read;
    private ColumnarBatch batch;
    private long from;
    private long held;
    private OnHeapColumnVector[] copies;

    /** `span` is the number of rows, and the first and the last that the scan may need. */
    Skeleton(String name, String sourceName, VectorizedParquetRecordReader read, long[] span) {
        this.name = name;
        this.sourceName = sourceName;
        this.read = read;
        this.count = span[0];
        this.first = span[1];
        this.last = span[2];
    }

    Failed unequal(Throwable cause) {
        String what = "Base file " + this.name + " has another number of rows than its source file " + this.sourceName;
        return new Failed(this.name, what, cause);
    }

    /** Reads on to a row that is not before the last one asked for. */
    void seek(long wanted) {
        while (wanted >= this.from + this.held) {
            if (!advance()) {
                throw unequal(null);
            }
        }
    }

    private boolean advance() {
        try {
            if (!this.read.nextKeyValue()) {
                return false;
            }
            this.from += this.held;
            this.batch = (ColumnarBatch) this.read.getCurrentValue();
            this.held = this.batch.numRows();
            return true;
        } catch (Exception error) {
            throw new Failed(this.name, error.getMessage(), error);
        }
    }

    /** Returns a value of the row that was sought, which may be gone once another one is; null where the file has none. */
    UTF8String value(int column, long wanted) {
        ColumnVector values = this.batch.column(column);
        int at = (int) (wanted - this.from);
        return values.isNullAt(at) ? null : values.getUTF8String(at);
    }

    /** Says that the source ends after so many rows. */
    void end(long rows) {
        if (this.from + this.held > rows || advance()) {
            throw unequal(null);
        }
    }

    /** Returns the columns of rows with ascending numbers: as they were read where the batch begins with the same row, else copied. */
    ColumnVector[] columns(ColumnVector numbers, int count, int width) {
        ColumnVector[] result = new ColumnVector[width];
        long first = numbers.getLong(0);
        long last = numbers.getLong(count - 1);
        seek(first);
        if (first == this.from && last - first == count - 1 && last < this.from + this.held) {
            for (int i = 0; i < width; i++) {
                result[i] = this.batch.column(i);
            }
            return result;
        }
        if (this.copies == null) {
            this.copies = new OnHeapColumnVector[width];
            for (int i = 0; i < width; i++) {
                this.copies[i] = new OnHeapColumnVector(count, DataTypes.StringType);
            }
        }
        for (int i = 0; i < width; i++) {
            this.copies[i].reset();
            this.copies[i].reserve(count);
            result[i] = this.copies[i];
        }
        for (int at = 0; at < count; at++) {
            copy(at, numbers.getLong(at), width);
        }
        return result;
    }

    private void copy(int at, long wanted, int width) {
        seek(wanted);
        for (int i = 0; i < width; i++) {
            UTF8String text = value(i, wanted);
            if (text == null) {
                this.copies[i].putNull(at);
            } else {
                byte[] bytes = text.getBytes();
                this.copies[i].putByteArray(at, bytes, 0, bytes.length);
            }
        }
    }

    /** A skeleton that does not fit its source, or cannot be read: `file` is its URI, and the cause says why, or nothing does but the message. */
    public static final class Failed extends RuntimeException {
        private final String file;

        Failed(String file, String message, Throwable cause) {
            super(message, cause);
            this.file = file;
        }

        /** Returns the URI of the skeleton. */
        public String file() {
            return this.file;
        }
    }
}
