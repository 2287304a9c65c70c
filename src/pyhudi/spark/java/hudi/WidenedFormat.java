package hudi;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Parquet files that were written before numbers of their columns became floats or doubles, and files of today.
 *
 * <p>A partition column of each file tells the form of a file, 0 for those of today. Columns that are narrower in a form are read by Spark's own
 * reader as they are, and converted a batch at a time inside tasks. Plain Java, as `DefaultSource`; tasks of executors get the class in a jar.
 * Design: docs/design/0187-options-of-reads-and-casts.md.
 */
public class WidenedFormat extends ParquetFileFormat {
    private static final String FORM = "_pyhudi_form";

    private StructType forms = new StructType();

    /** Takes the columns that are narrower in each form, a struct of structs: the first is that of form 1. */
    public void setForms(StructType given) {
        this.forms = given;
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
        ExecutorJar.addTo((org.apache.spark.sql.classic.SparkSession) session); // also for Spark's own reader, which refers to this format
        Function1 today = super.buildReaderWithPartitionValues(session, data, partitions, required, filters, options, hadoop);
        int formAt = Arrays.asList(partitions.fieldNames()).indexOf(FORM);
        WidenedReader reader = new WidenedReader(today, formAt, this.forms.length());
        boolean isWidened = false;
        for (int i = 0; formAt >= 0 && i < this.forms.length(); i++) {
            StructType form = (StructType) this.forms.fields()[i].dataType();
            StructType stored = as(required, form);
            if (!stored.equals(required)) {
                Seq others = without(filters, Arrays.asList(form.fieldNames()));
                StructType whole = as(data, form);
                reader.readers[i] =
                        super.buildReaderWithPartitionValues(session, whole, partitions, stored, others, options, new Configuration(hadoop));
                reader.plans[i] = new WideningPlan(stored, required, partitions);
                isWidened = true;
            }
        }
        if (!isWidened) {
            return today; // no column that a file has otherwise is asked for
        }
        return reader;
    }

    /** Columns that were converted are on the heap, where others may be off it, or are views of vectors where they are nested. */
    @Override
    public Option vectorTypes(StructType required, StructType partitions, SQLConf conf) {
        Option known = super.vectorTypes(required, partitions, conf);
        if (known.isEmpty()) {
            return known;
        }
        List types = new ArrayList(CollectionConverters.asJava((Seq) known.get()));
        for (int i = 0; i < this.forms.length(); i++) {
            StructType stored = as(required, (StructType) this.forms.fields()[i].dataType());
            for (int j = 0; j < required.length(); j++) {
                DataType type = required.fields()[j].dataType();
                boolean mayDiffer = conf.offHeapColumnVectorEnabled() || !(type instanceof FloatType || type instanceof DoubleType);
                if (mayDiffer && !stored.fields()[j].dataType().equals(type)) {
                    types.set(j, ColumnVector.class.getName());
                }
            }
        }
        return Option.apply(CollectionConverters.asScala(types).toSeq());
    }

    /** Returns a schema with the types that columns, and those that are in them, have in files of a form. */
    private static StructType as(StructType schema, StructType form) {
        List names = Arrays.asList(form.fieldNames());
        StructField[] fields = (StructField[]) schema.fields().clone();
        for (int i = 0; i < fields.length; i++) {
            int at = names.indexOf(fields[i].name());
            if (at >= 0) {
                DataType type = as(fields[i].dataType(), form.fields()[at].dataType());
                fields[i] = new StructField(fields[i].name(), type, fields[i].nullable(), fields[i].metadata());
            }
        }
        return new StructType(fields);
    }

    private static DataType as(DataType type, DataType form) {
        if (type instanceof StructType) {
            return as((StructType) type, (StructType) form);
        }
        if (type instanceof ArrayType) {
            return new ArrayType(as(((ArrayType) type).elementType(), ((ArrayType) form).elementType()), ((ArrayType) type).containsNull());
        }
        if (type instanceof MapType) {
            MapType map = (MapType) type;
            return new MapType(map.keyType(), as(map.valueType(), ((MapType) form).valueType()), map.valueContainsNull());
        }
        return form;
    }

    /** Returns the filters that concern none of some columns, nor anything in them. */
    private static Seq without(Seq filters, List columns) {
        List left = new ArrayList();
        for (Iterator all = filters.iterator(); all.hasNext();) {
            Filter one = (Filter) all.next();
            boolean concerns = false; // names of a table's columns have no dots
            for (int i = 0; i < one.references().length; i++) {
                concerns = concerns || columns.contains(one.references()[i].split("\\.")[0]);
            }
            if (!concerns) {
                left.add(one);
            }
        }
        return CollectionConverters.asScala(left).toSeq();
    }
}
