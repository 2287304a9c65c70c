package hudi;

import java.io.Serializable;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Reads a file inside a task, in the form that its partition column tells. */
final class WidenedReader extends AbstractFunction1 implements Serializable {
    /** By form, from 1 on; null where files are read as those of today. */
    final Function1[] readers;
    final WideningPlan[] plans;
    private final Function1 today;
    private final int formAt;

    WidenedReader(Function1 today, int formAt, int forms) {
        this.today = today;
        this.formAt = formAt;
        this.readers = new Function1[forms];
        this.plans = new WideningPlan[forms];
    }

    public Object apply(Object file) {
        int form = ((PartitionedFile) file).partitionValues().getInt(this.formAt);
        if (form == 0 || this.readers[form - 1] == null) {
            return this.today.apply(file);
        }
        return new WidenedRows((Iterator) this.readers[form - 1].apply(file), this.plans[form - 1]);
    }
}
