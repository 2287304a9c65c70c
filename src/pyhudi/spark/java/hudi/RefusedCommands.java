package hudi;

import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.AlterTableAddColumnsCommand;
import org.apache.spark.sql.execution.command.AlterTableChangeColumnCommand;
import org.apache.spark.sql.execution.command.TruncateTableCommand;
import org.apache.spark.sql.execution.datasources.CreateTable;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** The commands on Hudi tables that Python serves: one that reaches Spark's analyzer came by a way that Python does not see. */
final class RefusedCommands {
    private final SparkSession session;

    RefusedCommands(SparkSession session) {
        this.session = session;
    }

    static boolean isHudi(CatalogTable table) {
        String provider = table.provider().isDefined() ? ((String) table.provider().get()).toLowerCase() : "";
        return provider.equals("hudi") || provider.equals("org.apache.hudi");
    }

    /** Refuses a command that would take a Hudi table for a folder of files. */
    void check(Object plan) {
        if (plan instanceof InsertIntoStatement) {
            LogicalPlan into = ((InsertIntoStatement) plan).table();
            if (into instanceof LogicalRelation && ScanOfTable.isTable((LogicalRelation) into)) {
                throw new DefaultSource.Refused("INSERT into a Hudi table reached Spark without passing pyhudi." + DefaultSource.WRITES);
            }
        } else if (plan instanceof CreateTable) {
            CatalogTable made = ((CreateTable) plan).tableDesc();
            if (isHudi(made)) {
                throw new DefaultSource.Refused("CREATE TABLE " + made.identifier() + " USING hudi reached Spark without passing pyhudi." + DefaultSource.WRITES);
            }
        } else if (plan instanceof TruncateTableCommand) {
            refuse(((TruncateTableCommand) plan).tableName(), "TRUNCATE TABLE");
        } else if (plan instanceof AlterTableAddColumnsCommand) {
            refuse(((AlterTableAddColumnsCommand) plan).table(), "ALTER TABLE ADD COLUMNS");
        } else if (plan instanceof AlterTableChangeColumnCommand) {
            refuse(((AlterTableChangeColumnCommand) plan).tableName(), "ALTER TABLE CHANGE COLUMN");
        }
    }

    private void refuse(TableIdentifier table, String command) {
        if (isEntry(table)) {
            throw new DefaultSource.Refused(command + " of the Hudi table " + table + " reached Spark without passing pyhudi." + DefaultSource.WRITES);
        }
    }

    private boolean isEntry(TableIdentifier table) {
        SessionCatalog catalog = this.session.sessionState().catalog();
        try {
            return catalog.tableExists(table) && isHudi(catalog.getTableMetadata(table));
        } catch (AnalysisException unknown) {
            return false; // the command itself says what is wrong with the name
        }
    }
}
