package hudi;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/** Returns the current scan for a relation that stands for a Hudi table; Python is asked once for each table in one analysis. */
final class ScanOfTable extends AbstractPartialFunction {
    /** What the analysis that a thread is in resolved so far, so that one statement sees one snapshot of a table however often it names it. */
    private static final ThreadLocal ANALYSIS = new ThreadLocal();

    /** The plans of tables that the statement which runs on a thread has to see, whatever was committed since it began. */
    private static final ThreadLocal PINNED = new ThreadLocal();

    private final SparkSession session;
    private final RefusedCommands commands;

    ScanOfTable(SparkSession session) {
        this.session = session;
        this.commands = new RefusedCommands(session);
    }

    /** Lets a table stand for a plan on this thread; null ends that. */
    static void pin(String database, String table, LogicalPlan plan) {
        if (PINNED.get() == null) {
            PINNED.set(new HashMap());
        }
        ((Map) PINNED.get()).put(name(database, table), plan);
    }

    /** Ends what was pinned on this thread. */
    static void unpin() {
        PINNED.remove();
    }

    private static Object name(String database, String table) {
        return Arrays.asList(new String[] {database, table});
    }

    public boolean isDefinedAt(Object plan) {
        this.commands.check(plan);
        return plan instanceof LogicalRelation && isTable((LogicalRelation) plan);
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
        return isDefinedAt(plan) ? scan((LogicalRelation) plan) : otherwise.apply(plan);
    }

    /** Tells whether a relation is a Hudi table: ours, or what Apache Hudi makes of an entry when it is in the JVM as well. */
    static boolean isTable(LogicalRelation found) {
        return isPlaceholder(found) || (found.catalogTable().isDefined() && RefusedCommands.isHudi((CatalogTable) found.catalogTable().get()));
    }

    private static boolean isPlaceholder(LogicalRelation found) {
        return found.relation() instanceof HadoopFsRelation && ((HadoopFsRelation) found.relation()).location() instanceof UnresolvedFiles;
    }

    private Object scan(LogicalRelation found) {
        Map stated = new HashMap(isPlaceholder(found) ? CollectionConverters.asJava(((HadoopFsRelation) found.relation()).options()) : new HashMap());
        String path = (String) stated.remove("path");
        String database = "";
        String table = path;
        if (found.catalogTable().isDefined()) {
            CatalogTable entry = (CatalogTable) found.catalogTable().get();
            stated.entrySet().removeAll(CollectionConverters.asJava(entry.storage().properties()).entrySet());
            database = entry.database();
            table = entry.identifier().table();
        }
        Object pinned = stated.isEmpty() && PINNED.get() != null ? ((Map) PINNED.get()).get(name(database, table)) : null;
        return pinned != null ? pinned : planOf(database, table, CollectionConverters.asScala(stated).mkString("\u0001"));
    }

    private LogicalPlan planOf(String database, String table, String options) {
        Object analysis = AnalysisContext.get().relationCache();
        Object[] known = (Object[]) ANALYSIS.get();
        if (known == null || ((WeakReference) known[0]).get() != analysis) {
            known = new Object[] {new WeakReference(analysis), new HashMap()};
        }
        Object key = Arrays.asList(new String[] {database, table, options});
        Object plan = ((Map) known[1]).get(key);
        if (plan == null) {
            plan = DefaultSource.resolver().plan(this.session.sessionUUID(), database, table, options);
            if (plan instanceof String) {
                throw new DefaultSource.Refused((String) plan);
            }
            ((Map) known[1]).put(key, plan);
        }
        ANALYSIS.set(known); // only now: Python may have analyzed other plans on this thread
        return (LogicalPlan) plan;
    }
}
