import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/**
 * Runs engines of Debezium side by side on one database, each with options of its own, until each has sent the last row.
 *
 * <p>Its argument is a JSON file: {@code snapshot_rows}, how many rows there are before the start; {@code last_table},
 * the table whose first row ends the run; {@code engines}, each with {@code name}, {@code properties} and
 * {@code captures}. A capture is what one pair of converters makes of the records of an engine, as a worker of Kafka
 * Connect would: {@code file}, {@code class} and {@code properties} of the converters of keys and values, and
 * {@code base64}, whether all keys and values are written so.
 *
 * <p>It prints {@code snapshot NAME} when an engine has sent the rows of the snapshot. Then the rows may change.
 */
public final class DebeziumRun {
    private static final ObjectMapper JSON = new ObjectMapper();

    private DebeziumRun() {}

    public static void main(String[] arguments) throws Exception {
        JsonNode plan = JSON.readTree(new File(arguments[0]));
        List<EngineRun> runs = new ArrayList<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        for (JsonNode engine : plan.get("engines")) {
            EngineRun run = new EngineRun(engine, plan.get("snapshot_rows").asInt(), plan.get("last_table").asText());
            runs.add(run);
            threads.execute(run.engine);
        }
        boolean whole = true;
        for (EngineRun run : runs) {
            run.done.await(240, TimeUnit.SECONDS);
            whole &= run.close();
        }
        System.out.flush();
        Runtime.getRuntime().halt(whole ? 0 : 1); // connectors leave threads behind
    }

    /** One engine and the captures that are made of its records. */
    private static final class EngineRun {
        private final String name;
        private final int snapshotRows;
        private final String lastTable;
        private final List<Capture> captures = new ArrayList<>();
        private final CountDownLatch done = new CountDownLatch(1);
        private final DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine;
        private int rows;
        private boolean whole;

        EngineRun(JsonNode plan, int snapshotRows, String lastTable) throws Exception {
            this.name = plan.get("name").asText();
            this.snapshotRows = snapshotRows;
            this.lastTable = lastTable;
            for (JsonNode capture : plan.get("captures")) {
                captures.add(new Capture(capture));
            }
            Properties properties = new Properties();
            properties.putAll(textsOf(plan.get("properties")));
            engine = DebeziumEngine.create(Connect.class)
                    .using(properties)
                    .notifying(event -> take(event.value()))
                    .using((success, message, error) -> {
                        if (!whole) { // what the others write is of no use then
                            System.out.println("failed " + name + " " + message);
                            System.out.flush();
                            if (error != null) {
                                error.printStackTrace();
                            }
                            Runtime.getRuntime().halt(1);
                        }
                    })
                    .build();
        }

        private synchronized void take(SourceRecord record) {
            if (whole) {
                return; // what follows the last row depends on when the engine is stopped
            }
            for (Capture capture : captures) {
                capture.write(record);
            }
            if (isRow(record) && ++rows == snapshotRows) {
                System.out.println("snapshot " + name);
                System.out.flush();
            }
            if (rows > snapshotRows && record.topic().endsWith("." + lastTable)) {
                whole = true;
                done.countDown();
            }
        }

        /** Say whether a record is of a row: topics of rows have the prefix, the schema or database, and the table. */
        private static boolean isRow(SourceRecord record) {
            return record.topic().split("\\.").length > 2;
        }

        boolean close() throws Exception {
            for (Capture capture : captures) {
                capture.file.close();
            }
            engine.close();
            System.out.println((whole ? "whole " : "partial ") + name);
            return whole;
        }
    }

    /** A file of records as one pair of converters writes them, a line each. */
    private static final class Capture {
        private final BufferedWriter file;
        private final boolean base64;
        private final Converter keys;
        private final Converter values;
        private final SimpleHeaderConverter headers = new SimpleHeaderConverter();

        Capture(JsonNode plan) throws Exception {
            file = Files.newBufferedWriter(Path.of(plan.get("file").asText()));
            base64 = plan.get("base64").asBoolean();
            Class<?> converter = Class.forName(plan.get("class").asText());
            keys = (Converter) converter.getDeclaredConstructor().newInstance();
            values = (Converter) converter.getDeclaredConstructor().newInstance();
            Map<String, String> properties = textsOf(plan.get("properties"));
            keys.configure(properties, true);
            values.configure(properties, false);
        }

        void write(SourceRecord record) {
            ObjectNode line = JSON.createObjectNode();
            line.put("topic", record.topic());
            line.put("partition", record.kafkaPartition() == null ? 0 : record.kafkaPartition()); // all topics have one
            Headers bytes = headersOf(record);
            put(line, "key", keys.fromConnectData(record.topic(), bytes, record.keySchema(), record.key()), base64);
            put(line, "value", values.fromConnectData(record.topic(), bytes, record.valueSchema(), record.value()), base64);
            ArrayNode list = line.putArray("headers");
            for (Header header : bytes) {
                put(list.addObject().put("name", header.key()), "value", header.value(), false);
            }
            try {
                file.write(JSON.writeValueAsString(line));
                file.newLine();
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
        }

        /** Return the headers of the connector; converters of keys and values may add to them. */
        private Headers headersOf(SourceRecord record) {
            Headers bytes = new RecordHeaders();
            for (org.apache.kafka.connect.header.Header one : record.headers()) {
                bytes.add(one.key(), headers.fromConnectHeader(record.topic(), one.key(), one.schema(), one.value()));
            }
            return bytes;
        }
    }

    /** Put bytes as text; those that are not UTF-8, or all if it is asked for, as an object with their Base64. */
    private static void put(ObjectNode line, String member, byte[] bytes, boolean base64) {
        String text = bytes == null || base64 ? null : textOf(bytes);
        if (bytes == null) {
            line.putNull(member);
        } else if (text != null) {
            line.put(member, text);
        } else {
            line.putObject(member).put("base64", Base64.getEncoder().encodeToString(bytes));
        }
    }

    /** Return the text of bytes, or null if they are not UTF-8. */
    private static String textOf(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException error) {
            return null;
        }
    }

    private static Map<String, String> textsOf(JsonNode members) {
        Map<String, String> texts = new HashMap<>();
        members.fieldNames().forEachRemaining(name -> texts.put(name, members.get(name).asText()));
        return texts;
    }
}
