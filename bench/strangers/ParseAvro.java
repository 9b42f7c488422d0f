// ParseAvro.java FOLDER: parse every FOLDER/*.avsc with Apache Avro, and count those whose text comes back.
import java.io.File;
import java.util.Arrays;
import org.apache.avro.Schema;

public class ParseAvro {
    public static void main(String[] given) {
        File[] files = new File(given[0]).listFiles((folder, name) -> name.endsWith(".avsc"));
        Arrays.sort(files);
        int parsed = 0;
        StringBuilder problems = new StringBuilder();
        for (File file : files) {
            try {
                Schema schema = new Schema.Parser().parse(file);
                if (!new Schema.Parser().parse(schema.toString()).equals(schema)) throw new Exception("not equal");
                parsed++;
            } catch (Exception error) {
                if (problems.length() > 0) problems.append(",");
                problems.append("\"").append(file.getName()).append(": ").append(error.getClass().getName()).append("\"");
            }
        }
        System.out.printf("{\"schemas\": %d, \"compiled\": %d, \"problems\": [%s]}%n", files.length, parsed, problems);
    }
}
