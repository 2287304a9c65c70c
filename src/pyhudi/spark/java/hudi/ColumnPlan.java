package hudi;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Where each column of a scan with skeletons comes from. Tasks get it from the driver. */
final class ColumnPlan implements Serializable {
    /** The hidden partition columns: the URI of the skeleton, and the path of its partition. */
    private static final String SKELETON = "_pyhudi_skeleton";
    private static final String PARTITION = "_pyhudi_partition";

    /** The meta columns that are the same in all rows of a skeleton, as `SkeletonReader` orders them, and those that are not. */
    static final List CONSTANT = Arrays.asList(new String[] {"_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name"});
    static final List STORED = Arrays.asList(new String[] {"_hoodie_commit_seqno", "_hoodie_record_key"});

    /** Kinds of columns: of the source, a constant of the skeleton, or stored in it. */
    static final int OF_SOURCE = 0;
    static final int CONSTANT_ONE = 1;
    static final int STORED_ONE = 2;

    final int skeletonAt;
    final int partitionAt;
    final int rowIndexAt;
    final int sourceWidth;
    final int storedWidth;
    final int[] kinds;
    final int[] places;
    final DataType[] types;

    /** Plans a result of the required columns and the partition columns, from the columns that are read of a source, and of its skeleton. */
    ColumnPlan(StructType ofSource, StructType stored, StructType required, StructType partitions, String rowIndex) {
        this.skeletonAt = partitions.fieldIndex(SKELETON);
        this.partitionAt = partitions.fieldIndex(PARTITION);
        List names = Arrays.asList(ofSource.fieldNames());
        this.rowIndexAt = names.indexOf(rowIndex);
        this.sourceWidth = names.size() + partitions.length();
        this.storedWidth = stored.length();
        int width = required.length() + partitions.length();
        this.kinds = new int[width];
        this.places = new int[width];
        this.types = new DataType[width];
        for (int i = 0; i < width; i++) {
            if (i >= required.length()) {
                this.places[i] = names.size() + i - required.length();
                this.types[i] = partitions.fields()[i - required.length()].dataType();
                continue;
            }
            String name = required.fields()[i].name();
            this.types[i] = required.fields()[i].dataType();
            this.kinds[i] = STORED.contains(name) ? STORED_ONE : CONSTANT.contains(name) ? CONSTANT_ONE : OF_SOURCE;
            List where = this.kinds[i] == STORED_ONE ? Arrays.asList(stored.fieldNames()) : this.kinds[i] == CONSTANT_ONE ? CONSTANT : names;
            this.places[i] = where.indexOf(name);
        }
    }
}
