package hudi;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** The types of a scan's columns, the partition columns last, in files of a form and in the table. Tasks get it from the driver. */
final class WideningPlan implements Serializable {
    final DataType[] stored;
    final DataType[] types;

    WideningPlan(StructType stored, StructType required, StructType partitions) {
        int width = required.length();
        this.stored = new DataType[width + partitions.length()];
        this.types = new DataType[width + partitions.length()];
        for (int i = 0; i < this.types.length; i++) {
            this.types[i] = i < width ? required.fields()[i].dataType() : partitions.fields()[i - width].dataType();
            this.stored[i] = i < width ? stored.fields()[i].dataType() : this.types[i];
        }
    }
}
