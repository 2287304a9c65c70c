import io.trino.Session;
import io.trino.plugin.hudi.HudiPlugin;
import io.trino.testing.MaterializedResult;
import io.trino.testing.MaterializedRow;
import io.trino.testing.StandaloneQueryRunner;
import io.trino.testing.TestingSession;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;

/** Trino in one process: a statement on each line of the standard input, its rows and "end", or "error", on the standard output.
 *  Arguments are settings of the Hudi connector, as name=value. */
public class TrinoShell {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Map<String, String> settings = new HashMap<>();
        for (String argument : arguments) {
            settings.put(argument.substring(0, argument.indexOf('=')), argument.substring(argument.indexOf('=') + 1));
        }
        Session session = TestingSession.testSessionBuilder().setCatalog("hudi").setSchema("default").build();
        try (StandaloneQueryRunner trino = new StandaloneQueryRunner(session)) {
            trino.installPlugin(new HudiPlugin());
            trino.createCatalog("hudi", "hudi", settings);
            answers.println("ready");
            BufferedReader statements = new BufferedReader(new InputStreamReader(System.in));
            for (String statement = statements.readLine(); statement != null; statement = statements.readLine()) {
                answer(trino, session, statement, answers);
            }
        }
    }

    private static void answer(StandaloneQueryRunner trino, Session session, String statement, PrintStream answers) {
        try {
            MaterializedResult result = trino.execute(session, statement);
            for (MaterializedRow row : result) {
                answers.println("row\t" + row.getFields());
            }
            answers.println("end");
        } catch (RuntimeException error) {
            answers.println("error\t" + String.valueOf(error.getMessage()).replace('\n', ' '));
        }
    }
}
