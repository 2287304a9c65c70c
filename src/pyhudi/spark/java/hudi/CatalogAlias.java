package hudi;

import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.V2SessionCatalog;

/**
 * The session catalog under another name: what `spark.sql.catalog.NAME` is set to where a script sets it to Apache Hudi's catalog.
 *
 * <p>Spark tells the session catalog from others by what its `name()` returns, so tables, commands and `USE` work as with `spark_catalog`.
 */
public class CatalogAlias extends V2SessionCatalog {
    /** Spark makes it without arguments, when the session that is active first meets the name. */
    public CatalogAlias() {
        super(SparkSession.active().sessionState().catalog());
    }
}
