package hudi;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;

/**
 * Numbers of older files as the floats and doubles of today, as Apache Hudi reads them: a float of 0.1 is a double of 0.1.
 *
 * <p>Rule: `schema/float_columns.py`, which does the same to columns of Arrow and says why it is exact.
 */
public final class Widening {
    /** The sizes of floats whose text is the decimal of the fewest digits, and the exponents of these. */
    private static final double EXACT_MIN = 5.9604644775390625E-8; // 2^-24
    private static final double EXACT_MAX = 1E7;
    private static final int LEAST_EXPONENT = -24;
    private static final int EXPONENTS = 48;
    private static final int MANTISSA_BITS = 23;
    /** Less than half by more than the error of a product below 10^9. */
    private static final double NEARLY_HALF = 0.49999;
    private static final double[] POWERS = powers();

    private Widening() {}

    /** Returns for each exponent the greatest power of ten whose reciprocal is greater than the distance between its floats. */
    private static double[] powers() {
        double[] powers = new double[EXPONENTS];
        for (int i = 0; i < EXPONENTS; i++) {
            double distance = Math.scalb(1.0, i + LEAST_EXPONENT - MANTISSA_BITS);
            powers[i] = 1.0;
            while (1.0 / (powers[i] * 10.0) > distance) {
                powers[i] *= 10.0;
            }
        }
        return powers;
    }

    /** Returns the double that has the text of a float. */
    public static double exact(float number) {
        double wide = number;
        double size = Math.abs(wide);
        if (size >= EXACT_MIN && size < EXACT_MAX) {
            double power = POWERS[Math.getExponent(number) - LEAST_EXPONENT];
            double shortest = Math.rint(wide * power) / power;
            if ((float) shortest == number) {
                return shortest;
            }
            // One digit more, unless two decimals are as near.
            double scaled = wide * (power * 10.0);
            double whole = Math.rint(scaled);
            if (Math.abs(scaled - whole) <= NEARLY_HALF) {
                return whole / (power * 10.0);
            }
        } else if (number == 0) {
            return wide;
        }
        return Double.parseDouble(Float.toString(number));
    }

    /** Returns a value of a file, which may be null, as one of the table's type. */
    static Object value(Object stored, DataType from, DataType to) {
        if (stored == null || from.equals(to)) {
            return stored;
        }
        if (to instanceof StructType) {
            return struct((InternalRow) stored, ((StructType) from).fields(), ((StructType) to).fields());
        }
        if (to instanceof ArrayType) {
            return array((ArrayData) stored, ((ArrayType) from).elementType(), ((ArrayType) to).elementType());
        }
        if (to instanceof MapType) {
            MapData map = (MapData) stored;
            return new ArrayBasedMapData(map.keyArray(), array(map.valueArray(), ((MapType) from).valueType(), ((MapType) to).valueType()));
        }
        if (to.equals(DataTypes.FloatType)) {
            return Float.valueOf(((Number) stored).floatValue());
        }
        return Double.valueOf(stored instanceof Float ? exact(((Float) stored).floatValue()) : ((Number) stored).doubleValue());
    }

    private static InternalRow struct(InternalRow stored, StructField[] from, StructField[] to) {
        Object[] values = new Object[to.length];
        for (int i = 0; i < values.length; i++) {
            Object value = stored.isNullAt(i) ? null : stored.get(i, from[i].dataType());
            values[i] = value(value, from[i].dataType(), to[i].dataType());
        }
        return new GenericInternalRow(values);
    }

    private static ArrayData array(ArrayData stored, DataType from, DataType to) {
        Object[] values = new Object[stored.numElements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(stored.isNullAt(i) ? null : stored.get(i, from), from, to);
        }
        return new GenericArrayData(values);
    }

    /** Fills a vector of the table's type with the values of a file. */
    static void fill(OnHeapColumnVector target, ColumnVector stored, DataType from, int count) {
        target.reset();
        target.reserve(count);
        boolean hasNulls = stored.hasNull();
        boolean isFloat = target.dataType().equals(DataTypes.FloatType);
        boolean isOfLongs = from.equals(DataTypes.LongType);
        for (int i = 0; i < count; i++) {
            if (hasNulls && stored.isNullAt(i)) {
                target.putNull(i);
            } else if (isOfLongs && isFloat) {
                target.putFloat(i, (float) stored.getLong(i));
            } else if (isFloat) {
                target.putFloat(i, (float) stored.getInt(i));
            } else if (isOfLongs) {
                target.putDouble(i, (double) stored.getLong(i));
            } else {
                target.putDouble(i, exact(stored.getFloat(i)));
            }
        }
    }
}
