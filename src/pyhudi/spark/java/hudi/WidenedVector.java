package hudi;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.unsafe.types.UTF8String;

/** A struct, array or map of a file under the table's type: nulls, offsets and lengths are those of the file, the children are converted. */
final class WidenedVector extends ColumnVector {
    private final WritableColumnVector stored;
    private final ColumnVector[] children;

    WidenedVector(DataType type, WritableColumnVector stored, ColumnVector[] children) {
        super(type);
        this.stored = stored;
        this.children = children;
    }

    @Override
    public void close() {} // what was read belongs to Spark's reader, which closes it

    @Override
    public boolean hasNull() {
        return this.stored.hasNull();
    }

    @Override
    public int numNulls() {
        return this.stored.numNulls();
    }

    @Override
    public boolean isNullAt(int row) {
        return this.stored.isNullAt(row);
    }

    @Override
    public ColumnVector getChild(int ordinal) {
        return this.children[ordinal];
    }

    @Override
    public ColumnarArray getArray(int row) {
        return new ColumnarArray(this.children[0], this.stored.getArrayOffset(row), this.stored.getArrayLength(row));
    }

    @Override
    public ColumnarMap getMap(int row) {
        return new ColumnarMap(this.children[0], this.children[1], this.stored.getArrayOffset(row), this.stored.getArrayLength(row));
    }

    @Override
    public boolean getBoolean(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public byte getByte(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public short getShort(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int getInt(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long getLong(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public float getFloat(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public double getDouble(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
        throw new UnsupportedOperationException();
    }

    @Override
    public UTF8String getUTF8String(int row) {
        throw new UnsupportedOperationException();
    }

    @Override
    public byte[] getBinary(int row) {
        throw new UnsupportedOperationException();
    }
}
