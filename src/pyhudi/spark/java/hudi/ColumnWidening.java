package hudi;

import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** Converts a column of a file into the table's type, a batch at a time: its numbers, and those inside of structs, arrays and maps. */
final class ColumnWidening {
    private final DataType stored;
    private final DataType type;
    private final ColumnWidening[] children;
    private OnHeapColumnVector numbers;

    private ColumnWidening(DataType stored, DataType type) {
        this.stored = stored;
        this.type = type;
        DataType[] from = children(stored);
        DataType[] to = children(type);
        this.children = new ColumnWidening[to.length];
        for (int i = 0; i < to.length; i++) {
            this.children[i] = of(from[i], to[i]);
        }
    }

    /** Returns what converts a column, or null where it has the same type already. */
    static ColumnWidening of(DataType stored, DataType type) {
        return stored.equals(type) ? null : new ColumnWidening(stored, type);
    }

    /** Returns a vector of the table's type. It is good until the next call. */
    ColumnVector convert(ColumnVector vector, int count) {
        if (this.children.length == 0) {
            if (this.numbers == null) {
                this.numbers = new OnHeapColumnVector(count, this.type);
            }
            Widening.fill(this.numbers, vector, this.stored, count);
            return this.numbers;
        }
        // Parts of columns are written by Spark's reader, whatever the column as a whole may be in a batch.
        WritableColumnVector whole = (WritableColumnVector) vector;
        int size = this.type instanceof StructType ? count : elements(whole, count);
        ColumnVector[] converted = new ColumnVector[this.children.length];
        for (int i = 0; i < converted.length; i++) {
            ColumnVector child = whole.getChild(i);
            converted[i] = this.children[i] == null ? child : this.children[i].convert(child, size);
        }
        return new WidenedVector(this.type, whole, converted);
    }

    /** Returns how many elements the vector below arrays or maps has at least. */
    private static int elements(WritableColumnVector vector, int count) {
        int size = 0;
        for (int i = 0; i < count; i++) {
            if (!vector.isNullAt(i)) {
                size = Math.max(size, vector.getArrayOffset(i) + vector.getArrayLength(i));
            }
        }
        return size;
    }

    /** Returns the types of the vectors below one of a type: none below a number. */
    private static DataType[] children(DataType type) {
        if (type instanceof ArrayType) {
            return new DataType[] {((ArrayType) type).elementType()};
        }
        if (type instanceof MapType) {
            return new DataType[] {((MapType) type).keyType(), ((MapType) type).valueType()};
        }
        StructField[] fields = type instanceof StructType ? ((StructType) type).fields() : new StructField[0];
        DataType[] types = new DataType[fields.length];
        for (int i = 0; i < types.length; i++) {
            types[i] = fields[i].dataType();
        }
        return types;
    }
}
