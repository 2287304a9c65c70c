package hudi;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The Parquet files of a bootstrapped table: source files in the place of their skeletons, and whole base files.
 *
 * <p>A partition column of each file names its skeleton, or is empty. The meta columns of a source file's rows are read from the skeleton in step
 * with the source, by Spark's own reader, and are columns as all others to Spark: filters on them are seen by the file index. Plain Java, as
 * `DefaultSource`; tasks of executors get the class in a jar. Design: docs/design/0184-skeletons-in-sparks-scan.md.
 */
public class SkeletonFormat extends WidenedFormat {
    private boolean isOfSkeletons;

    /** Says that each file of the scan is the source of a skeleton. */
    public void setOfSkeletons() {
        this.isOfSkeletons = true;
    }

    @Override
    public Function1 buildReaderWithPartitionValues(
            SparkSession session,
            StructType data,
            StructType partitions,
            StructType required,
            Seq filters,
            scala.collection.immutable.Map options,
            Configuration hadoop) {
        StructType stored = fields(required, ColumnPlan.STORED, true);
        StructType source = fields(fields(required, ColumnPlan.STORED, false), ColumnPlan.CONSTANT, false);
        if (source.length() == required.length()) {
            // no meta column is asked for, so that source files are read as any others
            return super.buildReaderWithPartitionValues(session, data, partitions, required, filters, options, hadoop);
        }
        String rowIndex = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME();
        if (stored.length() > 0 && !Arrays.asList(source.fieldNames()).contains(rowIndex)) {
            source = source.add(rowIndex, DataTypes.LongType);
        }
        Seq ofSource = filters(filters, Arrays.asList(source.fieldNames()));
        SkeletonReader reader = new SkeletonReader();
        if (!this.isOfSkeletons) { // each reader sends its settings to the executors
            reader.whole = super.buildReaderWithPartitionValues(session, data, partitions, required, filters, options, new Configuration(hadoop));
        }
        Configuration settings = new Configuration(hadoop);
        reader.source = super.buildReaderWithPartitionValues(session, data, partitions, source, ofSource, options, settings);
        if (stored.length() > 0) {
            SQLConf conf = session.sessionState().conf();
            Seq ofSkeleton = filters(filters, conf.parquetFilterPushDown() ? ColumnPlan.STORED : new ArrayList());
            reader.footers = new Footers(session.sparkContext(), settings, stored, conf.parquetVectorizedReaderBatchSize(), ofSkeleton);
        }
        reader.filtersSource = !ofSource.isEmpty();
        reader.plan = new ColumnPlan(source, stored, required, partitions, rowIndex);
        return reader;
    }

    /** Meta columns have vectors of any kind: constants of a skeleton, and what was read of it or of a whole file. */
    @Override
    public Option vectorTypes(StructType required, StructType partitions, SQLConf conf) {
        Option known = super.vectorTypes(required, partitions, conf);
        if (known.isEmpty()) {
            return known;
        }
        List types = new ArrayList(CollectionConverters.asJava((Seq) known.get()));
        String[] names = required.fieldNames();
        for (int i = 0; i < names.length; i++) {
            if (ColumnPlan.STORED.contains(names[i]) || ColumnPlan.CONSTANT.contains(names[i])) {
                types.set(i, ColumnVector.class.getName());
            }
        }
        return Option.apply(CollectionConverters.asScala(types).toSeq());
    }

    /** Returns the fields whose names are among some, or are not. */
    private static StructType fields(StructType schema, List names, boolean among) {
        List left = new ArrayList();
        for (int i = 0; i < schema.length(); i++) {
            if (names.contains(schema.fields()[i].name()) == among) {
                left.add(schema.fields()[i]);
            }
        }
        return new StructType((StructField[]) left.toArray(new StructField[0]));
    }

    /** Returns the filters that concern no other columns than some; those of nested columns are left out. */
    private static Seq filters(Seq filters, List columns) {
        List left = new ArrayList();
        for (Iterator all = filters.iterator(); all.hasNext();) {
            Filter one = (Filter) all.next();
            if (columns.containsAll(Arrays.asList(one.references()))) {
                left.add(one);
            }
        }
        return CollectionConverters.asScala(left).toSeq();
    }
}
